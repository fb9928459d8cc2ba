// SPDX-License-Identifier: Apache-2.0
/// Allocators of a program, by stream. The library keeps them for other libraries of the program
/// and takes no memory from them: its own operators allocate nothing. Rules for every call:
/// acl/acl_rt.h.
#ifndef ADVSTEP_ACL_RT_ALLOCATOR_H_
#define ADVSTEP_ACL_RT_ALLOCATOR_H_

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef void* aclrtAllocatorDesc; /* a description of an allocator */
typedef void* aclrtAllocator;     /* the program's object */
typedef void* aclrtAllocatorBlock;
typedef void* aclrtAllocatorAddr;

/// Allocates size bytes.
typedef aclrtAllocatorBlock (*aclrtAllocatorAllocFunc)(aclrtAllocator allocator, size_t size);
/// Frees a block.
typedef void (*aclrtAllocatorFreeFunc)(aclrtAllocator allocator, aclrtAllocatorBlock block);
/// Allocates size bytes, at the address if that is possible.
typedef aclrtAllocatorBlock (*aclrtAllocatorAllocAdviseFunc)(aclrtAllocator allocator, size_t size,
                                                             aclrtAllocatorAddr addr);
/// Returns the address of a block.
typedef aclrtAllocatorAddr (*aclrtAllocatorGetAddrFromBlockFunc)(aclrtAllocatorBlock block);

/// Creates a description, in which all is NULL. Returns NULL if memory is short.
ADVSTEP_API aclrtAllocatorDesc aclrtAllocatorCreateDesc(void);

/// Destroys a description. Registrations of it stay.
ADVSTEP_API aclError aclrtAllocatorDestroyDesc(aclrtAllocatorDesc allocatorDesc);

/// These five calls set a part of the description; registrations that exist do not change.
/// @retval ACL_ERROR_INVALID_PARAM  an argument is NULL
ADVSTEP_API aclError aclrtAllocatorSetObjToDesc(aclrtAllocatorDesc allocatorDesc,
                                                aclrtAllocator allocator);
ADVSTEP_API aclError aclrtAllocatorSetAllocFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                                      aclrtAllocatorAllocFunc func);
ADVSTEP_API aclError aclrtAllocatorSetFreeFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                                     aclrtAllocatorFreeFunc func);
ADVSTEP_API aclError aclrtAllocatorSetAllocAdviseFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                                            aclrtAllocatorAllocAdviseFunc func);
ADVSTEP_API aclError aclrtAllocatorSetGetAddrFromBlockFuncToDesc(
    aclrtAllocatorDesc allocatorDesc, aclrtAllocatorGetAddrFromBlockFunc func);

/// Registers what the description has now for a stream, in place of an earlier registration. It
/// ends with the stream. [context]
/// @retval ACL_ERROR_RT_PARAM_INVALID  the description has no object, or lacks one of the functions
///                                     that allocate, free and give an address; that of advice may
///                                     be missing
ADVSTEP_API aclError aclrtAllocatorRegister(aclrtStream stream, aclrtAllocatorDesc allocatorDesc);

/// Ends the registration of a stream. [context]
/// @retval ACL_ERROR_RT_PARAM_INVALID  the stream has none
ADVSTEP_API aclError aclrtAllocatorUnregister(aclrtStream stream);

/// Returns the registration of a stream: the handle of the description, which may have been
/// destroyed, and its parts. [context]
/// @retval ACL_ERROR_RT_PARAM_INVALID  the stream has none
ADVSTEP_API aclError aclrtAllocatorGetByStream(
    aclrtStream stream, aclrtAllocatorDesc* allocatorDesc, aclrtAllocator* allocator,
    aclrtAllocatorAllocFunc* allocFunc, aclrtAllocatorFreeFunc* freeFunc,
    aclrtAllocatorAllocAdviseFunc* allocAdviseFunc,
    aclrtAllocatorGetAddrFromBlockFunc* getAddrFromBlockFunc);

#ifdef __cplusplus
}
#endif

#endif /* ADVSTEP_ACL_RT_ALLOCATOR_H_ */
