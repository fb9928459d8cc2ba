// SPDX-License-Identifier: Apache-2.0
// Calls that queue tasks without an effect on operators: overflow status and cache operations.
#include <new>

#include "acl/acl_rt.h"
#include "src/base/boundary.h"
#include "src/runtime/memory/copy.h"
#include "src/runtime/memory/copy_work.h"
#include "src/runtime/memory/memories.h"
#include "src/runtime/stream/current.h"
#include "src/runtime/stream/stream_ref.h"

using namespace advstep;

namespace {

constexpr size_t kOverflowStatusBytes = 64;

// Queues a task that only keeps its place in the stream.
Status EnqueueMark(const StreamRef& stream, const char* name) {
    return stream.Enqueue(Work(sizeof(Task)), [name](void* memory) {
        auto* const task = new (memory) Task;
        task->name = name;
        task->run = [](const Task&) { return Status(); };
        return task;
    });
}

// Finds a stream that is not being captured.
Status FindFreeStream(aclrtStream stream, StreamRef* found) {
    ADVSTEP_RETURN_IF_ERROR(FindStream(stream, found));
    ADVSTEP_RETURN_IF_ERROR(found->Check());
    return found->CheckFree();
}

}  // namespace

aclError aclrtGetOverflowStatus(void* outputAddr, size_t outputSize, aclrtStream stream) {
    return AclBoundary("aclrtGetOverflowStatus", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(outputAddr, "outputAddr"));
        if (outputSize != kOverflowStatusBytes) {
            return Error(ACL_ERROR_RT_PARAM_INVALID, "outputSize is {}; expected {}", outputSize,
                         kOverflowStatusBytes);
        }
        StreamRef target;
        ADVSTEP_RETURN_IF_ERROR(FindFreeStream(stream, &target));
        CopySides sides;
        ADVSTEP_RETURN_IF_ERROR(
            CheckFill(TheDeviceMemory(), outputAddr, "outputAddr", outputSize, &sides));
        const ContextRef* const context = LiveContext();
        const bool foreign = sides.ForeignTo(context != nullptr ? context->device : nullptr);
        const FillRange range{outputAddr, outputSize, foreign};
        return target.Enqueue(WorkOf(range), [&](void* memory) {
            return FillTask::Make(memory, outputAddr, 0, outputSize);
        });
    });
}

aclError aclrtResetOverflowStatus(aclrtStream stream) {
    return AclBoundary("aclrtResetOverflowStatus", [&]() -> Status {
        StreamRef target;
        ADVSTEP_RETURN_IF_ERROR(FindFreeStream(stream, &target));
        return EnqueueMark(target, "overflow reset");
    });
}

aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag) {
    return AclBoundary("aclrtSetStreamOverflowSwitch", [&]() -> Status {
        if (flag > 1) {
            return Error(ACL_ERROR_INVALID_PARAM, "flag is {}; expected 0 or 1", flag);
        }
        StreamRef target;
        ADVSTEP_RETURN_IF_ERROR(FindFreeStream(stream, &target));
        return target.Inspect([&](StreamIdentity& identity) {
            identity.attributes.overflowCheck = flag;
            return Status();
        });
    });
}

aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t* flag) {
    return AclBoundary("aclrtGetStreamOverflowSwitch", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(flag, "flag"));
        StreamRef target;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &target));
        return target.Inspect([&](const StreamIdentity& identity) {
            *flag = identity.attributes.overflowCheck;
            return Status();
        });
    });
}

aclError aclrtCmoAsync(void* src, size_t size, aclrtCmoType cmoType, aclrtStream stream) {
    return AclBoundary("aclrtCmoAsync", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(src, "src"));
        if (size == 0) {
            return Error(ACL_ERROR_INVALID_PARAM, "size is 0; expected at least 1 byte");
        }
        const auto number = static_cast<int>(cmoType);
        if (number < ACL_RT_CMO_TYPE_PREFETCH || number > ACL_RT_CMO_TYPE_FLUSH) {
            return Error(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                         "cmoType is {}; expected an aclrtCmoType", number);
        }
        StreamRef target;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &target));
        return EnqueueMark(target, "cache operation");
    });
}
