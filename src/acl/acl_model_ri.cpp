// Capture and replay.
#include "acl/acl_rt.h"
#include "src/base/boundary.h"
#include "src/runtime/capture.h"
#include "src/runtime/capture_registry.h"
#include "src/runtime/current.h"
#include "src/runtime/graph.h"
#include "src/runtime/stream_ref.h"
#include "src/runtime/ticket.h"
#include "src/runtime/wait_limit.h"

using namespace advstep;

namespace {

Status CheckMode(aclmdlRICaptureMode mode, const char* argument) {
    const auto number = static_cast<int>(mode);
    return number >= ACL_MODEL_RI_CAPTURE_MODE_GLOBAL && number <= ACL_MODEL_RI_CAPTURE_MODE_RELAXED
               ? Status()
               : Error(ACL_ERROR_RT_PARAM_INVALID,
                       "{} is {}; expected ACL_MODEL_RI_CAPTURE_MODE_GLOBAL 0, THREAD_LOCAL 1 or "
                       "RELAXED 2",
                       argument, number);
}

// The capture calls mean no default stream by null.
Status FindNamedStream(aclrtStream stream, StreamRef* found) {
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(stream, "stream"));
    return FindStream(stream, found);
}

Status FindModel(aclmdlRI modelRI, Graph** graph) {
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(modelRI, "modelRI"));
    return FindGraph(modelRI, graph);
}

}  // namespace

aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode) {
    return AclBoundary("aclmdlRICaptureBegin", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(stream, "stream"));
        ADVSTEP_RETURN_IF_ERROR(CheckMode(mode, "mode"));
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        return BeginCapture(found, mode);
    });
}

aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI* modelRI) {
    return AclBoundary("aclmdlRICaptureEnd", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(stream, "stream"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(modelRI, "modelRI"));
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        Handle graph = 0;
        ADVSTEP_RETURN_IF_ERROR(EndCapture(found, &graph));
        *modelRI = ToPointer(graph);
        return {};
    });
}

aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus* status,
                                aclmdlRI* modelRI) {
    return AclBoundary("aclmdlRICaptureGetInfo", [&]() -> Status {
        StreamRef found;
        if (status == nullptr && modelRI == nullptr) {
            return Error(ACL_ERROR_INVALID_PARAM,
                         "status and modelRI are null; expected a pointer for one of them");
        }
        ADVSTEP_RETURN_IF_ERROR(FindNamedStream(stream, &found));
        aclmdlRICaptureStatus now = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
        Handle graph = 0;
        ADVSTEP_RETURN_IF_ERROR(ReadCapture(found, &now, &graph));
        if (status != nullptr) {
            *status = now;
        }
        if (modelRI != nullptr) {
            *modelRI = ToPointer(graph);
        }
        return {};
    });
}

aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode* mode) {
    return AclBoundary("aclmdlRICaptureThreadExchangeMode", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(mode, "mode"));
        ADVSTEP_RETURN_IF_ERROR(CheckMode(*mode, "*mode"));
        *mode = ExchangeThreadCaptureMode(*mode);
        return {};
    });
}

aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream) {
    return AclBoundary("aclmdlRICaptureTaskGrpBegin", [&]() -> Status {
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindNamedStream(stream, &found));
        return BeginTaskGroup(found);
    });
}

aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp* handle) {
    return AclBoundary("aclmdlRICaptureTaskGrpEnd", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(stream, "stream"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(handle, "handle"));
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        Handle group = 0;
        ADVSTEP_RETURN_IF_ERROR(EndTaskGroup(found, &group));
        *handle = ToPointer(group);
        return {};
    });
}

aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream, aclrtTaskGrp handle) {
    return AclBoundary("aclmdlRICaptureTaskUpdateBegin", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(stream, "stream"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(handle, "handle"));
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        ADVSTEP_RETURN_IF_ERROR(found.CheckFree());
        return BeginTaskUpdate(found, handle);
    });
}

aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream) {
    return AclBoundary("aclmdlRICaptureTaskUpdateEnd", [&]() -> Status {
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindNamedStream(stream, &found));
        return EndTaskUpdate(found);
    });
}

aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream) {
    return AclBoundary("aclmdlRIExecuteAsync", [&]() -> Status {
        Graph* graph = nullptr;
        ADVSTEP_RETURN_IF_ERROR(FindModel(modelRI, &graph));
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        return graph->Replay(ToHandle(modelRI), found);
    });
}

aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout) {
    return AclBoundary("aclmdlRIExecute", [&]() -> Status {
        Graph* graph = nullptr;
        ADVSTEP_RETURN_IF_ERROR(FindModel(modelRI, &graph));
        WaitLimit limit;
        ADVSTEP_RETURN_IF_ERROR(MakeWaitLimit(timeout, ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, &limit));
        ADVSTEP_RETURN_IF_ERROR(RefuseInsideTask());
        ContextRef current;
        ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
        return graph->Execute(ToHandle(modelRI), current.handle, limit);
    });
}

aclError aclmdlRIDestroy(aclmdlRI modelRI) {
    return AclBoundary("aclmdlRIDestroy", [&]() -> Status {
        Graph* graph = nullptr;
        ADVSTEP_RETURN_IF_ERROR(FindModel(modelRI, &graph));
        ADVSTEP_RETURN_IF_ERROR(graph->Close(ToHandle(modelRI)));
        Graphs().Release(graph);
        return {};
    });
}
