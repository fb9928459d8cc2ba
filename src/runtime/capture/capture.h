#pragma once

#include "acl/acl_rt.h"
#include "src/base/status.h"
#include "src/runtime/capture/capture_session.h"
#include "src/runtime/capture/model.h"
#include "src/runtime/stream/stream_ref.h"

namespace advstep {

/// Begin and end of captures, task groups and their updates: what joins streams, sessions, the
/// registry and models. Codes are those of the aclmdlRI calls (acl/rt/model_ri.h).
Status BeginCapture(const StreamRef& stream, aclmdlRICaptureMode mode);
Status EndCapture(const StreamRef& stream, Handle* model);
Status ReadCapture(const StreamRef& stream, aclmdlRICaptureStatus* status, Handle* model);

/// Ends it without a result.
void AbandonCapture(CaptureSession* session);

Status BeginTaskGroup(const StreamRef& stream);
Status EndTaskGroup(const StreamRef& stream, Handle* group);
Status BeginTaskUpdate(const StreamRef& stream, const void* group);
Status EndTaskUpdate(const StreamRef& stream);

/// The model of a handle; 107017 if it can be none. Whether it is alive is checked by every call.
Status FindModel(const void* handle, Model** model);

}  // namespace advstep
