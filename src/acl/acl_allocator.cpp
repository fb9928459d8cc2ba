// SPDX-License-Identifier: Apache-2.0
// Allocators of a program: their descriptions, and their registrations by stream.

#include "acl/rt/allocator.h"

#include "src/base/boundary.h"
#include "src/runtime/stream/allocators.h"
#include "src/runtime/stream/current.h"
#include "src/runtime/stream/stream.h"

using namespace advstep;

namespace {

// Sets a part of a description; `name` is that of the argument that has the value.
template <typename Part>
aclError SetPart(const char* call, aclrtAllocatorDesc allocatorDesc, Part Allocator::*part,
                 Part value, const char* name) {
    return AclBoundary(call, [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(allocatorDesc, "allocatorDesc"));
        if (value == nullptr) {
            return Error(ACL_ERROR_INVALID_PARAM, "{} is null; expected a pointer", name);
        }
        return TheAllocators().Set(allocatorDesc, part, value);
    });
}

// Finds a stream that lives and is of the current context.
Status FindLive(aclrtStream stream, StreamRef* target) {
    ADVSTEP_RETURN_IF_ERROR(FindStream(stream, target));
    return target->Inspect([](const StreamIdentity&) { return Status(); });
}

}  // namespace

aclrtAllocatorDesc aclrtAllocatorCreateDesc(void) {
    Handle handle = 0;
    (void)AclBoundary("aclrtAllocatorCreateDesc", [&] {
        handle = TheAllocators().AddDescription();
        return Status();
    });
    return ToPointer(handle);
}

aclError aclrtAllocatorDestroyDesc(aclrtAllocatorDesc allocatorDesc) {
    return AclBoundary("aclrtAllocatorDestroyDesc", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(allocatorDesc, "allocatorDesc"));
        return TheAllocators().RemoveDescription(allocatorDesc);
    });
}

aclError aclrtAllocatorSetObjToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocator allocator) {
    return SetPart("aclrtAllocatorSetObjToDesc", allocatorDesc, &Allocator::object, allocator,
                   "allocator");
}

aclError aclrtAllocatorSetAllocFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                          aclrtAllocatorAllocFunc func) {
    return SetPart("aclrtAllocatorSetAllocFuncToDesc", allocatorDesc, &Allocator::alloc, func,
                   "func");
}

aclError aclrtAllocatorSetFreeFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                         aclrtAllocatorFreeFunc func) {
    return SetPart("aclrtAllocatorSetFreeFuncToDesc", allocatorDesc, &Allocator::free, func,
                   "func");
}

aclError aclrtAllocatorSetAllocAdviseFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                                aclrtAllocatorAllocAdviseFunc func) {
    return SetPart("aclrtAllocatorSetAllocAdviseFuncToDesc", allocatorDesc, &Allocator::allocAdvise,
                   func, "func");
}

aclError aclrtAllocatorSetGetAddrFromBlockFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                                     aclrtAllocatorGetAddrFromBlockFunc func) {
    return SetPart("aclrtAllocatorSetGetAddrFromBlockFuncToDesc", allocatorDesc,
                   &Allocator::getAddrFromBlock, func, "func");
}

aclError aclrtAllocatorRegister(aclrtStream stream, aclrtAllocatorDesc allocatorDesc) {
    return AclBoundary("aclrtAllocatorRegister", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(allocatorDesc, "allocatorDesc"));
        StreamRef target;
        ADVSTEP_RETURN_IF_ERROR(FindLive(stream, &target));
        return TheAllocators().Register(target.handle, allocatorDesc);
    });
}

aclError aclrtAllocatorUnregister(aclrtStream stream) {
    return AclBoundary("aclrtAllocatorUnregister", [&]() -> Status {
        StreamRef target;
        ADVSTEP_RETURN_IF_ERROR(FindLive(stream, &target));
        return TheAllocators().Unregister(target.handle);
    });
}

aclError aclrtAllocatorGetByStream(aclrtStream stream, aclrtAllocatorDesc* allocatorDesc,
                                   aclrtAllocator* allocator, aclrtAllocatorAllocFunc* allocFunc,
                                   aclrtAllocatorFreeFunc* freeFunc,
                                   aclrtAllocatorAllocAdviseFunc* allocAdviseFunc,
                                   aclrtAllocatorGetAddrFromBlockFunc* getAddrFromBlockFunc) {
    return AclBoundary("aclrtAllocatorGetByStream", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(allocatorDesc, "allocatorDesc"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(allocator, "allocator"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(allocFunc, "allocFunc"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(freeFunc, "freeFunc"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(allocAdviseFunc, "allocAdviseFunc"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(getAddrFromBlockFunc, "getAddrFromBlockFunc"));
        StreamRef target;
        ADVSTEP_RETURN_IF_ERROR(FindLive(stream, &target));
        Allocators::Registration found;
        ADVSTEP_RETURN_IF_ERROR(TheAllocators().Find(target.handle, &found));
        *allocatorDesc = ToPointer(found.description);
        *allocator = found.allocator.object;
        *allocFunc = found.allocator.alloc;
        *freeFunc = found.allocator.free;
        *allocAdviseFunc = found.allocator.allocAdvise;
        *getAddrFromBlockFunc = found.allocator.getAddrFromBlock;
        return {};
    });
}
