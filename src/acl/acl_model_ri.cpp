// SPDX-License-Identifier: Apache-2.0
// The calls that capture, replay and destroy models.
#include "acl/acl_rt.h"
#include "src/acl/capture_mode.h"
#include "src/base/boundary.h"
#include "src/base/live_objects.h"
#include "src/runtime/capture/capture.h"
#include "src/runtime/capture/capture_registry.h"
#include "src/runtime/capture/model.h"
#include "src/runtime/stream/current.h"
#include "src/runtime/stream/stream_ref.h"
#include "src/runtime/task/ticket.h"
#include "src/runtime/task/wait_limit.h"

using namespace advstep;

namespace {

// The capture calls refuse a null stream; it does not denote the default stream.
Status FindNamedStream(aclrtStream stream, StreamRef* found) {
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(stream, "stream"));
    return FindStream(stream, found);
}

Status RequireModel(aclmdlRI modelRI, Model** model) {
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(modelRI, "modelRI"));
    return FindModel(modelRI, model);
}

}  // namespace

aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode) {
    return AclBoundary("aclmdlRICaptureBegin", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(stream, "stream"));
        ADVSTEP_RETURN_IF_ERROR(CheckCaptureMode(mode, "mode"));
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
        Handle model = 0;
        ADVSTEP_RETURN_IF_ERROR(EndCapture(found, &model));
        *modelRI = ToPointer(model);
        // A sub-graph is destroyed with its model.
        return Models().Find(model)->IsPart(model)
                   ? Status()
                   : Made({}, ObjectKind::kModel, "aclmdlRICaptureEnd", modelRI);
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
        Handle model = 0;
        ADVSTEP_RETURN_IF_ERROR(ReadCapture(found, &now, &model));
        if (status != nullptr) {
            *status = now;
        }
        if (modelRI != nullptr) {
            *modelRI = ToPointer(model);
        }
        return {};
    });
}

aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode* mode) {
    return AclBoundary("aclmdlRICaptureThreadExchangeMode", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(mode, "mode"));
        ADVSTEP_RETURN_IF_ERROR(CheckCaptureMode(*mode, "*mode"));
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
        Model* model = nullptr;
        ADVSTEP_RETURN_IF_ERROR(RequireModel(modelRI, &model));
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        return model->Replay(ToHandle(modelRI), found);
    });
}

aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout) {
    return AclBoundary("aclmdlRIExecute", [&]() -> Status {
        Model* model = nullptr;
        ADVSTEP_RETURN_IF_ERROR(RequireModel(modelRI, &model));
        WaitLimit limit{"modelRI", modelRI};
        ADVSTEP_RETURN_IF_ERROR(MakeWaitLimit(timeout, ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, &limit));
        ADVSTEP_RETURN_IF_ERROR(RefuseInsideTask());
        ContextRef current;
        ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
        return model->Execute(ToHandle(modelRI), current.handle, limit);
    });
}

aclError aclmdlRIDestroy(aclmdlRI modelRI) {
    return AclBoundary("aclmdlRIDestroy", [&]() -> Status {
        Model* model = nullptr;
        ADVSTEP_RETURN_IF_ERROR(RequireModel(modelRI, &model));
        ADVSTEP_RETURN_IF_ERROR(
            Freeing(ObjectKind::kModel, modelRI, [&] { return model->Close(ToHandle(modelRI)); }));
        Models().Release(model);
        return {};
    });
}
