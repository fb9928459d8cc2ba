// SPDX-License-Identifier: Apache-2.0
/// Events and notifies that processes share. Rules for every call: acl/acl_rt.h; docs/runtime.md,
/// "Memory between processes".
///
/// An event of aclrtCreateEventExWithFlag with ACL_EVENT_IPC may be recorded, waited for, queried
/// and synchronised in every process that has opened it. Its latest record may be any process's. If
/// a process ends before its record has run, the record never completes.
#ifndef ADVSTEP_ACL_RT_SHARED_SYNC_H_
#define ADVSTEP_ACL_RT_SHARED_SYNC_H_

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Makes a handle of an event for other processes. Every process of the same user and of root may
/// open it.
/// @retval ACL_ERROR_RT_PARAM_INVALID      the event is not of ACL_EVENT_IPC; it was opened from a
///                                         handle
/// @retval ACL_ERROR_RT_MEMORY_ALLOCATION  the host has no memory, descriptor or thread left for
///                                         the export
ADVSTEP_API aclError aclrtIpcGetEventHandle(aclrtEvent event, aclrtIpcEventHandle* handle);

/// Opens the event of another process's handle. Each process destroys its own event. [context]
/// @retval ACL_ERROR_RT_PARAM_INVALID       handle is no handle, or no live process has its event
/// @retval ACL_ERROR_RT_NO_PERMISSION       that process is of another user
/// @retval ACL_ERROR_RT_DRV_INTERNAL_ERROR  that process does not answer within 10 s, or another
///                                          one answers in its place
/// @retval ACL_ERROR_RT_MEMORY_ALLOCATION   the host cannot map the event, or no descriptor is free
ADVSTEP_API aclError aclrtIpcOpenEventHandle(aclrtIpcEventHandle handle, aclrtEvent* event);

/// Makes a key of a notify for other processes. A second call returns the same key.
/// @param[out] key    a text of at most 64 characters and its NUL
/// @param[in]  len    bytes that key has room for, at least 65
/// @param[in]  flags  ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT: only processes in the white list may
///                    import it; _DISABLE_PID_VALIDATION: all processes of the user and root may
/// @retval ACL_ERROR_RT_PARAM_INVALID      len or flags is not as above; the notify is an import
/// @retval ACL_ERROR_RT_MEMORY_ALLOCATION  the host has no memory, descriptor or thread left for
///                                         the export
ADVSTEP_API aclError aclrtNotifyGetExportKey(aclrtNotify notify, char* key, size_t len,
                                             uint64_t flags);

/// Imports the notify of another process's key. Both notifies are one flag, which lives until the
/// last process has destroyed its notify. [context]
/// @param[in] flags  0 to 3; all mean the same here
/// @retval ACL_ERROR_RT_PARAM_INVALID       key is no key; no live process has its notify; flags is
///                                          not as above
/// @retval ACL_ERROR_RT_NO_PERMISSION       this process is not in the white list, or is of
///                                          another user
/// @retval ACL_ERROR_RT_DRV_INTERNAL_ERROR  that process does not answer within 10 s, or another
///                                          one answers in its place
/// @retval ACL_ERROR_RT_MEMORY_ALLOCATION   the host cannot map the flag, or no descriptor is free
ADVSTEP_API aclError aclrtNotifyImportByKey(aclrtNotify* notify, const char* key, uint64_t flags);

/// Adds processes to the white list of an exported notify.
/// @param[in] pid  num process ids
/// @param[in] num  1 to 65536, else ACL_ERROR_RT_PARAM_INVALID
/// @retval ACL_ERROR_RT_PARAM_INVALID  the notify is not exported; there is no such process
ADVSTEP_API aclError aclrtNotifySetImportPid(aclrtNotify notify, int32_t* pid, size_t num);

/// Clears the flags of num notifies now, independent of streams. If the call fails it clears none.
/// @param[in] num  >= 1, else ACL_ERROR_RT_PARAM_INVALID
/// @retval ACL_ERROR_INVALID_PARAM  notifies or one of its entries is NULL
ADVSTEP_API aclError aclrtNotifyBatchReset(aclrtNotify* notifies, size_t num);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_RT_SHARED_SYNC_H_ */
