// SPDX-License-Identifier: Apache-2.0
/// Device memory that processes share, and what is known of mapped memory. Rules for every call:
/// acl/acl_rt.h; docs/runtime.md, "Memory between processes".
///
/// An export makes a handle or a key, which the program takes to other processes by whatever way it
/// has. An import makes the same bytes memory of a device of the importing process: nothing is
/// copied. The memory lives until every process has let go of it. It counts as used memory in the
/// exporting process only. The white list of an export has the processes that may import it; flag 1
/// of an export opens it to all processes of the same user, and of root. A process that is not
/// listed gets ACL_ERROR_RT_NO_PERMISSION.
#ifndef ADVSTEP_ACL_RT_SHARED_MEMORY_H_
#define ADVSTEP_ACL_RT_SHARED_MEMORY_H_

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Exports physical memory, once for each handle. The export ends with the memory.
/// @param[in]  handleType       ACL_MEM_HANDLE_TYPE_NONE, else ACL_ERROR_INVALID_PARAM
/// @param[in]  flags            ACL_RT_VMM_EXPORT_FLAG_DEFAULT: only listed processes may import;
///                              _DISABLE_PID_VALIDATION: all of the user and root may
/// @param[out] shareableHandle  a number that is valid in every process of the machine
/// @retval ACL_ERROR_INVALID_PARAM         handle or shareableHandle is NULL; handleType is another
/// @retval ACL_ERROR_RT_PARAM_INVALID      flags is unknown; the handle has been exported, or is
///                                         imported
/// @retval ACL_ERROR_RT_MEMORY_ALLOCATION  the host has no thread or socket to share it with
ADVSTEP_API aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle handle,
                                                     aclrtMemHandleType handleType, uint64_t flags,
                                                     uint64_t* shareableHandle);

/// As aclrtMemExportToShareableHandle.
/// @param[in]  shareType        ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT or _FABRIC, else
///                              ACL_ERROR_RT_PARAM_INVALID
/// @param[out] shareableHandle  DEFAULT: a uint64_t; FABRIC: an aclrtMemFabricHandle
ADVSTEP_API aclError aclrtMemExportToShareableHandleV2(aclrtDrvMemHandle handle, uint64_t flags,
                                                       aclrtMemSharedHandleType shareType,
                                                       void* shareableHandle);

/// Makes a handle of another process's memory, which aclrtMapMem maps and aclrtFreePhysical frees.
/// The exporting process must run; afterwards it may end. If both devices differ, they may access
/// each other afterwards (aclrtDeviceEnablePeerAccess).
/// @param[in] deviceId  the device of this process that has the memory from now on
/// @retval ACL_ERROR_INVALID_PARAM         handle is NULL
/// @retval ACL_ERROR_RT_PARAM_INVALID      no live process exports it, or the memory has been
///                                         freed; this process exports it, or has imported it
/// @retval ACL_ERROR_RT_INVALID_DEVICEID   deviceId is not in [0, device count)
/// @retval ACL_ERROR_RT_NO_PERMISSION      this process is not in the white list
/// @retval ACL_ERROR_RT_DRV_INTERNAL_ERROR the exporting process does not answer within 10 s
/// @retval ACL_ERROR_RT_MEMORY_ALLOCATION  no descriptor is free
ADVSTEP_API aclError aclrtMemImportFromShareableHandle(uint64_t shareableHandle, int32_t deviceId,
                                                       aclrtDrvMemHandle* handle);

/// As aclrtMemImportFromShareableHandle, for the current context's device. [context]
/// @param[in] shareableHandle  as aclrtMemExportToShareableHandleV2 made it
/// @param[in] flags            0, else ACL_ERROR_INVALID_PARAM
ADVSTEP_API aclError aclrtMemImportFromShareableHandleV2(void* shareableHandle,
                                                         aclrtMemSharedHandleType shareType,
                                                         uint64_t flags, aclrtDrvMemHandle* handle);

/// Adds processes to the white list of an export of this process.
/// @param[in] pid     pidNum process ids of aclrtDeviceGetBareTgid, which are those of getpid()
/// @param[in] pidNum  1 to 65536, else ACL_ERROR_INVALID_PARAM
/// @retval ACL_ERROR_INVALID_PARAM     pid is NULL
/// @retval ACL_ERROR_RT_PARAM_INVALID  this process exports no such handle
ADVSTEP_API aclError aclrtMemSetPidToShareableHandle(uint64_t shareableHandle, int32_t* pid,
                                                     size_t pidNum);

/// As aclrtMemSetPidToShareableHandle, for a handle of aclrtMemExportToShareableHandleV2.
ADVSTEP_API aclError aclrtMemSetPidToShareableHandleV2(void* shareableHandle,
                                                       aclrtMemSharedHandleType shareType,
                                                       int32_t* pid, size_t pidNum);

/// Exports a block of aclrtMalloc. A second export returns the same key. [context]
/// @param[in]  devPtr  start of a block of at least 4096 bytes
/// @param[in]  size    1 to the bytes of the block; the whole block is shared
/// @param[out] key     a text of at most 64 characters and its NUL
/// @param[in]  len     bytes that key has room for, at least 65
/// @param[in]  flags   ACL_RT_IPC_MEM_EXPORT_FLAG_DEFAULT: only listed processes may import;
///                     _DISABLE_PID_VALIDATION: all of the user and root may
/// @retval ACL_ERROR_RT_PARAM_INVALID      devPtr, size, len or flags is not as above
/// @retval ACL_ERROR_RT_MEMORY_ALLOCATION  as aclrtMemExportToShareableHandle
ADVSTEP_API aclError aclrtIpcMemGetExportKey(void* devPtr, size_t size, char* key, size_t len,
                                             uint64_t flags);

/// Makes the block of a key memory of the current context's device. Each import has addresses of
/// its own, also in the exporting process. aclrtFree does not take them. [context]
/// @param[in] flags  ACL_RT_IPC_MEM_IMPORT_FLAG_DEFAULT or _ENABLE_PEER_ACCESS, which also lets the
///                   two devices access each other
/// @retval ACL_ERROR_RT_PARAM_INVALID      key is no key; no live process exports it; flags
/// @retval ACL_ERROR_RT_NO_PERMISSION      this process is not in the white list
/// @retval ACL_ERROR_RT_DRV_INTERNAL_ERROR the exporting process does not answer within 10 s
/// @retval ACL_ERROR_RT_MEMORY_ALLOCATION  the host cannot map it, or no descriptor is free
ADVSTEP_API aclError aclrtIpcMemImportByKey(void** devPtr, const char* key, uint64_t flags);

/// Ends this process's oldest import by the key, when the work queued before has run. With no import
/// left it ends the export, if that is this process's: later imports fail, and the block lives on.
/// [context]
/// @retval ACL_ERROR_RT_PARAM_INVALID  this process has neither an import nor an export of that key
ADVSTEP_API aclError aclrtIpcMemClose(const char* key);

/// Adds processes to the white list of a key of this process.
/// @param[in] num  >= 1, else ACL_ERROR_RT_PARAM_INVALID
/// @retval ACL_ERROR_RT_PARAM_INVALID  this process exports no such key
ADVSTEP_API aclError aclrtIpcMemSetImportPid(const char* key, int32_t* pid, size_t num);

/// Sets the rights of locations to use a mapping. The calls keep them; nothing is refused for them.
/// @param[in] virPtr, size  those of one aclrtMapMem
/// @param[in] desc          count rights: ACL_RT_MEM_ACCESS_FLAGS_NONE, _READ or _READWRITE, for a
///                          device or for the host
/// @retval ACL_ERROR_RT_PARAM_INVALID       virPtr or desc is NULL, count is 0, or one is not as
///                                          above
/// @retval ACL_ERROR_RT_INVALID_DEVICEID    there is no such device
/// @retval ACL_ERROR_RT_DRV_INTERNAL_ERROR  a location has other rights there already; the device
///                                          of the memory begins with READWRITE. Nothing is set
ADVSTEP_API aclError aclrtMemSetAccess(void* virPtr, size_t size, aclrtMemAccessDesc* desc,
                                       size_t count);

/// Returns the rights of a location at an address of a mapping.
/// @param[out] flag  an aclrtMemAccessFlags; NONE for a location that never got any
/// @retval ACL_ERROR_RT_PARAM_INVALID  no memory is mapped there
ADVSTEP_API aclError aclrtMemGetAccess(void* virPtr, aclrtMemLocation* location, uint64_t* flag);

/// Returns the handle of the memory that is mapped at any address. Each call needs one more
/// aclrtFreePhysical.
/// @retval ACL_ERROR_RT_PARAM_INVALID  no memory is mapped there
ADVSTEP_API aclError aclrtMemRetainAllocationHandle(void* virPtr, aclrtDrvMemHandle* handle);

/// Returns the properties with which the memory was allocated; of imported memory its device in this
/// process, and ACL_HBM_MEM_HUGE.
ADVSTEP_API aclError aclrtMemGetAllocationPropertiesFromHandle(aclrtDrvMemHandle handle,
                                                               aclrtPhysicalMemProp* prop);

/// Returns the block around an address: of aclrtMalloc and its kin, aclrtMallocHost, aclrtMapMem or
/// an import.
/// @param[out] pbase, psize  one of them may be NULL
/// @retval ACL_ERROR_RT_PARAM_INVALID  both are NULL; the address is in no such block
ADVSTEP_API aclError aclrtMemGetAddressRange(void* ptr, void** pbase, size_t* psize);

/// As aclrtReserveMemAddress. [context]
/// @param[in] size       a multiple of 1 GiB, else ACL_ERROR_RT_PARAM_INVALID
/// @param[in] expectPtr  not NULL, else ACL_ERROR_RT_PARAM_INVALID
ADVSTEP_API aclError aclrtReserveMemAddressNoUCMemory(void** virPtr, size_t size, size_t alignment,
                                                      void* expectPtr, uint64_t flags);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_RT_SHARED_MEMORY_H_ */
