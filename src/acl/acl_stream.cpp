// SPDX-License-Identifier: Apache-2.0
// Stream calls: create, destroy, synchronise, query, abort, and host functions.

#include <new>

#include "acl/acl_rt.h"
#include "src/acl/failure_mode.h"
#include "src/acl/make_stream.h"
#include "src/base/boundary.h"
#include "src/base/live_objects.h"
#include "src/runtime/lifecycle/context_end.h"
#include "src/runtime/stream/current.h"
#include "src/runtime/stream/stream_ref.h"
#include "src/runtime/stream/stream_state.h"
#include "src/runtime/stream/streams.h"
#include "src/runtime/task/wait_limit.h"

using namespace advstep;

namespace {

Status EndStream(aclrtStream stream, bool drop) {
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(stream, "stream"));
    StreamRef found;
    ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
    StreamRef defaultStream;
    ADVSTEP_RETURN_IF_ERROR(FindStream(nullptr, &defaultStream));
    if (found.handle == defaultStream.handle) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "stream {} is the context's default stream; expected one of "
                     "aclrtCreateStream",
                     stream);
    }
    DestroyAnnouncement announcement;
    ADVSTEP_RETURN_IF_ERROR(announcement.Add(found));
    return Freeing(ObjectKind::kStream, stream, [&] { return advstep::EndStream(found, drop); });
}

struct HostFunctionTask : Task {
    aclrtHostFunc function;
    void* args;
};

}  // namespace

aclError aclrtCreateStream(aclrtStream* stream) {
    return AclBoundary("aclrtCreateStream",
                       [&] { return MakeStream("aclrtCreateStream", stream, 0, 0); });
}

aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority, uint32_t flag) {
    static constexpr char kCall[] = "aclrtCreateStreamWithConfig";
    return AclBoundary(kCall, [&] { return MakeStream(kCall, stream, priority, flag); });
}

aclError aclrtDestroyStream(aclrtStream stream) {
    return AclBoundary("aclrtDestroyStream", [&] { return EndStream(stream, false); });
}

aclError aclrtDestroyStreamForce(aclrtStream stream) {
    return AclBoundary("aclrtDestroyStreamForce", [&] { return EndStream(stream, true); });
}

aclError aclrtSynchronizeStream(aclrtStream stream) {
    return AclBoundary("aclrtSynchronizeStream", [&]() -> Status {
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        return found.Synchronize();
    });
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
    return AclBoundary("aclrtSynchronizeStreamWithTimeout", [&]() -> Status {
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        WaitLimit limit{stream != nullptr ? "stream" : "the default stream", stream};
        ADVSTEP_RETURN_IF_ERROR(MakeWaitLimit(timeout, ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, &limit));
        return found.Synchronize(limit);
    });
}

aclError aclrtStreamStop(aclrtStream stream) {
    return AclBoundary("aclrtStreamStop", [&]() -> Status {
        if (stream == nullptr) {
            return Error(ACL_ERROR_RT_PARAM_INVALID,
                         "stream is null; expected a stream of aclrtCreateStream");
        }
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        return found.StopFront();
    });
}

aclError aclrtStreamAbort(aclrtStream stream) {
    return AclBoundary("aclrtStreamAbort", [&]() -> Status {
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        return found.Abort();
    });
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status) {
    return AclBoundary("aclrtStreamQuery", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(status, "status"));
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        bool complete = false;
        ADVSTEP_RETURN_IF_ERROR(found.Query(&complete));
        *status = complete ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
        return {};
    });
}

aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void* args) {
    return AclBoundary("aclrtLaunchHostFunc", [&]() -> Status {
        if (fn == nullptr) {
            return Error(ACL_ERROR_INVALID_PARAM, "fn is null; expected a function");
        }
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        return found.Enqueue(sizeof(HostFunctionTask), [&](void* memory) {
            auto* const task = new (memory) HostFunctionTask;
            task->name = "host function";
            task->run = [](const Task& base) {
                const auto& host = static_cast<const HostFunctionTask&>(base);
                host.function(host.args);
                return Status();
            };
            task->kind = TaskKind::kHostFunction;
            task->function = fn;
            task->args = args;
            return task;
        });
    });
}

aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode) {
    return AclBoundary("aclrtSetStreamFailureMode", [&]() -> Status {
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        return SetFailureMode(found, "mode", mode);
    });
}
