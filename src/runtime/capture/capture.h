// SPDX-License-Identifier: Apache-2.0
// The calls of captures and task groups, below the aclmdlRI functions.

#pragma once

#include <memory>

#include "acl/acl_rt.h"
#include "src/base/status.h"
#include "src/runtime/capture/capture_session.h"
#include "src/runtime/capture/model.h"
#include "src/runtime/stream/stream_ref.h"

namespace advstep {

/// The begin and the end of captures, task groups and their updates: these calls connect streams,
/// sessions, the registry and models. Codes as the aclmdlRI calls (acl/rt/model_ri.h).
Status BeginCapture(const StreamRef& stream, aclmdlRICaptureMode mode);
Status EndCapture(const StreamRef& stream, Handle* model);
Status ReadCapture(const StreamRef& stream, aclmdlRICaptureStatus* status, Handle* model);

/// Starts the capture on the stream. The model that it becomes refers to the session already.
Status StartCapture(const StreamRef& stream, const std::shared_ptr<CaptureSession>& session);

/// Finds the session that captures the stream. 107029: there is none.
Status FindSession(const StreamRef& stream, std::shared_ptr<CaptureSession>* session,
                   int32_t* branch);

/// Ends the capture without a result.
void AbandonCapture(CaptureSession* session);

Status BeginTaskGroup(const StreamRef& stream);
Status EndTaskGroup(const StreamRef& stream, Handle* group);
Status BeginTaskUpdate(const StreamRef& stream, const void* group);
Status EndTaskUpdate(const StreamRef& stream);

/// Finds the model of a handle. 107017: the handle can be no model. Each call of Model checks
/// whether the model is alive.
Status FindModel(const void* handle, Model** model);

}  // namespace advstep
