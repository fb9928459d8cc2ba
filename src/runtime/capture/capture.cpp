// SPDX-License-Identifier: Apache-2.0
// Keeps the captures under way, and implements the calls of captures.

#include "src/runtime/capture/capture.h"

#include <algorithm>
#include <new>
#include <thread>
#include <utility>

#include "acl/acl_base.h"
#include "src/base/fork.h"
#include "src/base/never_destroyed.h"
#include "src/runtime/capture/condition.h"
#include "src/runtime/capture/model.h"
#include "src/runtime/stream/current.h"

namespace advstep {
namespace {

thread_local aclmdlRICaptureMode threadMode = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;

const ForkHook forgetMode([](void*) noexcept { threadMode = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL; });

// `context` is the calling thread's.
bool Forbids(const CaptureSession& session, Handle context) {
    if (threadMode == ACL_MODEL_RI_CAPTURE_MODE_RELAXED || session.Over() ||
        session.context().handle != context) {
        return false;
    }
    if (session.thread() == std::this_thread::get_id()) {
        return session.mode() != ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
    }
    return threadMode == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL &&
           session.mode() == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
}

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

// Finds the session that captures the stream. 107029: there is none.
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

// Ends a model whose capture had no result. A sub-graph stays, and can be captured once more.
void CloseModel(Handle handle, const ContextRef& context) {
    Model* const model = TheModels().Find(handle);
    if (!model->ForgetCapture(handle) && model->CloseIfOf(context.handle, handle)) {
        TheModels().Release(model);
    }
}

// Starts the capture on the stream. The model that it becomes refers to the session already.
Status StartCapture(const StreamRef& stream, const std::shared_ptr<CaptureSession>& session) {
    session->SetSelf(session);
    Status started;
    try {
        started = session->TakeResources();
        if (started.ok()) {
            TheCaptureRegistry().Add(session);
            started = stream.StartRecording(session);
        }
        if (started.ok() && !session->context().alive()) {
            // The context is being destroyed, perhaps by a thread that looked for captures before
            // this one was added.
            started = Error(ACL_ERROR_RT_CONTEXT_NULL, "the current context has been destroyed");
        }
    } catch (const std::bad_alloc&) {
        started = Status(ACL_ERROR_BAD_ALLOC);
    }
    if (!started.ok()) {
        TheCaptureRegistry().Remove(session.get());
        AbandonCapture(session.get());
    }
    return started;
}

Status FindCondition(const void* handle, Condition** condition) {
    *condition = TheConditions().Find(ToHandle(handle));
    return *condition != nullptr
               ? Status()
               : Error(ACL_ERROR_RT_PARAM_INVALID,
                       "handle {} is no condition; expected one of aclmdlRICondHandleCreate",
                       handle);
}

}  // namespace

// The captures under way.

CaptureRegistry& TheCaptureRegistry() {
    static NeverDestroyed<CaptureRegistry> registry;
    return *registry;
}

void CaptureRegistry::Add(const std::shared_ptr<CaptureSession>& session) {
    const std::lock_guard<std::mutex> lock(mutex_);
    sessions_.push_back(session);
    count_.store(sessions_.size(), std::memory_order_release);
}

void CaptureRegistry::Remove(const CaptureSession* session) {
    const std::lock_guard<std::mutex> lock(mutex_);
    sessions_.erase(std::remove_if(sessions_.begin(), sessions_.end(),
                                   [&](const auto& entry) { return entry.get() == session; }),
                    sessions_.end());
    count_.store(sessions_.size(), std::memory_order_release);
}

std::shared_ptr<CaptureSession> CaptureRegistry::TakeOneOf(Handle context) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = std::find_if(sessions_.begin(), sessions_.end(), [&](const auto& entry) {
        return entry->context().handle == context;
    });
    if (found == sessions_.end()) {
        return nullptr;
    }
    std::shared_ptr<CaptureSession> taken = std::move(*found);
    sessions_.erase(found);
    count_.store(sessions_.size(), std::memory_order_release);
    return taken;
}

Status CaptureRegistry::CheckNoneOn(const Device* device) {
    if (count_.load(std::memory_order_acquire) == 0) {
        return {};
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    const bool captured = std::any_of(
        sessions_.begin(), sessions_.end(), [&](const std::shared_ptr<CaptureSession>& entry) {
            return !entry->Over() && entry->context().device == device;
        });
    return captured ? Error(ACL_ERROR_RT_STREAM_CAPTURED,
                            "a stream of the device is being captured; expected "
                            "aclmdlRICaptureEnd before")
                    : Status();
}

Status CaptureRegistry::CheckUnsafeSlowly(int32_t code) {
    const ContextRef* const current = LiveContext();
    if (current == nullptr) {
        return {};  // it has been destroyed meanwhile, and its captures with it
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = std::find_if(sessions_.begin(), sessions_.end(), [&](const auto& entry) {
        return Forbids(*entry, current->handle);
    });
    if (found == sessions_.end()) {
        return {};
    }
    const CaptureSession& session = **found;
    const bool own = session.thread() == std::this_thread::get_id();
    return Error(
        code,
        "copies at once, which the capture of stream {} by {} cannot record; expected an "
        "asynchronous call with device or pinned memory, capture mode RELAXED, or "
        "aclmdlRICaptureThreadExchangeMode",
        ToPointer(session.stream()),
        own ? std::string("this thread") : fmt::format("thread {}", session.systemThread()));
}

aclmdlRICaptureMode ExchangeThreadCaptureMode(aclmdlRICaptureMode mode) {
    return std::exchange(threadMode, mode);
}

// The begin and the end of captures.

Status BeginCapture(const StreamRef& stream, aclmdlRICaptureMode mode) {
    ContextRef context;
    ADVSTEP_RETURN_IF_ERROR(CurrentContext(&context));
    const auto entry = TheModels().Acquire();
    std::shared_ptr<CaptureSession> session;
    try {
        session = std::make_shared<CaptureSession>(context, stream.handle, mode, entry.handle);
    } catch (...) {
        TheModels().Release(entry.object);
        throw;
    }
    entry.object->Open(entry.handle, context, session);
    return StartCapture(stream, session);
}

Status BeginSubGraphCapture(const StreamRef& stream, const void* model, aclmdlRICaptureMode mode) {
    ContextRef context;
    ADVSTEP_RETURN_IF_ERROR(CurrentContext(&context));
    Model* found = nullptr;
    ADVSTEP_RETURN_IF_ERROR(FindModel(model, &found));
    const auto session =
        std::make_shared<CaptureSession>(context, stream.handle, mode, ToHandle(model), true);
    ADVSTEP_RETURN_IF_ERROR(found->BeginSubGraph(ToHandle(model), session));
    return StartCapture(stream, session);
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
    TheCaptureRegistry().Remove(session.get());
    stream.stream->StopRecording(session.get());
    if (!ended.ok()) {
        ReleaseBody(body);
        CloseModel(session->model(), session->context());
        return Status(ended.code(), ended.message());
    }
    Model* const made = TheModels().Find(session->model());
    Status finished;
    try {
        finished = made->Finish(session->model(), &body);
    } catch (const std::bad_alloc&) {
        finished = Status(ACL_ERROR_BAD_ALLOC);
    }
    if (!finished.ok()) {
        ReleaseBody(body);
        CloseModel(session->model(), session->context());
        return finished;
    }
    *model = session->model();
    return {};
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

void AbandonCapture(CaptureSession* session) {
    ModelBody body;
    session->Abandon(&body);
    ReleaseBody(body);
    CloseModel(session->model(), session->context());
}

// Task groups.

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
    const auto entry = TheTaskGroups().Acquire();
    Status ended;
    try {
        ended = session->EndGroup(branch, entry.object, entry.handle);
    } catch (const std::bad_alloc&) {
        ended = Status(ACL_ERROR_BAD_ALLOC);
    }
    if (!ended.ok()) {
        TheTaskGroups().Release(entry.object);
        return ended;
    }
    *group = entry.handle;
    return {};
}

Status BeginTaskUpdate(const StreamRef& stream, const void* group) {
    TaskGroup* const found = TheTaskGroups().Find(ToHandle(group));
    TaskGroup::Span span;
    if (found == nullptr || !found->Read(ToHandle(group), &span)) {
        return Error(ACL_ERROR_RT_INVALID_HANDLE,
                     "handle {} is no task group, or its model has been destroyed; expected one of "
                     "aclmdlRICaptureTaskGrpEnd",
                     group);
    }
    ADVSTEP_RETURN_IF_ERROR(TheModels().Find(span.model)->Check(span.model));
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
    Model* const model = TheModels().Find(update.model());
    return model->Replace(update.model(), update.span(), update.TakeLaunches());
}

// Conditional tasks.

Status CreateCondition(Handle model, uint64_t launchValue, bool resets, Handle* handle) {
    Model* found = nullptr;
    ADVSTEP_RETURN_IF_ERROR(FindModel(ToPointer(model), &found));
    std::shared_ptr<CaptureSession> session;
    int depth = 0;
    ADVSTEP_RETURN_IF_ERROR(found->FindCapture(model, &session, &depth));
    const auto entry = TheConditions().Acquire();
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
        TheConditions().Release(entry.object);
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
    ADVSTEP_RETURN_IF_ERROR(condition->AddSubGraphs(ToHandle(params.handle), session->model(),
                                                    params.type, params.size));
    Status recorded;
    try {
        recorded = session->AddConditionalTask(branch, condition);
    } catch (const std::bad_alloc&) {
        recorded = Status(ACL_ERROR_BAD_ALLOC);
    }
    if (!recorded.ok()) {
        condition->RemoveSubGraphs(ToHandle(params.handle));
        return recorded;
    }
    condition->ListSubGraphs(ToHandle(params.handle), params.modelRIArray);
    return {};
}

}  // namespace advstep
