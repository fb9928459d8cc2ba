// SPDX-License-Identifier: Apache-2.0
/// Descriptions of tensors for single-operator calls: dtype, shapes, formats, name.
///
/// A description has an origin shape and format, and a storage shape and format. Its creation sets
/// both pairs to the same values. The getters read the origin pair, and the Origin setters change
/// it. aclSetTensorShape and aclSetTensorFormat change the storage pair, which no getter reads.
///
/// Setters return ACL_ERROR_INVALID_PARAM for a NULL description, except the two Format setters,
/// which return 0.
#ifndef ADVSTEP_ACL_BASE_TENSOR_DESC_H_
#define ADVSTEP_ACL_BASE_TENSOR_DESC_H_

#include "acl/base/core.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ACL_UNKNOWN_RANK 0xFFFFFFFFFFFFFFFE
#define ACL_TENSOR_SHAPE_RANGE_NUM 2
#define ACL_TENSOR_VALUE_RANGE_NUM 2

typedef struct aclTensorDesc aclTensorDesc;

typedef enum {
    ACL_MEMTYPE_DEVICE = 0,
    ACL_MEMTYPE_HOST = 1,
    ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT = 2
} aclMemType;

/// Creates a description. The dims are copied.
/// @param[in] numDims  >= 0
/// @param[in] dims     numDims values; may be NULL if numDims is 0
/// @return NULL for a negative numDims, for NULL dims with numDims above 0, or if the host is out
///         of memory; aclGetRecentErrMsg returns the reason
ADVSTEP_API aclTensorDesc* aclCreateTensorDesc(aclDataType dataType, int numDims,
                                               const int64_t* dims, aclFormat format);

/// Destroys a description; NULL has no effect.
ADVSTEP_API void aclDestroyTensorDesc(const aclTensorDesc* desc);

/// Returns the dtype; ACL_DT_UNDEFINED for NULL.
ADVSTEP_API aclDataType aclGetTensorDescType(const aclTensorDesc* desc);

/// Returns the origin format; ACL_FORMAT_UNDEFINED for NULL.
ADVSTEP_API aclFormat aclGetTensorDescFormat(const aclTensorDesc* desc);

/// Returns the size of the elements in bytes: their count times aclDataTypeSize. The size is 0 for
/// NULL, for a negative dim, or if the product does not fit into size_t.
ADVSTEP_API size_t aclGetTensorDescSize(const aclTensorDesc* desc);

/// Returns the number of elements: the product of the dims, or 1 if there are none. The number is 0
/// for NULL, for a negative dim, or if the product does not fit into size_t.
ADVSTEP_API size_t aclGetTensorDescElementCount(const aclTensorDesc* desc);

/// Returns the number of dims; ACL_UNKNOWN_RANK if the first dim is -2, and 0 for NULL.
ADVSTEP_API size_t aclGetTensorDescNumDims(const aclTensorDesc* desc);

/// Returns one dim; -1 for NULL or for an index that is too large.
ADVSTEP_API int64_t aclGetTensorDescDim(const aclTensorDesc* desc, size_t index);

/// Writes one dim to *dimSize.
/// @retval ACL_ERROR_INVALID_PARAM  desc or dimSize is NULL; index is too large
ADVSTEP_API aclError aclGetTensorDescDimV2(const aclTensorDesc* desc, size_t index,
                                           int64_t* dimSize);

/// Names the tensor. The call copies the name; NULL counts as "".
ADVSTEP_API void aclSetTensorDescName(aclTensorDesc* desc, const char* name);

/// Returns the name; "" for NULL. The text is valid until the name is set again or the description
/// is destroyed.
ADVSTEP_API const char* aclGetTensorDescName(aclTensorDesc* desc);

/// Sets the storage format.
ADVSTEP_API aclError aclSetTensorFormat(aclTensorDesc* desc, aclFormat format);

/// Sets the origin format.
ADVSTEP_API aclError aclSetTensorOriginFormat(aclTensorDesc* desc, aclFormat format);

/// Sets the storage shape.
/// @retval ACL_ERROR_INVALID_PARAM  numDims is negative; dims is NULL with numDims above 0
ADVSTEP_API aclError aclSetTensorShape(aclTensorDesc* desc, int numDims, const int64_t* dims);

/// Sets the origin shape. Codes as aclSetTensorShape.
ADVSTEP_API aclError aclSetTensorOriginShape(aclTensorDesc* desc, int numDims,
                                             const int64_t* dims);

/// Sets the least and the greatest value of each dim. The description keeps them; they have no
/// effect.
/// @retval ACL_ERROR_INVALID_PARAM  dimsRange is NULL with dimsCount above 0
ADVSTEP_API aclError aclSetTensorShapeRange(aclTensorDesc* desc, size_t dimsCount,
                                            int64_t dimsRange[][ACL_TENSOR_SHAPE_RANGE_NUM]);

/// Sets the place of the data. The description keeps it; it has no effect.
/// @retval ACL_ERROR_INVALID_PARAM  memType is no aclMemType
ADVSTEP_API aclError aclSetTensorPlaceMent(aclTensorDesc* desc, aclMemType memType);

/// Makes the tensor a constant. The description keeps a copy of the length bytes at dataBuffer;
/// they have no effect.
/// @retval ACL_ERROR_INVALID_PARAM  dataBuffer is NULL; length is 0
ADVSTEP_API aclError aclSetTensorConst(aclTensorDesc* desc, void* dataBuffer, size_t length);

/// Names the dynamic input to which the tensor belongs. The description keeps a copy of the name;
/// it has no effect.
/// @retval ACL_ERROR_INVALID_PARAM  dynamicInputName is NULL
ADVSTEP_API aclError aclSetTensorDynamicInput(aclTensorDesc* desc, const char* dynamicInputName);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_BASE_TENSOR_DESC_H_ */
