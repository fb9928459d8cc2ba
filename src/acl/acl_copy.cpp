#include <cstring>

#include "acl/acl_rt.h"
#include "src/base/boundary.h"
#include "src/runtime/copy.h"
#include "src/runtime/current.h"

using namespace advstep;

namespace {

// Waits for one's own queued copy of pageable memory. Inside a host function that could wait for
// that very function, so it is refused before anything is queued.
Status RefusePageableInsideTask() {
    return InsideTask()
               ? Error(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                       "copies pageable host memory inside a host function, for which it might "
                       "wait; expected pinned memory of aclrtMallocHost")
               : Status();
}

Status CopyAsync(const CopyRequest& request, aclrtStream stream) {
    ADVSTEP_RETURN_IF_ERROR(CheckCopyArguments(request));
    StreamRef target;
    ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &target));
    CopySides sides;
    ADVSTEP_RETURN_IF_ERROR(CheckCopyRanges(TheResources().memory, request, &sides));
    const bool hostToHost =
        request.kind == ACL_MEMCPY_HOST_TO_HOST ||
        (request.kind == ACL_MEMCPY_DEFAULT && !sides.touchesDevice && request.count > 0);
    if (hostToHost) {
        return Error(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                     "kind is {}, a copy from host to host; expected a side in device memory",
                     static_cast<int>(request.kind));
    }
    if (request.count == 0) {
        return target.stream->Check(target.handle, target.caller);
    }
    if (sides.pageable) {
        ADVSTEP_RETURN_IF_ERROR(RefusePageableInsideTask());
    }
    Ticket done;
    ADVSTEP_RETURN_IF_ERROR(target.stream->Enqueue(
        target.handle, target.caller, sizeof(CopyTask),
        [&](void* memory) { return CopyTask::Make(memory, request); }, &done));
    if (!sides.pageable) {
        return {};
    }
    ADVSTEP_RETURN_IF_ERROR(WaitFor(done));
    return target.stream->CheckRan(done.sequence);
}

}  // namespace

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count,
                     aclrtMemcpyKind kind) {
    return AclBoundary("aclrtMemcpy", [&]() -> Status {
        const CopyRequest request{dst, destMax, src, count, kind};
        ADVSTEP_RETURN_IF_ERROR(CheckCopyArguments(request));
        ContextRef current;
        ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
        CopySides sides;
        ADVSTEP_RETURN_IF_ERROR(CheckCopyRanges(TheResources().memory, request, &sides));
        if (count > 0) {
            CopyNow(request);
        }
        return {};
    });
}

aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count,
                          aclrtMemcpyKind kind, aclrtStream stream) {
    return AclBoundary("aclrtMemcpyAsync", [&] {
        return CopyAsync({dst, destMax, src, count, kind}, stream);
    });
}

aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count) {
    return AclBoundary("aclrtMemset", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(devPtr, "devPtr"));
        ContextRef current;
        ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
        ADVSTEP_RETURN_IF_ERROR(CheckFill(TheResources().memory, devPtr, maxCount, count));
        std::memset(devPtr, value, count);
        return {};
    });
}

aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count,
                          aclrtStream stream) {
    return AclBoundary("aclrtMemsetAsync", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(devPtr, "devPtr"));
        StreamRef target;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &target));
        ADVSTEP_RETURN_IF_ERROR(CheckFill(TheResources().memory, devPtr, maxCount, count));
        return target.stream->Enqueue(
            target.handle, target.caller, sizeof(FillTask),
            [&](void* memory) { return FillTask::Make(memory, devPtr, value, count); });
    });
}
