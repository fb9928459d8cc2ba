// SPDX-License-Identifier: Apache-2.0
/// Tensors, scalars, arrays and executors: the arguments and the result of an operator's phase one.
///
/// Objects here are plain pointers. The caller owns an object until it destroys it, and must not
/// pass a destroyed one again. Destroying NULL returns ACLNN_SUCCESS.
#ifndef ADVSTEP_ACLNN_ACL_META_H_
#define ADVSTEP_ACLNN_ACL_META_H_

#include "acl/acl_base.h"

#ifndef ACLNN_API /* of client headers; the library's own use ADVSTEP_API */
#if defined(__GNUC__)
#define ACLNN_API __attribute__((visibility("default")))
#else
#define ACLNN_API
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef int aclnnStatus;

#define ACLNN_SUCCESS 0
#define ACLNN_ERR_PARAM_NULLPTR 161001          /* a required pointer is null */
#define ACLNN_ERR_PARAM_INVALID 161002          /* wrong dtype, format, layout, index or executor */
#define ACLNN_ERR_RUNTIME_ERROR 361001          /* a runtime error; the message has its code */
#define ACLNN_ERR_INNER 561000
#define ACLNN_ERR_INNER_INFERSHAPE_ERROR 561001
#define ACLNN_ERR_INNER_TILING_ERROR 561002     /* a shape or an attribute is out of its range */
#define ACLNN_ERR_INNER_CREATE_EXECUTOR 561101
#define ACLNN_ERR_INNER_NULLPTR 561103          /* an executor or a tensor is null */

typedef struct aclTensor aclTensor;
typedef struct aclScalar aclScalar;
typedef struct aclIntArray aclIntArray;
typedef struct aclFloatArray aclFloatArray;
typedef struct aclBoolArray aclBoolArray;
typedef struct aclTensorList aclTensorList;
typedef struct aclScalarList aclScalarList;
typedef struct aclOpExecutor aclOpExecutor;

/* ---- tensors --------------------------------------------------------------------------- */

/// Describes a tensor in device memory. The arrays are copied; the data is not accessed.
///
/// @param[in] viewDims        shape of the view, viewDimsNum entries; NULL only with viewDimsNum 0
/// @param[in] stride          elements from one index to the next, viewDimsNum entries; NULL:
///                            contiguous
/// @param[in] offset          elements from tensorData to the view's first element
/// @param[in] storageDims     shape of the memory that the view lies in, storageDimsNum entries;
///                            NULL only with storageDimsNum 0
/// @param[in] tensorData      device address; may be NULL until phase two
/// @return NULL if a shape is NULL with a count above 0, or if memory is short
ADVSTEP_API aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum,
                                       aclDataType dataType, const int64_t* stride, int64_t offset,
                                       aclFormat format, const int64_t* storageDims,
                                       uint64_t storageDimsNum, void* tensorData);

/// Frees the description, not the data. Allowed as soon as phase one has returned.
ADVSTEP_API aclnnStatus aclDestroyTensor(const aclTensor* tensor);

/// Gives an existing tensor a new description. Arguments are those of aclCreateTensor.
/// @retval ACLNN_ERR_PARAM_NULLPTR  tensor is null, or a shape is null with a count above 0
ADVSTEP_API aclnnStatus aclInitTensor(aclTensor* tensor, const int64_t* viewDims,
                                      uint64_t viewDimsNum, aclDataType dataType,
                                      const int64_t* stride, int64_t offset, aclFormat format,
                                      const int64_t* storageDims, uint64_t storageDimsNum,
                                      void* tensorDataAddr);

/// The getters below return ACLNN_ERR_PARAM_NULLPTR for a null argument. They allocate the arrays;
/// the caller frees them with delete[].
ADVSTEP_API aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** viewDims,
                                        uint64_t* viewDimsNum);
ADVSTEP_API aclnnStatus aclGetStorageShape(const aclTensor* tensor, int64_t** storageDims,
                                           uint64_t* storageDimsNum);
ADVSTEP_API aclnnStatus aclGetViewStrides(const aclTensor* tensor, int64_t** stridesValue,
                                          uint64_t* stridesNum);
ADVSTEP_API aclnnStatus aclGetViewOffset(const aclTensor* tensor, int64_t* offset);
ADVSTEP_API aclnnStatus aclGetFormat(const aclTensor* tensor, aclFormat* format);
ADVSTEP_API aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* dataType);

/// Changes the address for later phase-one calls. addr may be NULL.
ADVSTEP_API aclnnStatus aclSetRawTensorAddr(aclTensor* tensor, void* addr);
ADVSTEP_API aclnnStatus aclGetRawTensorAddr(const aclTensor* tensor, void** addr);

/* ---- scalars, arrays and lists ----------------------------------------------------------- */

/// Copies one value. @return NULL if value is NULL or dataType has no size in bytes
ADVSTEP_API aclScalar* aclCreateScalar(void* value, aclDataType dataType);
ADVSTEP_API aclnnStatus aclDestroyScalar(const aclScalar* scalar);

/// Arrays copy their values. @return NULL if value is NULL with a size above 0
ADVSTEP_API aclIntArray* aclCreateIntArray(const int64_t* value, uint64_t size);
ADVSTEP_API aclnnStatus aclDestroyIntArray(const aclIntArray* array);
ADVSTEP_API aclnnStatus aclGetIntArraySize(const aclIntArray* array, uint64_t* size);
ADVSTEP_API aclFloatArray* aclCreateFloatArray(const float* value, uint64_t size);
ADVSTEP_API aclnnStatus aclDestroyFloatArray(const aclFloatArray* array);
ADVSTEP_API aclnnStatus aclGetFloatArraySize(const aclFloatArray* array, uint64_t* size);
ADVSTEP_API aclBoolArray* aclCreateBoolArray(const bool* value, uint64_t size);
ADVSTEP_API aclnnStatus aclDestroyBoolArray(const aclBoolArray* array);
ADVSTEP_API aclnnStatus aclGetBoolArraySize(const aclBoolArray* array, uint64_t* size);

/// Lists copy the pointers and own what they point to: destroying a list destroys its members.
/// @return NULL if value is NULL with a size above 0
ADVSTEP_API aclTensorList* aclCreateTensorList(const aclTensor* const* value, uint64_t size);
ADVSTEP_API aclnnStatus aclDestroyTensorList(const aclTensorList* array);
ADVSTEP_API aclnnStatus aclGetTensorListSize(const aclTensorList* tensorList, uint64_t* size);
ADVSTEP_API aclScalarList* aclCreateScalarList(const aclScalar* const* value, uint64_t size);
ADVSTEP_API aclnnStatus aclDestroyScalarList(const aclScalarList* array);
ADVSTEP_API aclnnStatus aclGetScalarListSize(const aclScalarList* scalarList, uint64_t* size);

/* ---- executors --------------------------------------------------------------------------- */

/// Makes an executor repeatable: phase two may run it any number of times, until
/// aclDestroyAclOpExecutor. It must be called after phase one and before the first run.
/// @retval ACLNN_ERR_INNER_NULLPTR  executor is null
/// @retval ACLNN_ERR_PARAM_INVALID  the executor was run or destroyed before
ADVSTEP_API aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* executor);

/// Frees a repeatable executor, or one that was never run. Queued runs still run.
/// @retval ACLNN_ERR_INNER_NULLPTR  executor is null
/// @retval ACLNN_ERR_PARAM_INVALID  the executor was spent (run without being repeatable) or
///                                  destroyed before
ADVSTEP_API aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor);

/// Changes the address of one tensor of the executor for later runs. Queued runs keep their
/// address.
///
/// @param[in] index   aclSetTensorAddr, aclSetInputTensorAddr: position among the operator's
///                    tensors in signature order, 0-based; aclSetOutputTensorAddr: position among
///                    its in/out tensors (AdvanceStep: inputTokens 0, inputPositions 1, seqLens 2,
///                    slotMapping 3)
/// @param[in] tensor  the tensor given to phase one, or a similar one; it is not changed
/// @param[in] addr    device address; the planned view offset is added
/// @retval ACLNN_ERR_INNER_NULLPTR  executor or tensor is null
/// @retval ACLNN_ERR_PARAM_INVALID  the index does not exist; the executor is spent; an in/out
///                                  tensor would overlap another tensor. The executor is unchanged.
ADVSTEP_API aclnnStatus aclSetTensorAddr(aclOpExecutor* executor, const size_t index,
                                         aclTensor* tensor, void* addr);
ADVSTEP_API aclnnStatus aclSetInputTensorAddr(aclOpExecutor* executor, const size_t index,
                                              aclTensor* tensor, void* addr);
ADVSTEP_API aclnnStatus aclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index,
                                               aclTensor* tensor, void* addr);
/// The same three under their older names.
ADVSTEP_API aclnnStatus AclSetTensorAddr(aclOpExecutor* executor, const size_t index,
                                         aclTensor* tensor, void* addr);
ADVSTEP_API aclnnStatus AclSetInputTensorAddr(aclOpExecutor* executor, const size_t index,
                                              aclTensor* tensor, void* addr);
ADVSTEP_API aclnnStatus AclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index,
                                               aclTensor* tensor, void* addr);

/// These calls always fail, because no operator here takes a tensor list.
/// @retval ACLNN_ERR_INNER_NULLPTR  executor or tensors is null
/// @retval ACLNN_ERR_PARAM_INVALID  all other cases
ADVSTEP_API aclnnStatus aclSetDynamicTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                                const size_t relativeIndex, aclTensorList* tensors,
                                                void* addr);
ADVSTEP_API aclnnStatus aclSetDynamicInputTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                                     const size_t relativeIndex,
                                                     aclTensorList* tensors, void* addr);
ADVSTEP_API aclnnStatus aclSetDynamicOutputTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                                      const size_t relativeIndex,
                                                      aclTensorList* tensors, void* addr);
ADVSTEP_API aclnnStatus AclSetDynamicTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                                const size_t relativeIndex, aclTensorList* tensors,
                                                void* addr);
ADVSTEP_API aclnnStatus AclSetDynamicInputTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                                     const size_t relativeIndex,
                                                     aclTensorList* tensors, void* addr);
ADVSTEP_API aclnnStatus AclSetDynamicOutputTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                                      const size_t relativeIndex,
                                                      aclTensorList* tensors, void* addr);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACLNN_ACL_META_H_ */
