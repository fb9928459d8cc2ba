// SPDX-License-Identifier: Apache-2.0
// Creates conditions, records conditional tasks and begins the captures of their sub-graphs.

#include "src/runtime/capture/capture_part.h"

#include <memory>
#include <new>

#include "acl/acl_base.h"
#include "src/runtime/capture/capture.h"
#include "src/runtime/capture/condition.h"
#include "src/runtime/stream/current.h"

namespace advstep {
namespace {

Status FindCondition(const void* handle, Condition** condition) {
    *condition = Conditions().Find(ToHandle(handle));
    return *condition != nullptr
               ? Status()
               : Error(ACL_ERROR_RT_PARAM_INVALID,
                       "handle {} is no condition; expected one of aclmdlRICondHandleCreate",
                       handle);
}

}  // namespace

Status CreateCondition(Handle model, uint64_t launchValue, bool resets, Handle* handle) {
    Model* found = nullptr;
    ADVSTEP_RETURN_IF_ERROR(FindModel(ToPointer(model), &found));
    std::shared_ptr<CaptureSession> session;
    int depth = 0;
    ADVSTEP_RETURN_IF_ERROR(found->FindCapture(model, &session, &depth));
    const auto entry = Conditions().Acquire();
    Status made;
    bool open = false;
    try {
        made = entry.object->Open(entry.handle,
                                  {model, session->context(), launchValue, resets, depth});
        open = made.ok();
        if (open) {
            made = session->AddCondition(entry.object);
        }
    } catch (const std::bad_alloc&) {
        made = Status(ACL_ERROR_BAD_ALLOC);
    }
    if (!made.ok()) {
        if (open) {
            entry.object->Close();
        }
        Conditions().Release(entry.object);
        return made;
    }
    *handle = entry.handle;
    return {};
}

Status FindConditionVariable(const void* handle, uint64_t** address) {
    Condition* condition = nullptr;
    ADVSTEP_RETURN_IF_ERROR(FindCondition(handle, &condition));
    return condition->Address(ToHandle(handle), address);
}

Status AddConditionalTask(const aclmdlRICondTaskParams& params, const StreamRef& stream) {
    std::shared_ptr<CaptureSession> session;
    int32_t branch = 0;
    ADVSTEP_RETURN_IF_ERROR(FindSession(stream, &session, &branch));
    Condition* condition = nullptr;
    ADVSTEP_RETURN_IF_ERROR(FindCondition(params.handle, &condition));
    ADVSTEP_RETURN_IF_ERROR(
        condition->AddParts(ToHandle(params.handle), session->model(), params.type, params.size));
    Status recorded;
    try {
        recorded = session->AddConditionalTask(branch, condition);
    } catch (const std::bad_alloc&) {
        recorded = Status(ACL_ERROR_BAD_ALLOC);
    }
    if (!recorded.ok()) {
        condition->RemoveParts(ToHandle(params.handle));
        return recorded;
    }
    condition->ListParts(ToHandle(params.handle), params.modelRIArray);
    return {};
}

Status BeginPartCapture(const StreamRef& stream, const void* model, aclmdlRICaptureMode mode) {
    ContextRef context;
    ADVSTEP_RETURN_IF_ERROR(CurrentContext(&context));
    Model* found = nullptr;
    ADVSTEP_RETURN_IF_ERROR(FindModel(model, &found));
    const auto session =
        std::make_shared<CaptureSession>(context, stream.handle, mode, ToHandle(model), true);
    ADVSTEP_RETURN_IF_ERROR(found->BeginPart(ToHandle(model), session));
    return StartCapture(stream, session);
}

}  // namespace advstep
