// SPDX-License-Identifier: Apache-2.0
/// Device memory that processes share, and queries about mapped memory. Rules for every call:
/// acl/acl_rt.h; docs/runtime.md, "Memory between processes".
///
/// An export makes a handle or a key, which the program passes to other processes in any way. An
/// import makes the same bytes memory of a device in the importing process; nothing is copied. The
/// memory is freed when every process has freed or closed it. It counts as used memory in the
/// exporting process only. The white list of an export contains the processes that may import it;
/// with flag 1 all processes of the same user and of root may. An import by another process returns
/// ACL_ERROR_RT_NO_PERMISSION; so does one by a listed process of another user, unless the exporter
/// is root. A handle or key is a secret: only who has it can import.
///
/// An export moves a block that shares its pages' file with others to pages of its own, at the same
/// addresses. Threads and queued work may use the block meanwhile.
#ifndef ADVSTEP_ACL_RT_SHARED_MEMORY_H_
#define ADVSTEP_ACL_RT_SHARED_MEMORY_H_

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Exports physical memory. A handle can be exported once, and the export ends with the memory.
/// @param[in]  handleType       ACL_MEM_HANDLE_TYPE_NONE, else ACL_ERROR_INVALID_PARAM
/// @param[in]  flags            ACL_RT_VMM_EXPORT_FLAG_DEFAULT: only listed processes may import;
///                              _DISABLE_PID_VALIDATION: all processes of the user and root may
/// @param[out] shareableHandle  a number that is valid in every process of the machine
/// @retval ACL_ERROR_INVALID_PARAM         handle or shareableHandle is NULL; handleType is not
///                                         NONE
/// @retval ACL_ERROR_RT_PARAM_INVALID      flags is unknown; the handle has been exported, or is
///                                         itself an import
/// @retval ACL_ERROR_RT_MEMORY_ALLOCATION  the host has no memory, descriptor or thread left for
///                                         the export
ADVSTEP_API aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle handle,
                                                     aclrtMemHandleType handleType, uint64_t flags,
                                                     uint64_t* shareableHandle);

/// As aclrtMemExportToShareableHandle.
/// @param[in]  shareType        ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT or _FABRIC, else
///                              ACL_ERROR_RT_PARAM_INVALID
/// @param[out] shareableHandle  a uint64_t for DEFAULT, an aclrtMemFabricHandle for FABRIC
ADVSTEP_API aclError aclrtMemExportToShareableHandleV2(aclrtDrvMemHandle handle, uint64_t flags,
                                                       aclrtMemSharedHandleType shareType,
                                                       void* shareableHandle);

/// Imports memory of another process. aclrtMapMem maps the new handle, and aclrtFreePhysical frees
/// it. The exporting process must run during this call, and may end after it. If the two devices
/// have different numbers, the call also lets them access each other, as
/// aclrtDeviceEnablePeerAccess does.
/// @param[in] deviceId  the device of this process that gets the memory
/// @retval ACL_ERROR_INVALID_PARAM          handle is NULL
/// @retval ACL_ERROR_RT_PARAM_INVALID       no live process exports shareableHandle, or the memory
///                                          has been freed; this process exports or has imported it
/// @retval ACL_ERROR_RT_INVALID_DEVICEID    deviceId is not in [0, device count)
/// @retval ACL_ERROR_RT_NO_PERMISSION       this process is not in the white list, or is of
///                                          another user
/// @retval ACL_ERROR_RT_DRV_INTERNAL_ERROR  the exporting process does not answer within 10 s, or
///                                          another one answers in its place
/// @retval ACL_ERROR_RT_MEMORY_ALLOCATION   no descriptor is free
ADVSTEP_API aclError aclrtMemImportFromShareableHandle(uint64_t shareableHandle, int32_t deviceId,
                                                       aclrtDrvMemHandle* handle);

/// As aclrtMemImportFromShareableHandle, for the current context's device. [context]
/// @param[in] shareableHandle  the handle that aclrtMemExportToShareableHandleV2 wrote, of the type
///                             shareType
/// @param[in] flags            0, else ACL_ERROR_INVALID_PARAM
ADVSTEP_API aclError aclrtMemImportFromShareableHandleV2(void* shareableHandle,
                                                         aclrtMemSharedHandleType shareType,
                                                         uint64_t flags, aclrtDrvMemHandle* handle);

/// Adds processes to the white list of an export of this process. A later process of the same id is
/// not meant.
/// @param[in] pid     pidNum process ids, as aclrtDeviceGetBareTgid and getpid() return them
/// @param[in] pidNum  1 to 65536, else ACL_ERROR_INVALID_PARAM
/// @retval ACL_ERROR_INVALID_PARAM     pid is NULL
/// @retval ACL_ERROR_RT_PARAM_INVALID  this process exports no such handle; there is no such
///                                     process
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
///                     _DISABLE_PID_VALIDATION: all processes of the user and root may. A second
///                     export does not change the first one's choice
/// @retval ACL_ERROR_RT_PARAM_INVALID      devPtr, size, len or flags is not as above
/// @retval ACL_ERROR_RT_MEMORY_ALLOCATION  as aclrtMemExportToShareableHandle
ADVSTEP_API aclError aclrtIpcMemGetExportKey(void* devPtr, size_t size, char* key, size_t len,
                                             uint64_t flags);

/// Imports the block of a key as memory of the current context's device. Each import has addresses
/// of its own, even in the exporting process. aclrtIpcMemClose ends an import; aclrtFree refuses
/// its address. [context]
/// @param[in] flags  ACL_RT_IPC_MEM_IMPORT_FLAG_DEFAULT or _ENABLE_PEER_ACCESS, which also lets the
///                   two devices access each other
/// @retval ACL_ERROR_RT_PARAM_INVALID       key is no key; no live process exports it; flags is
///                                          unknown
/// @retval ACL_ERROR_RT_NO_PERMISSION       this process is not in the white list, or is of
///                                          another user
/// @retval ACL_ERROR_RT_DRV_INTERNAL_ERROR  the exporting process does not answer within 10 s, or
///                                          another one answers in its place
/// @retval ACL_ERROR_RT_MEMORY_ALLOCATION   the host cannot map the block, or no descriptor is free
ADVSTEP_API aclError aclrtIpcMemImportByKey(void** devPtr, const char* key, uint64_t flags);

/// Ends this process's oldest import by the key; the memory is unmapped when the work queued before
/// this call has run. If this process has no import by the key, the call ends its export: later
/// imports fail, and the block lives on. [context]
/// @retval ACL_ERROR_RT_PARAM_INVALID  this process has neither an import nor an export of that key
ADVSTEP_API aclError aclrtIpcMemClose(const char* key);

/// Adds processes to the white list of a key of this process, as aclrtMemSetPidToShareableHandle.
/// @param[in] pid  num process ids
/// @param[in] num  1 to 65536, else ACL_ERROR_RT_PARAM_INVALID
/// @retval ACL_ERROR_RT_PARAM_INVALID  this process exports no such key; there is no such process
ADVSTEP_API aclError aclrtIpcMemSetImportPid(const char* key, int32_t* pid, size_t num);

/// Sets the rights of locations to use a mapping. The library keeps the rights and does not enforce
/// them.
/// @param[in] virPtr, size  those of one aclrtMapMem call
/// @param[in] desc          count rights: ACL_RT_MEM_ACCESS_FLAGS_NONE, _READ or _READWRITE, for a
///                          device or for the host
/// @retval ACL_ERROR_RT_PARAM_INVALID       virPtr or desc is NULL, or not as above; count is 0
/// @retval ACL_ERROR_RT_INVALID_DEVICEID    there is no such device
/// @retval ACL_ERROR_RT_DRV_INTERNAL_ERROR  a location already has other rights: the device of the
///                                          memory has READWRITE from the start. No right changes
ADVSTEP_API aclError aclrtMemSetAccess(void* virPtr, size_t size, aclrtMemAccessDesc* desc,
                                       size_t count);

/// Returns the rights of a location at an address of a mapping.
/// @param[in]  virPtr    any address of the mapping
/// @param[in]  location  a device or the host
/// @param[out] flag      an aclrtMemAccessFlags; NONE for a location whose rights were never set
/// @retval ACL_ERROR_RT_PARAM_INVALID     no memory is mapped at virPtr; location is not as above
/// @retval ACL_ERROR_RT_INVALID_DEVICEID  there is no such device
ADVSTEP_API aclError aclrtMemGetAccess(void* virPtr, aclrtMemLocation* location, uint64_t* flag);

/// Returns the handle of the physical memory that is mapped at an address. Each call needs one more
/// aclrtFreePhysical.
/// @param[in] virPtr  any address of a mapping
/// @retval ACL_ERROR_RT_PARAM_INVALID  no memory is mapped at virPtr
ADVSTEP_API aclError aclrtMemRetainAllocationHandle(void* virPtr, aclrtDrvMemHandle* handle);

/// Returns the properties with which the memory was allocated. The properties of imported memory
/// are its device in this process and ACL_HBM_MEM_HUGE.
ADVSTEP_API aclError aclrtMemGetAllocationPropertiesFromHandle(aclrtDrvMemHandle handle,
                                                               aclrtPhysicalMemProp* prop);

/// Returns the block around an address. Blocks are those of the aclrtMalloc and aclrtMallocHost
/// calls, mappings of aclrtMapMem, and imports.
/// @param[out] pbase, psize  the block's start and its bytes; one of them may be NULL
/// @retval ACL_ERROR_RT_PARAM_INVALID  both are NULL; the address is in no such block
ADVSTEP_API aclError aclrtMemGetAddressRange(void* ptr, void** pbase, size_t* psize);

/// As aclrtReserveMemAddress, with narrower rules for two arguments.
/// @param[in] size       a multiple of 1 GiB, else ACL_ERROR_RT_PARAM_INVALID
/// @param[in] expectPtr  not NULL, else ACL_ERROR_RT_PARAM_INVALID
ADVSTEP_API aclError aclrtReserveMemAddressNoUCMemory(void** virPtr, size_t size, size_t alignment,
                                                      void* expectPtr, uint64_t flags);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_RT_SHARED_MEMORY_H_ */
