// SPDX-License-Identifier: Apache-2.0
/// Notifies, which are flags, and words in memory: streams set them and wait for them. Rules for
/// every call: acl/acl_rt.h.
#ifndef ADVSTEP_ACL_RT_NOTIFY_H_
#define ADVSTEP_ACL_RT_NOTIFY_H_

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Creates a notify: a flag that is not set. [context]
/// @param[in] flag  ACL_NOTIFY_DEFAULT or ACL_NOTIFY_DEVICE_USE_ONLY, which mean the same here
/// @retval ACL_ERROR_RT_PARAM_INVALID  flag has another value
ADVSTEP_API aclError aclrtCreateNotify(aclrtNotify* notify, uint64_t flag);

/// Destroys a notify. Records and waits that are queued stay valid.
ADVSTEP_API aclError aclrtDestroyNotify(aclrtNotify notify);

/// Sets the flag, in stream order. [context]
ADVSTEP_API aclError aclrtRecordNotify(aclrtNotify notify, aclrtStream stream);

/// Makes later work of the stream wait until the flag is set, then clears the flag. So one record
/// ends one wait. The record may be queued after the wait. [context]
/// @param[in] timeout  in seconds, from the time when the wait is the oldest work of the stream; 0:
///                     for ever. A wait that lasts longer fails with ACL_ERROR_RT_WAIT_TIMEOUT, and
///                     a synchronisation reports that
ADVSTEP_API aclError aclrtWaitAndResetNotify(aclrtNotify notify, aclrtStream stream,
                                             uint32_t timeout);

/// Returns the notify's number, which no other live notify has.
ADVSTEP_API aclError aclrtGetNotifyId(aclrtNotify notify, uint32_t* notifyId);

/// Stores value in the word at devAddr, in stream order. [context]
/// @param[in] devAddr  8 bytes of device memory, of memory of aclrtMallocHost, or of host memory
///                     that is registered with a device address; a multiple of 8
/// @param[in] flag     0
/// @retval ACL_ERROR_RT_PARAM_INVALID  devAddr or flag is not as above
ADVSTEP_API aclError aclrtValueWrite(void* devAddr, uint64_t value, uint32_t flag,
                                     aclrtStream stream);

/// Makes later work of the stream wait until a comparison of value with p, the word at devAddr,
/// holds. Any thread or stream may write the word. [context]
/// @param[in] devAddr  as aclrtValueWrite
/// @param[in] flag  ACL_STREAM_WAIT_VALUE_GEQ: (int64_t)(p - value) >= 0; _EQ: p == value;
///                  _AND: (p & value) != 0; _NOR: ~(p | value) != 0
/// @retval ACL_ERROR_RT_PARAM_INVALID  as aclrtValueWrite
ADVSTEP_API aclError aclrtValueWait(void* devAddr, uint64_t value, uint32_t flag,
                                    aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_RT_NOTIFY_H_ */
