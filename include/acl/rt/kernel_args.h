// SPDX-License-Identifier: Apache-2.0
/// The argument block of a kernel launch, built parameter by parameter. Rules for every call:
/// acl/acl_rt.h.
///
/// A block holds the parameters in their order, each at the next multiple of 8 bytes; those of a
/// CPU kernel follow one another without gaps. A placeholder is a parameter of 8 bytes that holds
/// the address of its data when the kernel runs. The data areas follow the parameters, in the order
/// of the aclrtKernelArgsGetPlaceHolderBuffer calls, and are aligned likewise. A block has at most
/// 128 parameters and 65536 bytes. It begins at a multiple of 16. A launch copies it, so it can be
/// used again at once.
///
/// Any thread may use a handle; calls with one handle at the same time run one after another.
#ifndef ADVSTEP_ACL_RT_KERNEL_ARGS_H_
#define ADVSTEP_ACL_RT_KERNEL_ARGS_H_

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Makes an empty block, which belongs to the calling thread. A thread has one such block: the
/// handle of its earlier one becomes invalid. No call destroys a block; it ends with its thread.
ADVSTEP_API aclError aclrtKernelArgsInit(aclrtFuncHandle funcHandle, aclrtArgsHandle* argsHandle);

/// Makes an empty block in memory of the program, and another one in its place if the call is
/// repeated. Both memories must exist while the handle is used.
/// @param[in] argsHandle      the handle: the address of memory of the size that
///                            aclrtKernelArgsGetHandleMemSize returns
/// @param[in] userHostMem     memory of actualArgsSize bytes
/// @param[in] actualArgsSize  the size that aclrtKernelArgsGetMemSize returned
/// @retval ACL_ERROR_RT_PARAM_INVALID  actualArgsSize is 0
ADVSTEP_API aclError aclrtKernelArgsInitByUserMem(aclrtFuncHandle funcHandle,
                                                  aclrtArgsHandle argsHandle, void* userHostMem,
                                                  size_t actualArgsSize);

/// Returns the number of bytes that argsHandle of aclrtKernelArgsInitByUserMem needs, of any
/// alignment.
ADVSTEP_API aclError aclrtKernelArgsGetHandleMemSize(aclrtFuncHandle funcHandle, size_t* memSize);

/// Returns the number of bytes that userArgsSize bytes of parameters and data need at most in a
/// block: userArgsSize for a CPU kernel; userArgsSize + 1088 for other kernels, which is enough for
/// the gaps between 128 parameters.
/// @retval ACL_ERROR_RT_PARAM_INVALID  userArgsSize is more than 65536
ADVSTEP_API aclError aclrtKernelArgsGetMemSize(aclrtFuncHandle funcHandle, size_t userArgsSize,
                                               size_t* actualArgsSize);

/// Appends a parameter: paramSize bytes, which are copied from param.
/// @retval ACL_ERROR_RT_PARAM_INVALID        paramSize is 0, or the block is full
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  the block is finalized, or has a placeholder's buffer
ADVSTEP_API aclError aclrtKernelArgsAppend(aclrtArgsHandle argsHandle, void* param,
                                           size_t paramSize, aclrtParamHandle* paramHandle);

/// Appends a placeholder. Codes as aclrtKernelArgsAppend.
ADVSTEP_API aclError aclrtKernelArgsAppendPlaceHolder(aclrtArgsHandle argsHandle,
                                                      aclrtParamHandle* paramHandle);

/// Returns memory of dataSize bytes for a placeholder's data. The caller fills it before the
/// launch.
/// @retval ACL_ERROR_RT_PARAM_INVALID        paramHandle is an ordinary parameter or has a buffer
///                                           already; dataSize is 0, or the block is full
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  the block is finalized
ADVSTEP_API aclError aclrtKernelArgsGetPlaceHolderBuffer(aclrtArgsHandle argsHandle,
                                                         aclrtParamHandle paramHandle,
                                                         size_t dataSize, void** bufferAddr);

/// Replaces the value of an ordinary parameter. The block must be finalized again before it is
/// launched.
/// @retval ACL_ERROR_RT_PARAM_INVALID  paramHandle is a placeholder, or paramSize is not its size
ADVSTEP_API aclError aclrtKernelArgsParaUpdate(aclrtArgsHandle argsHandle,
                                               aclrtParamHandle paramHandle, void* param,
                                               size_t paramSize);

/// Completes the block. A launch needs a complete block.
/// @retval ACL_ERROR_RT_PARAM_INVALID  a placeholder has no buffer
ADVSTEP_API aclError aclrtKernelArgsFinalize(aclrtArgsHandle argsHandle);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_RT_KERNEL_ARGS_H_ */
