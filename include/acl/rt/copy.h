// SPDX-License-Identifier: Apache-2.0
/// Copies and fills. Rules for every call: acl/acl_rt.h.
#ifndef ADVSTEP_ACL_RT_COPY_H_
#define ADVSTEP_ACL_RT_COPY_H_

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Copies count bytes now, independent of streams. The addresses decide what is copied in which
/// direction; kind has no effect. A range on the device or in pinned host memory must lie inside
/// one allocation. With count 0 the call succeeds and checks no other argument. [context]
/// @retval ACL_ERROR_INVALID_PARAM     dst or src is NULL, or kind is unknown
/// @retval ACL_ERROR_RT_PARAM_INVALID  count > destMax; a range is partly outside its allocation; a
///                                     range on the device side by kind is inside no allocation,
///                                     and is not host memory beyond doubt
ADVSTEP_API aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count,
                                 aclrtMemcpyKind kind);

/// Copies in stream order. With pinned host memory the call returns before the copy has run; with
/// pageable host memory it returns when the copy is done. [context] The codes are those of
/// aclrtMemcpy and:
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  the copy is from host to host; the host memory is
///                                           pageable, and the call is made from a host function,
///                                           or the stream waits for a callback of the calling
///                                           thread
/// @retval ACL_ERROR_RT_STREAM_ABORT         the host memory is pageable, and the stream was
///                                           aborted before the copy ran
/// @retval (code of an earlier task)         the host memory is pageable, and the copy was skipped
///                                           because the stream had stopped on that task's failure
ADVSTEP_API aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count,
                                      aclrtMemcpyKind kind, aclrtStream stream);

/// Copies height rows of width bytes now, independent of streams, in ascending order. The rows
/// begin dpitch bytes apart at dst and spitch bytes apart at src. Either of width and height may be
/// 0: nothing is copied. The range of each side, from its first row to the end of its last, is
/// checked as aclrtMemcpy checks it, and kind has no effect. [context]
/// @retval ACL_ERROR_INVALID_PARAM     dst or src is NULL, or kind is unknown
/// @retval ACL_ERROR_RT_PARAM_INVALID  width > dpitch or width > spitch; a range exceeds the
///                                     address space; a range is partly outside its allocation; a
///                                     range on the device side by kind is inside no allocation,
///                                     and is not host memory beyond doubt
ADVSTEP_API aclError aclrtMemcpy2d(void* dst, size_t dpitch, const void* src, size_t spitch,
                                   size_t width, size_t height, aclrtMemcpyKind kind);

/// As aclrtMemcpy2d, in stream order. The call returns, and fails, under the conditions of
/// aclrtMemcpyAsync. [context]
ADVSTEP_API aclError aclrtMemcpy2dAsync(void* dst, size_t dpitch, const void* src, size_t spitch,
                                        size_t width, size_t height, aclrtMemcpyKind kind,
                                        aclrtStream stream);

/// Makes numBatches copies now, independent of streams: sizes[i] bytes from srcs[i] to dsts[i],
/// which has room for destMaxs[i] bytes. The call checks all copies before it copies the first
/// byte, and makes them in ascending order. With numBatches 0 it succeeds and reads no array.
/// [context]
/// @param[in]  attrs         numAttrs pairs of locations: host (unregistered means the same), or
///                           device with the device's id
/// @param[in]  attrsIndexes  ascending from 0; attrs[i] applies to the batches in [attrsIndexes[i],
///                           attrsIndexes[i + 1])
/// @param[out] failIndex     on error, the first wrong batch, or SIZE_MAX if the error does not
///                           belong to one batch; not written on success
/// @retval ACL_ERROR_INVALID_PARAM     an array, failIndex, dsts[i] or srcs[i] is NULL
/// @retval ACL_ERROR_RT_PARAM_INVALID  numAttrs is 0 or above numBatches; attrsIndexes does not
///                                     begin with 0, does not ascend, or reaches numBatches; a
///                                     location is of no such type; sizes[i] > destMaxs[i]; a range
///                                     is partly outside its allocation; a range on the device side
///                                     is inside no allocation of the device in its attribute
ADVSTEP_API aclError aclrtMemcpyBatch(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes,
                                      size_t numBatches, aclrtMemcpyBatchAttr* attrs,
                                      size_t* attrsIndexes, size_t numAttrs, size_t* failIndex);

/// As aclrtMemcpyBatch, in stream order, as one task. If all host memory is pinned the call returns
/// before the copies have run; otherwise it returns when they are done. The arrays may be freed
/// when the call has returned. [context] The codes are those of aclrtMemcpyBatch and:
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  a batch is from host to host; host memory is pageable,
///                                           and the call is made from a host function, or the
///                                           stream waits for a callback of the calling thread
/// @retval ACL_ERROR_RT_STREAM_ABORT         as aclrtMemcpyAsync
/// @retval (code of an earlier task)         as aclrtMemcpyAsync
ADVSTEP_API aclError aclrtMemcpyBatchAsync(void** dsts, size_t* destMaxs, void** srcs,
                                           size_t* sizes, size_t numBatches,
                                           aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes,
                                           size_t numAttrs, size_t* failIndex, aclrtStream stream);

/// As aclrtMemcpyBatch, without the index of a wrong batch: the message has it.
ADVSTEP_API aclError aclrtMemcpyBatchV2(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes,
                                        size_t numBatches, aclrtMemcpyBatchAttr* attrs,
                                        size_t* attrsIndexes, size_t numAttrs);

/// As aclrtMemcpyBatchAsync, without the index of a wrong batch: the message has it.
ADVSTEP_API aclError aclrtMemcpyBatchAsyncV2(void** dsts, size_t* destMaxs, void** srcs,
                                             size_t* sizes, size_t numBatches,
                                             aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes,
                                             size_t numAttrs, aclrtStream stream);

/// Sets count bytes of device memory or pinned host memory to the low byte of value now,
/// independent of streams. With count 0 the call succeeds and checks no other argument. [context]
/// @retval ACL_ERROR_RT_PARAM_INVALID  count > maxCount; the range is not inside one allocation
ADVSTEP_API aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count);

/// As aclrtMemset, in stream order. The call returns before the bytes are set. [context]
ADVSTEP_API aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count,
                                      aclrtStream stream);

/// Sets N words of 4 bytes of device memory or pinned host memory to value now, independent of
/// streams. With N 0 the call succeeds and checks no other argument. [context]
/// @param[in] ptr      a multiple of 4
/// @param[in] memSize  the bytes at ptr; >= 4 * N
/// @retval ACL_ERROR_RT_PARAM_INVALID  ptr or memSize is not as above; the range is not inside one
///                                     allocation
ADVSTEP_API aclError aclrtMemsetD32(void* ptr, size_t memSize, uint32_t value, size_t N);

/// As aclrtMemsetD32, in stream order. The call returns before the words are set. [context]
ADVSTEP_API aclError aclrtMemsetD32Async(void* ptr, size_t memSize, uint32_t value, size_t N,
                                         aclrtStream stream);

/// As aclrtMemcpyAsync; the name is deprecated.
ADVSTEP_API aclError aclrtMemcpyAsyncWithCondition(void* dst, size_t destMax, const void* src,
                                                   size_t count, aclrtMemcpyKind kind,
                                                   aclrtStream stream);

/// Copies count bytes from *src + srcDataOffset to *dst + dstDataOffset, in stream order. The copy
/// reads both pointers when it runs. It fails with ACL_ERROR_RT_PARAM_INVALID if a range is not
/// inside one allocation then, and a synchronisation reports that. Memory that is freed, unmapped
/// or closed after this call may still be used. With count 0 nothing is queued. [context]
/// @param[in] dst, src  addresses in device memory, multiples of 8; each holds a pointer to device
///                      memory
/// @param[in] destMax   bytes that *dst has room for; >= dstDataOffset + count
/// @param[in] kind      ACL_MEMCPY_INNER_DEVICE_TO_DEVICE
/// @retval ACL_ERROR_RT_PARAM_INVALID  an argument is not as above
ADVSTEP_API aclError aclrtMemcpyAsyncWithOffset(void** dst, size_t destMax, size_t dstDataOffset,
                                                const void** src, size_t count,
                                                size_t srcDataOffset, aclrtMemcpyKind kind,
                                                aclrtStream stream);

/// Reduces src into dst: dst = dst op src for each element, on the vector cores, in stream order.
/// Results are the same on every machine. SUM wraps for integers, and rounds once to nearest even
/// for floats. MAX and MIN of a NaN and a number are NaN. EQUAL stores 1 where both are equal, else
/// 0. [context]
/// @param[in] dst, src  device memory, at multiples of the element's size: the same range, or two
///                      ranges that do not overlap
/// @param[in] count     bytes, a multiple of the element's size; >= 1
/// @param[in] type      ACL_INT8, INT16, INT32, FLOAT16, BF16 or FLOAT, else
///                      ACL_ERROR_INVALID_PARAM
/// @param[in] reserve   NULL, else ACL_ERROR_INVALID_PARAM
/// @retval ACL_ERROR_INVALID_PARAM     dst or src is NULL; kind is unknown
/// @retval ACL_ERROR_RT_PARAM_INVALID  dst, src or count is not as above
ADVSTEP_API aclError aclrtReduceAsync(void* dst, const void* src, uint64_t count,
                                      aclrtReduceKind kind, aclDataType type, aclrtStream stream,
                                      void* reserve);

#ifdef __cplusplus
}
#endif

#endif /* ADVSTEP_ACL_RT_COPY_H_ */
