// SPDX-License-Identifier: Apache-2.0
/// Tensors, scalars, arrays and executors: the arguments and the result of an operator's phase one.
///
/// Objects here are plain pointers, and the caller owns them. A destroyed object must not be used
/// again; calls return ACLNN_ERR_PARAM_INVALID for it. The destruction of NULL returns
/// ACLNN_SUCCESS, except for an executor.
#ifndef ADVSTEP_ACLNN_ACL_META_H_
#define ADVSTEP_ACLNN_ACL_META_H_

#include "acl/acl_base.h"

#ifndef ACLNN_API /* for headers of clients; the library's own headers use ADVSTEP_API */
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
#define ACLNN_ERR_INNER_NULLPTR 561103          /* an executor or its tensor is null */

typedef struct aclTensor aclTensor;
typedef struct aclScalar aclScalar;
typedef struct aclIntArray aclIntArray;
typedef struct aclFloatArray aclFloatArray;
typedef struct aclBoolArray aclBoolArray;
typedef struct aclTensorList aclTensorList;
typedef struct aclScalarList aclScalarList;
typedef struct aclOpExecutor aclOpExecutor;

/* ---- tensors --------------------------------------------------------------------------- */

/// Describes a tensor in device memory. The call copies the arrays and does not access the data.
///
/// @param[in] viewDims        shape of the view, viewDimsNum entries; NULL only with viewDimsNum 0
/// @param[in] stride          elements between neighbours along each dimension, viewDimsNum
///                            entries; NULL: contiguous
/// @param[in] offset          elements from tensorData to the view's first element
/// @param[in] storageDims     shape of the memory that the view lies in, storageDimsNum entries;
///                            NULL only with storageDimsNum 0
/// @param[in] tensorData      device address; may be NULL until phase two
/// @return NULL if a shape is NULL with a count above 0, or if memory is short
ADVSTEP_API aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum,
                                       aclDataType dataType, const int64_t* stride, int64_t offset,
                                       aclFormat format, const int64_t* storageDims,
                                       uint64_t storageDimsNum, void* tensorData);

/// Frees the description, not the data. The program may destroy a tensor as soon as phase one has
/// returned.
/// @retval ACLNN_ERR_PARAM_INVALID  tensor has been destroyed
ADVSTEP_API aclnnStatus aclDestroyTensor(const aclTensor* tensor);

/// Gives an existing tensor a new description. Arguments are those of aclCreateTensor.
/// @retval ACLNN_ERR_PARAM_NULLPTR  tensor is null; a shape is null with a count above 0
/// @retval ACLNN_ERR_PARAM_INVALID  tensor has been destroyed
ADVSTEP_API aclnnStatus aclInitTensor(aclTensor* tensor, const int64_t* viewDims,
                                      uint64_t viewDimsNum, aclDataType dataType,
                                      const int64_t* stride, int64_t offset, aclFormat format,
                                      const int64_t* storageDims, uint64_t storageDimsNum,
                                      void* tensorDataAddr);

/// Getters return one property of a tensor, and ACLNN_ERR_PARAM_NULLPTR for a null argument. They
/// allocate arrays with new[], which the caller frees with delete[].
ADVSTEP_API aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** viewDims,
                                        uint64_t* viewDimsNum);
ADVSTEP_API aclnnStatus aclGetStorageShape(const aclTensor* tensor, int64_t** storageDims,
                                           uint64_t* storageDimsNum);
ADVSTEP_API aclnnStatus aclGetViewStrides(const aclTensor* tensor, int64_t** stridesValue,
                                          uint64_t* stridesNum);
ADVSTEP_API aclnnStatus aclGetViewOffset(const aclTensor* tensor, int64_t* offset);
ADVSTEP_API aclnnStatus aclGetFormat(const aclTensor* tensor, aclFormat* format);
ADVSTEP_API aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* dataType);

/// Changes the tensor's data address for later phase-one calls. addr may be NULL.
ADVSTEP_API aclnnStatus aclSetRawTensorAddr(aclTensor* tensor, void* addr);
/// Returns the tensor's data address.
ADVSTEP_API aclnnStatus aclGetRawTensorAddr(const aclTensor* tensor, void** addr);

/* ---- scalars, arrays and lists ----------------------------------------------------------- */

/// Copies one value of the type dataType.
/// @return NULL if value is NULL or dataType has no whole number of bytes
ADVSTEP_API aclScalar* aclCreateScalar(void* value, aclDataType dataType);
ADVSTEP_API aclnnStatus aclDestroyScalar(const aclScalar* scalar);

/// Arrays copy their values. The size getters return ACLNN_ERR_PARAM_NULLPTR for a null argument.
/// @return NULL if value is NULL with a size above 0
ADVSTEP_API aclIntArray* aclCreateIntArray(const int64_t* value, uint64_t size);
ADVSTEP_API aclnnStatus aclDestroyIntArray(const aclIntArray* array);
ADVSTEP_API aclnnStatus aclGetIntArraySize(const aclIntArray* array, uint64_t* size);
ADVSTEP_API aclFloatArray* aclCreateFloatArray(const float* value, uint64_t size);
ADVSTEP_API aclnnStatus aclDestroyFloatArray(const aclFloatArray* array);
ADVSTEP_API aclnnStatus aclGetFloatArraySize(const aclFloatArray* array, uint64_t* size);
ADVSTEP_API aclBoolArray* aclCreateBoolArray(const bool* value, uint64_t size);
ADVSTEP_API aclnnStatus aclDestroyBoolArray(const aclBoolArray* array);
ADVSTEP_API aclnnStatus aclGetBoolArraySize(const aclBoolArray* array, uint64_t* size);

/// Lists copy the pointers, and own the tensors or scalars: the destruction of a list destroys its
/// members, except those that were destroyed before. The size getters return
/// ACLNN_ERR_PARAM_NULLPTR for a null argument.
/// @return NULL if value is NULL with a size above 0
ADVSTEP_API aclTensorList* aclCreateTensorList(const aclTensor* const* value, uint64_t size);
ADVSTEP_API aclnnStatus aclDestroyTensorList(const aclTensorList* array);
ADVSTEP_API aclnnStatus aclGetTensorListSize(const aclTensorList* tensorList, uint64_t* size);
ADVSTEP_API aclScalarList* aclCreateScalarList(const aclScalar* const* value, uint64_t size);
ADVSTEP_API aclnnStatus aclDestroyScalarList(const aclScalarList* array);
ADVSTEP_API aclnnStatus aclGetScalarListSize(const aclScalarList* scalarList, uint64_t* size);

/* ---- executors --------------------------------------------------------------------------- */

/// Makes an executor repeatable: phase two may run it any number of times, until
/// aclDestroyAclOpExecutor. The program calls this after phase one and before the first run.
/// @retval ACLNN_ERR_INNER_NULLPTR  executor is null
/// @retval ACLNN_ERR_PARAM_INVALID  the executor was run without being repeatable, or was destroyed;
///                                  it is none of this library
ADVSTEP_API aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* executor);

/// Frees a repeatable executor, or one that was never run. A run spends any other executor, which
/// ends with it. Queued runs still run.
/// @retval ACLNN_ERR_INNER_NULLPTR  executor is null
/// @retval ACLNN_ERR_PARAM_INVALID  the executor is spent, or was destroyed before; it is none of
///                                  this library
ADVSTEP_API aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor);

/// Changes the address of one tensor of the executor for later runs. Queued runs keep their
/// addresses.
///
/// @param[in] index   for aclSetTensorAddr and aclSetInputTensorAddr: the position among the
///                    operator's tensors (of a host operator: tensors and lists) in signature
///                    order, 0-based; for aclSetOutputTensorAddr:
///                    the position among its in/out tensors (AdvanceStep: inputTokens 0,
///                    inputPositions 1, seqLens 2, slotMapping 3)
/// @param[in] tensor  not NULL; neither read nor changed
/// @param[in] addr    device address; the view offset of phase one's tensor is added
/// @retval ACLNN_ERR_INNER_NULLPTR  executor or tensor is null
/// @retval ACLNN_ERR_PARAM_INVALID  the index does not exist, or is that of a list, or of a tensor
///                                  that phase one was called without; the executor is spent, or
///                                  none of this library; an in/out tensor of a kernel would overlap
///                                  another tensor. The executor is unchanged.
ADVSTEP_API aclnnStatus aclSetTensorAddr(aclOpExecutor* executor, const size_t index,
                                         aclTensor* tensor, void* addr);
ADVSTEP_API aclnnStatus aclSetInputTensorAddr(aclOpExecutor* executor, const size_t index,
                                              aclTensor* tensor, void* addr);
ADVSTEP_API aclnnStatus aclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index,
                                               aclTensor* tensor, void* addr);
/// These are the same three calls under their older names.
ADVSTEP_API aclnnStatus AclSetTensorAddr(aclOpExecutor* executor, const size_t index,
                                         aclTensor* tensor, void* addr);
ADVSTEP_API aclnnStatus AclSetInputTensorAddr(aclOpExecutor* executor, const size_t index,
                                              aclTensor* tensor, void* addr);
ADVSTEP_API aclnnStatus AclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index,
                                               aclTensor* tensor, void* addr);

/// Changes the address of one tensor of a list for later runs. Queued runs keep their addresses.
/// Only host operators take lists (advance_step/host_call.h).
///
/// @param[in] irIndex        the position of the list among the operator's tensors and lists in
///                           signature order, 0-based; for the output calls: the position among the
///                           written ones
/// @param[in] relativeIndex  the position of the tensor in the list
/// @param[in] tensors        not NULL; neither read nor changed
/// @param[in] addr           as aclSetTensorAddr
/// @retval ACLNN_ERR_INNER_NULLPTR  executor or tensors is null
/// @retval ACLNN_ERR_PARAM_INVALID  irIndex is not that of a list; relativeIndex is not that of one
///                                  of its tensors; the executor is spent, or none of this library
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
