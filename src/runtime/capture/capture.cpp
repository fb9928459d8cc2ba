// SPDX-License-Identifier: Apache-2.0
// Begins and ends captures, and updates task groups.

#include "src/runtime/capture/capture.h"

#include <new>
#include <utility>

#include "acl/acl_base.h"
#include "src/runtime/capture/capture_registry.h"
#include "src/runtime/stream/current.h"

namespace advstep {
namespace {

// Takes the launches that replace those of a task group. mutex_ guards all members that change. It
// is taken under the stream's lock.
class UpdateRecorder : public Recorder {
 public:
    UpdateRecorder(Handle model, const TaskGroup::Span& span) : model_(model), span_(span) {}

    bool Over() const override { return false; }
    bool Captures() const override { return false; }
    Status CheckActive() const override { return {}; }

    Status Record(int32_t, const Work& work, const RecordFill& fill, bool*) override {
        if (work.role != Work::Role::kLaunch) {
            return CannotBeGrouped();
        }
        const std::lock_guard<std::mutex> lock(mutex_);
        launches_.push_back(RecordTask(work, fill));
        return {};
    }

    Status RecordWait(int32_t, const CapturePlace&, int64_t) override { return CannotBeGrouped(); }

    // Only captures have places that a stream could wait for.
    Status Join(const JoiningStream&, const CapturePlace&, int64_t, int32_t*) override {
        return CannotBeGrouped();
    }

    Handle model() const { return model_; }
    const TaskGroup::Span& span() const { return span_; }
    std::vector<RecordedTask> TakeLaunches() {
        const std::lock_guard<std::mutex> lock(mutex_);
        return std::move(launches_);
    }

 private:
    static Status CannotBeGrouped() {
        return Error(ACL_ERROR_STREAM_TASK_GROUP_INTR,
                     "the stream updates a task group, which takes operator launches only; "
                     "expected aclmdlRICaptureTaskUpdateEnd before");
    }

    const Handle model_;
    const TaskGroup::Span span_;
    std::mutex mutex_;
    std::vector<RecordedTask> launches_;
};

}  // namespace

Status FindSession(const StreamRef& stream, std::shared_ptr<CaptureSession>* session,
                   int32_t* branch) {
    std::shared_ptr<Recorder> recorder;
    ADVSTEP_RETURN_IF_ERROR(stream.FindRecorder(&recorder, branch));
    if (recorder == nullptr || !recorder->Captures()) {
        return Error(ACL_ERROR_RT_STREAM_NOT_CAPTURED,
                     "stream {} is not being captured; expected aclmdlRICaptureBegin before",
                     ToPointer(stream.handle));
    }
    *session = std::static_pointer_cast<CaptureSession>(recorder);
    return {};
}

namespace {

// Ends a model whose capture had no result. A sub-graph stays, and can be captured once more.
void CloseModel(Handle handle, const ContextRef& context) {
    Model* const model = Models().Find(handle);
    if (!model->ForgetCapture(handle) && model->CloseIfOf(context.handle, handle)) {
        Models().Release(model);
    }
}

}  // namespace

Status FindModel(const void* handle, Model** model) {
    Model* const found = Models().Find(ToHandle(handle));
    if (found == nullptr) {
        return Error(ACL_ERROR_RT_INVALID_HANDLE,
                     "modelRI {} is no model; expected one of aclmdlRICaptureEnd", handle);
    }
    *model = found;
    return {};
}

Status BeginCapture(const StreamRef& stream, aclmdlRICaptureMode mode) {
    ContextRef context;
    ADVSTEP_RETURN_IF_ERROR(CurrentContext(&context));
    const auto entry = Models().Acquire();
    std::shared_ptr<CaptureSession> session;
    try {
        session = std::make_shared<CaptureSession>(context, stream.handle, mode, entry.handle);
    } catch (...) {
        Models().Release(entry.object);
        throw;
    }
    entry.object->Open(entry.handle, context, session);
    return StartCapture(stream, session);
}

Status StartCapture(const StreamRef& stream, const std::shared_ptr<CaptureSession>& session) {
    session->KnowsItself(session);
    Status started;
    try {
        CaptureRegistry::Instance().Add(session);
        started = stream.StartRecording(session);
        if (started.ok() && !session->context().alive()) {
            // The context is being destroyed, perhaps by a thread that looked for captures before
            // this one was added.
            started = Error(ACL_ERROR_RT_CONTEXT_NULL, "the current context has been destroyed");
        }
    } catch (const std::bad_alloc&) {
        started = Status(ACL_ERROR_BAD_ALLOC);
    }
    if (!started.ok()) {
        CaptureRegistry::Instance().Remove(session.get());
        AbandonCapture(session.get());
    }
    return started;
}

Status EndCapture(const StreamRef& stream, Handle* model) {
    std::shared_ptr<CaptureSession> session;
    int32_t branch = 0;
    ADVSTEP_RETURN_IF_ERROR(FindSession(stream, &session, &branch));
    ModelBody body;
    bool over = false;
    const Status ended = session->End(stream.handle, &body, &over);
    if (!over) {
        return Status(ended.code(), ended.message());
    }
    CaptureRegistry::Instance().Remove(session.get());
    stream.stream->StopRecording(session.get());
    if (!ended.ok()) {
        ReleaseParts(body);
        CloseModel(session->model(), session->context());
        return Status(ended.code(), ended.message());
    }
    Model* const made = Models().Find(session->model());
    Status finished;
    try {
        finished = made->Finish(session->model(), &body);
    } catch (const std::bad_alloc&) {
        finished = Status(ACL_ERROR_BAD_ALLOC);
    }
    if (!finished.ok()) {
        ReleaseParts(body);
        CloseModel(session->model(), session->context());
        return finished;
    }
    *model = session->model();
    return {};
}

void AbandonCapture(CaptureSession* session) {
    ModelBody body;
    session->Abandon(&body);
    ReleaseParts(body);
    CloseModel(session->model(), session->context());
}

Status ReadCapture(const StreamRef& stream, aclmdlRICaptureStatus* status, Handle* model) {
    std::shared_ptr<Recorder> recorder;
    int32_t branch = 0;
    ADVSTEP_RETURN_IF_ERROR(stream.FindRecorder(&recorder, &branch));
    *status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    *model = 0;
    if (recorder != nullptr && recorder->Captures()) {
        const auto& session = static_cast<const CaptureSession&>(*recorder);
        *status = session.status();
        *model = *status == ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE ? session.model() : 0;
    }
    return {};
}

Status BeginTaskGroup(const StreamRef& stream) {
    std::shared_ptr<CaptureSession> session;
    int32_t branch = 0;
    ADVSTEP_RETURN_IF_ERROR(FindSession(stream, &session, &branch));
    return session->BeginGroup(branch);
}

Status EndTaskGroup(const StreamRef& stream, Handle* group) {
    std::shared_ptr<CaptureSession> session;
    int32_t branch = 0;
    ADVSTEP_RETURN_IF_ERROR(FindSession(stream, &session, &branch));
    const auto entry = TaskGroups().Acquire();
    Status ended;
    try {
        ended = session->EndGroup(branch, entry.object, entry.handle);
    } catch (const std::bad_alloc&) {
        ended = Status(ACL_ERROR_BAD_ALLOC);
    }
    if (!ended.ok()) {
        TaskGroups().Release(entry.object);
        return ended;
    }
    *group = entry.handle;
    return {};
}

Status BeginTaskUpdate(const StreamRef& stream, const void* group) {
    TaskGroup* const found = TaskGroups().Find(ToHandle(group));
    TaskGroup::Span span;
    if (found == nullptr || !found->Read(ToHandle(group), &span)) {
        return Error(ACL_ERROR_RT_INVALID_HANDLE,
                     "handle {} is no task group, or its model has been destroyed; expected one of "
                     "aclmdlRICaptureTaskGrpEnd",
                     group);
    }
    ADVSTEP_RETURN_IF_ERROR(Models().Find(span.model)->Check(span.model));
    return stream.StartRecording(std::make_shared<UpdateRecorder>(span.model, span));
}

Status EndTaskUpdate(const StreamRef& stream) {
    std::shared_ptr<Recorder> recorder;
    int32_t branch = 0;
    ADVSTEP_RETURN_IF_ERROR(stream.FindRecorder(&recorder, &branch));
    ADVSTEP_RETURN_IF_ERROR(stream.CheckFree());
    if (recorder == nullptr || recorder->Captures()) {
        return Error(ACL_ERROR_STREAM_TASK_GROUP_STATUS,
                     "stream {} updates no task group; expected aclmdlRICaptureTaskUpdateBegin "
                     "before",
                     ToPointer(stream.handle));
    }
    stream.stream->StopRecording(recorder.get());
    auto& update = static_cast<UpdateRecorder&>(*recorder);
    Model* const model = Models().Find(update.model());
    return model->Replace(update.model(), update.span(), update.TakeLaunches());
}

}  // namespace advstep
