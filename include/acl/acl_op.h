// SPDX-License-Identifier: Apache-2.0
/// Attributes of operators that are called by name. The execution by name is refused.
///
/// libadvance_step does not have these functions. The libraries of the install prefix that is laid
/// out like CANN's have them (docs/packaging.md). The program owns an attribute object and destroys
/// it. Only one thread at a time may use an object; different threads may use different objects.
#ifndef ADVSTEP_ACL_ACL_OP_H_
#define ADVSTEP_ACL_ACL_OP_H_

#include "acl/acl_base.h"
#include "acl/acl_rt.h"

/// Marks a function of the libraries of that prefix, which libadvance_step does not have.
#define ADVSTEP_PREFIX_API ADVSTEP_API

#ifdef __cplusplus
extern "C" {
#endif

typedef struct aclopAttr aclopAttr;

/// The engine that an operator asks for.
typedef enum aclEngineType {
    ACL_ENGINE_SYS = 0,
    ACL_ENGINE_AICORE = 1,
    ACL_ENGINE_VECTOR = 2,
} aclopEngineType;

/// Refused: there are no compiled operator models.
/// @retval ACL_ERROR_INVALID_PARAM    modelDir is null
/// @retval ACL_ERROR_API_NOT_SUPPORT  otherwise
ADVSTEP_PREFIX_API aclError aclopSetModelDir(const char* modelDir);

/// Creates an empty set of attributes. Returns NULL if the host is out of memory.
ADVSTEP_PREFIX_API aclopAttr* aclopCreateAttr(void);

/// Destroys the attributes; NULL has no effect.
ADVSTEP_PREFIX_API void aclopDestroyAttr(const aclopAttr* attr);

/// Sets an attribute. The call copies the name and the value. A later call with the same name
/// replaces the value.
/// @param[in] attrValue  0 for false, any other value for true
/// @retval ACL_ERROR_INVALID_PARAM  a pointer is null
/// @retval ACL_ERROR_BAD_ALLOC      the host is out of memory
ADVSTEP_PREFIX_API aclError aclopSetAttrBool(aclopAttr* attr, const char* attrName,
                                             uint8_t attrValue);

/// As aclopSetAttrBool, for one value of another type.
ADVSTEP_PREFIX_API aclError aclopSetAttrInt(aclopAttr* attr, const char* attrName,
                                            int64_t attrValue);
ADVSTEP_PREFIX_API aclError aclopSetAttrFloat(aclopAttr* attr, const char* attrName,
                                              float attrValue);
ADVSTEP_PREFIX_API aclError aclopSetAttrString(aclopAttr* attr, const char* attrName,
                                               const char* attrValue);
ADVSTEP_PREFIX_API aclError aclopSetAttrDataType(aclopAttr* attr, const char* attrName,
                                                 aclDataType attrValue);

/// As aclopSetAttrBool, for a list.
/// @param[in] values  numValues values; may be NULL if numValues is 0
/// @retval ACL_ERROR_INVALID_PARAM  a pointer is null; numValues is below 0
/// @retval ACL_ERROR_BAD_ALLOC      the host is out of memory
ADVSTEP_PREFIX_API aclError aclopSetAttrListBool(aclopAttr* attr, const char* attrName,
                                                 int numValues, const uint8_t* values);

/// As aclopSetAttrListBool, for a list of another type.
ADVSTEP_PREFIX_API aclError aclopSetAttrListInt(aclopAttr* attr, const char* attrName,
                                                int numValues, const int64_t* values);
ADVSTEP_PREFIX_API aclError aclopSetAttrListFloat(aclopAttr* attr, const char* attrName,
                                                  int numValues, const float* values);
ADVSTEP_PREFIX_API aclError aclopSetAttrListString(aclopAttr* attr, const char* attrName,
                                                   int numValues, const char** values);
ADVSTEP_PREFIX_API aclError aclopSetAttrListDataType(aclopAttr* attr, const char* attrName,
                                                     int numValues, const aclDataType values[]);

/// As aclopSetAttrListBool, for a list of lists.
/// @param[in] numValues  the length of each list
/// @param[in] values     numLists lists; a list of length 0 may be NULL
ADVSTEP_PREFIX_API aclError aclopSetAttrListListInt(aclopAttr* attr, const char* attrName,
                                                    int numLists, const int* numValues,
                                                    const int64_t* const values[]);

/// Refused: no operator runs by its name. The call enqueues nothing, and its message names the
/// operator and its attributes. The aclnn functions of the operator run it instead.
/// @retval ACL_ERROR_INVALID_PARAM    opType is null; a number of tensors is below 0
/// @retval ACL_ERROR_API_NOT_SUPPORT  otherwise
ADVSTEP_PREFIX_API aclError aclopExecuteV2(const char* opType, int numInputs,
                                           aclTensorDesc* inputDesc[], aclDataBuffer* inputs[],
                                           int numOutputs, aclTensorDesc* outputDesc[],
                                           aclDataBuffer* outputs[], aclopAttr* attr,
                                           aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif /* ADVSTEP_ACL_ACL_OP_H_ */
