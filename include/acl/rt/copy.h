/// Copies and fills. Rules for every call: acl/acl_rt.h.
#ifndef ADVSTEP_ACL_RT_COPY_H_
#define ADVSTEP_ACL_RT_COPY_H_

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Copies count bytes now, in no order with streams. count 0 succeeds. A device-side range, and a
/// host-side one in pinned memory, must lie inside one allocation. [context]
/// @retval ACL_ERROR_INVALID_PARAM     dst or src is NULL, or kind is unknown
/// @retval ACL_ERROR_RT_PARAM_INVALID  count > destMax; a range is outside its allocation or, on
///                                     the device side, inside none
ADVSTEP_API aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count,
                                 aclrtMemcpyKind kind);

/// Copies in stream order. Returns before the copy has run when the host side is pinned; with
/// pageable host memory it returns when the copy is done. Codes as aclrtMemcpy. [context]
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  from host to host; pageable memory inside a host
///                                           function, or where the stream waits for a callback of
///                                           the calling thread
/// @retval ACL_ERROR_RT_STREAM_ABORT         a pageable copy whose stream was aborted before it ran
/// @retval (code of an earlier task)         a pageable copy that was skipped, because its stream
///                                           stopped on that failure
ADVSTEP_API aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count,
                                      aclrtMemcpyKind kind, aclrtStream stream);

/// Copies height rows of width bytes, which begin dpitch and spitch bytes apart, now, in no order
/// with streams; row after row from the first on. width 0 or height 0 succeeds. Each side is held
/// as one range, from its first row to the end of its last. [context]
/// @retval ACL_ERROR_INVALID_PARAM     dst or src is NULL, or kind is unknown
/// @retval ACL_ERROR_RT_PARAM_INVALID  width > dpitch or spitch; a range is longer than addresses
///                                     go, is outside its allocation or, on the device side,
///                                     inside none
ADVSTEP_API aclError aclrtMemcpy2d(void* dst, size_t dpitch, const void* src, size_t spitch,
                                   size_t width, size_t height, aclrtMemcpyKind kind);

/// As aclrtMemcpy2d, in stream order; returns, and refuses, as aclrtMemcpyAsync does. [context]
ADVSTEP_API aclError aclrtMemcpy2dAsync(void* dst, size_t dpitch, const void* src, size_t spitch,
                                        size_t width, size_t height, aclrtMemcpyKind kind,
                                        aclrtStream stream);

/// Makes numBatches copies now, in no order with streams: sizes[i] bytes from srcs[i] to dsts[i],
/// which has room for destMaxs[i]. All are checked before the first byte is copied, and they are
/// copied in ascending order. numBatches 0 succeeds, and no array is looked at. [context]
/// @param[in]  attrs         numAttrs pairs of locations: host (unregistered means the same) or
///                           device, with the device's id
/// @param[in]  attrsIndexes  attrs[i] governs the batches from attrsIndexes[i] to before
///                           attrsIndexes[i + 1]; ascending from 0
/// @param[out] failIndex     on error, the first batch that is wrong, or SIZE_MAX where the error
///                           is of no single batch; on success untouched
/// @retval ACL_ERROR_INVALID_PARAM     an array, failIndex, dsts[i] or srcs[i] is NULL
/// @retval ACL_ERROR_RT_PARAM_INVALID  numAttrs is 0 or above numBatches; attrsIndexes does not
///                                     begin with 0, ascend, and stay below numBatches; a
///                                     location's type is another; sizes[i] > destMaxs[i]; a range
///                                     is outside its allocation or, on the device side, in none
///                                     of the device that its attribute names
ADVSTEP_API aclError aclrtMemcpyBatch(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes,
                                      size_t numBatches, aclrtMemcpyBatchAttr* attrs,
                                      size_t* attrsIndexes, size_t numAttrs, size_t* failIndex);

/// As aclrtMemcpyBatch, in stream order, as one task. Returns before the copies have run when every
/// host side is pinned, otherwise when they are done. The arrays may go when it returns. [context]
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  a batch from host to host; pageable memory inside a
///                                           host function
/// @retval (code of an earlier task)         as aclrtMemcpyAsync
ADVSTEP_API aclError aclrtMemcpyBatchAsync(void** dsts, size_t* destMaxs, void** srcs,
                                           size_t* sizes, size_t numBatches,
                                           aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes,
                                           size_t numAttrs, size_t* failIndex, aclrtStream stream);

/// Sets count bytes to the low byte of value now, in no order with streams. Takes device and
/// pinned host memory. [context]
/// @retval ACL_ERROR_RT_PARAM_INVALID  count > maxCount; the range is not inside one allocation
ADVSTEP_API aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count);

/// As aclrtMemset, in stream order, asynchronous. [context]
ADVSTEP_API aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count,
                                      aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_RT_COPY_H_ */
