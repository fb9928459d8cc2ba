// SPDX-License-Identifier: Apache-2.0
// Implements the life of a model: capture, replays, updates, sub-graphs and its end.

#include "src/runtime/capture/model.h"

#include <pthread.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include "acl/acl_base.h"
#include "src/base/boundary.h"
#include "src/base/log.h"
#include "src/base/never_destroyed.h"
#include "src/base/no_cancellation.h"
#include "src/runtime/capture/condition.h"
#include "src/runtime/commands/callbacks.h"
#include "src/runtime/commands/event.h"
#include "src/runtime/commands/launcher.h"
#include "src/runtime/commands/notify.h"
#include "src/runtime/device/device.h"
#include "src/runtime/kernels/kernel_binaries.h"
#include "src/runtime/memory/memories.h"
#include "src/runtime/stream/stream.h"
#include "src/runtime/stream/streams.h"
#include "src/runtime/task/ticket.h"

namespace advstep {
namespace {

struct ModelTable : HandleTable<Model> {
    ModelTable() : HandleTable(HandleKind::kModel) {}
};

// A program may call again and again with a timeout that expires. A model with so many streams
// queues a replay behind an earlier one whose call has returned. If the earlier one fails and stops
// the stream, the later call returns that code.
constexpr size_t kMostExecutions = 64;

// Begins a check of memory that ReplayLocked completes.
MemoryCheck CheckFromNow() {
    const DeviceMemory& memory = TheDeviceMemory();
    return {&memory.epochNow(), memory.epoch()};
}

// Waits for the end of a replay. False: the calling thread cannot wait, because a callback that it
// has to run comes first.
bool WaitedFor(const Ticket& end) noexcept {
    try {
        return WaitFor(end, ToTheEnd()).ok();
    } catch (const std::bad_alloc&) {
        return false;  // there was no memory for the message
    }
}

// Calls functions of the program in the middle of an acl call, as a part of a task: they can
// neither wait nor end what the call may be about to end.
void TellEnd(const std::vector<ModelEndCallback>& callbacks) noexcept {
    const NoCancellation noCancellation;
    const ErrorStateScope errors;
    const TaskScope scope;
    for (const ModelEndCallback& each : callbacks) {
        const auto log = [](const char* what) {
            Log(LogLevel::kError,
                "a callback of aclmdlRIDestroyRegisterCallback threw an exception: {}", what);
        };
        try {
            each.function(each.userData);
        } catch (const std::exception& error) {
            log(error.what());
        } catch (...) {
            log(TextOfCaught("not a std::exception"));
        }
    }
}

}  // namespace

HandleTable<Model>& TheModels() {
    static NeverDestroyed<ModelTable> models;
    return *models;
}

Status FindModel(const void* handle, Model** model) {
    Model* const found = TheModels().Find(ToHandle(handle));
    if (found == nullptr) {
        return Error(ACL_ERROR_RT_INVALID_HANDLE,
                     "modelRI {} is no model; expected one of aclmdlRICaptureEnd", handle);
    }
    *model = found;
    return {};
}

void CloseSubGraph(Model* model, Handle handle) noexcept {
    if (model->CloseSubGraph(handle)) {
        TheModels().Release(model);
    }
}

void ReleaseBody(const ModelBody& body) noexcept {
    for (TaskGroup* const group : body.groups) {
        group->Close();
        TheTaskGroups().Release(group);
    }
    for (Condition* const condition : body.conditions) {
        condition->Close();
        TheConditions().Release(condition);
    }
    if (!body.endCallbacks.empty()) {
        TellEnd(body.endCallbacks);
    }
}

// The capture.

void Model::Open(Handle handle, const ContextRef& context,
                 const std::shared_ptr<CaptureSession>& session) {
    const std::lock_guard<std::mutex> lock(mutex_);
    handle_ = handle;
    context_ = context;
    session_ = session;
    owner_ = nullptr;
    depth_ = 0;
    captured_ = false;
}

Status Model::Check(Handle handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return CheckUsable(handle);
}

Status Model::Finish(Handle handle, ModelBody* body) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (handle_ != handle) {
        return CheckUsable(handle);
    }
    std::vector<ModelBranch> branches(body->branches.size());
    Status created;
    try {
        for (size_t index = 0; index < branches.size(); ++index) {
            branches[index].image = MakeImage(body->branches[index]);
            if (index == 0 && owner_ != nullptr) {
                // Made now, because a replay of the parent could not report a failure.
                created = CreateHiddenStream(context_, &branches[index].stream,
                                             &branches[index].streamHandle);
            } else if (index > 0) {
                created = CreateBranchStream(context_, &branches[index].stream,
                                             &branches[index].streamHandle);
            }
            if (!created.ok()) {
                DestroyStreams(branches);
                return created;
            }
        }
    } catch (...) {
        DestroyStreams(branches);
        throw;
    }
    session_ = nullptr;
    captured_ = true;
    branches_ = std::move(branches);
    body_ = std::move(*body);
    *body = ModelBody{};
    NoteUses();
    if (owner_ != nullptr) {
        owner_->SubGraphIsCaptured();
    }
    return {};
}

Status Model::CheckUsable(Handle handle) const {
    if (handle_ != handle) {
        return Error(ACL_ERROR_RT_INVALID_HANDLE,
                     "modelRI {} is no model or has been destroyed; expected one of "
                     "aclmdlRICaptureEnd",
                     ToPointer(handle));
    }
    if (!captured_) {
        return Error(ACL_ERROR_RT_MODEL_CAPTURED,
                     "modelRI {} {}; expected aclmdlRICaptureEnd before", ToPointer(handle),
                     session_ != nullptr ? "is being captured" : "has not been captured");
    }
    return {};
}

Status Model::CheckContext(Handle caller) const {
    return context_.handle == caller
               ? Status()
               : Error(ACL_ERROR_RT_STREAM_CONTEXT,
                       "modelRI {} was captured in context {}; expected the current context {}",
                       ToPointer(handle_), ToPointer(context_.handle), ToPointer(caller));
}

void Model::NoteUses() {
    checkedEpoch_ = 0;
    usesHandles_ = false;
    for (const std::vector<RecordedTask>& tasks : body_.branches) {
        for (const RecordedTask& task : tasks) {
            for (const Use& use : task.uses) {
                usesHandles_ = usesHandles_ || use.kind != Use::Kind::kMemory;
            }
        }
    }
    const BranchImage& main = branches_[0].image;
    plain_ = !usesHandles_ && owner_ == nullptr && branches_.size() == 1 &&
             body_.conditions.empty() && body_.groups.empty() && main.count > 0 &&
             main.waits.empty() && main.eventTasks.empty() && main.numbered.empty() &&
             main.callbacks.empty();
}

// Replays.

Status Model::Replay(Handle handle, const StreamRef& stream) {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (handle_ == handle && ReplaysPlainly(stream)) {
            Status replayed = ReplayPlainly(stream);
            if (replayed.code() != kCheckIsOld) {
                return replayed;
            }
        }
    }
    // Memory that leaves between the check and the queueing makes the check old.
    Status replayed;
    do {
        replayed = ReplayChecked(handle, stream);
    } while (replayed.code() == kCheckIsOld);
    return replayed;
}

Status Model::ReplayChecked(Handle handle, const StreamRef& stream) {
    // Until the replay is queued, none of its functions is unloaded, and no notify or external
    // event is destroyed.
    const KernelBinaries::Pin binaries = TheKernelBinaries().PinAll();
    const NotifyTable::Pin notifies = TheNotifyTable().PinAll();
    const Event::Pin events = Event::PinExternal();
    ModelReplay::Setup setup;
    setup.stream = stream;
    setup.memory = CheckFromNow();
    ADVSTEP_RETURN_IF_ERROR(CheckConditions(handle));
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle));
    ADVSTEP_RETURN_IF_ERROR(CheckWhole(handle, "executed"));
    ADVSTEP_RETURN_IF_ERROR(stream.Check());
    ADVSTEP_RETURN_IF_ERROR(CheckContext(stream.caller));
    ADVSTEP_RETURN_IF_ERROR(RefuseDuringAbort(*context_.device, "a replay"));
    Ticket end;
    return ReplayLocked(&setup, &end);
}

Status Model::CheckUses() {
    const uint64_t epoch = TheDeviceMemory().epoch();
    if (checkedEpoch_ == epoch && !usesHandles_) {
        return {};
    }
    for (const std::vector<RecordedTask>& tasks : body_.branches) {
        for (const RecordedTask& task : tasks) {
            ADVSTEP_RETURN_IF_ERROR(CheckUsesOf(task, *context_.device));
        }
    }
    checkedEpoch_ = epoch;
    return {};
}

Status Model::CheckConditions(Handle handle) {
    std::vector<Condition*> conditions;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle));
        conditions = body_.conditions;
    }
    for (Condition* const condition : conditions) {
        ADVSTEP_RETURN_IF_ERROR(condition->CheckUses());
    }
    return {};
}

// Everything else, and whatever fails, goes the long way, which also words failures.
bool Model::ReplaysPlainly(const StreamRef& stream) const {
    return plain_ && context_.handle == stream.caller &&
           checkedEpoch_ == TheDeviceMemory().epoch() && replays_.size() == 1 &&
           replays_[0].stream == stream.stream &&
           context_.device->aborts().load(std::memory_order_relaxed) == 0;
}

// The order of the stream covers the replay before. The enqueue itself checks the stream.
Status Model::ReplayPlainly(const StreamRef& stream) {
    const BranchImage& image = branches_[0].image;
    const MemoryCheck check{&TheDeviceMemory().epochNow(), checkedEpoch_};
    const Stream::Batch batch{image.bytes(), image.count, image.heavy, image.foreign,
                              false,         true,        check,       {this, 0, &image.works}};
    ++replayNumber_;
    return stream.EnqueueBatch(
        batch, [](uint64_t) { return Status(); },
        [&](void* memory) { std::memcpy(memory, image.records.data(), image.bytes()); },
        &replays_[0]);
}

Status Model::ReplayLocked(ModelReplay::Setup* setup, Ticket* end) {
    // A sub-graph is not checked again: the replay of its parent has checked it, and a call that
    // frees one of the resources waits for that replay.
    if (setup->owner == nullptr) {
        ADVSTEP_RETURN_IF_ERROR(CheckUses());
    }
    setup->before = EarlierReplays(setup->stream.stream);
    replays_.reserve(replays_.size() + 1);
    setup->number = ++replayNumber_;
    setup->model = this;
    ModelReplay replay(&branches_, body_.conditions, context_.handle, *setup);
    ADVSTEP_RETURN_IF_ERROR(replay.Queue(end));
    NoteReplay(*end);
    return {};
}

// All of them are needed, because a replay that was dropped has not waited for those before it.
std::vector<Ticket> Model::EarlierReplays(const Stream* stream) {
    replays_.erase(
        std::remove_if(replays_.begin(), replays_.end(),
                       [](const Ticket& end) { return end.stream->Reached(end.sequence); }),
        replays_.end());
    std::vector<Ticket> before;
    for (const Ticket& earlier : replays_) {
        if (earlier.stream != stream) {
            before.push_back(earlier);
        }
    }
    for (const ModelBranch& branch : branches_) {
        if (branch.end.stream != nullptr && !branch.end.stream->Reached(branch.end.sequence)) {
            before.push_back(branch.end);
        }
    }
    return before;
}

// The end of the last replay on a stream is also the end of all earlier ones there.
void Model::NoteReplay(const Ticket& end) {
    const auto same = std::find_if(replays_.begin(), replays_.end(), [&](const Ticket& earlier) {
        return earlier.stream == end.stream;
    });
    if (same != replays_.end()) {
        *same = end;
    } else {
        replays_.push_back(end);
    }
}

// A call of Execute that has queued its replay.
struct Model::Executing {
    Ticket before;  // of the stream
    Ticket end;
    size_t index = 0;  // of executions_
    std::optional<Stream::WaitInList> wait;
};

// The end of a call of Execute, also by an exception.
class Model::ExecutionEnds {
 public:
    ExecutionEnds(Model* model, Handle handle, size_t index)
        : model_(*model), handle_(handle), index_(index) {}
    ~ExecutionEnds() {
        const std::lock_guard<std::mutex> lock(model_.mutex_);
        if (model_.handle_ == handle_) {  // else the context has ended
            model_.executions_[index_].awaited = false;
        }
    }
    ExecutionEnds(const ExecutionEnds&) = delete;
    ExecutionEnds& operator=(const ExecutionEnds&) = delete;

 private:
    Model& model_;
    const Handle handle_;
    const size_t index_;
};

Status Model::Execute(Handle handle, Handle caller, const WaitLimit& limit) {
    Executing run;
    Status queued;
    do {
        queued = QueueExecution(handle, caller, &run);
    } while (queued.code() == kCheckIsOld);  // memory has left between the check and the queueing
    ADVSTEP_RETURN_IF_ERROR(std::move(queued));
    const Ticket& end = run.end;
    const ExecutionEnds ends(this, handle, run.index);
    Status waited = run.wait->WaitForTasks(end.sequence, limit);
    if (waited.code() == ACL_ERROR_RT_FEATURE_NOT_SUPPORT && !Reached(end)) {
        // A sub-graph, an earlier replay, or a callback that somebody has subscribed to meanwhile
        // waits for this thread. A dropped replay waits for nothing, so its end comes, unless an
        // earlier one on its stream waits for this thread.
        end.stream->SkipReplay(run.before.sequence, end.sequence);
        TheWorkers().Wake();
        TheWorkers().NudgeSleepers();
        (void)WaitFor(end, ToTheEnd());
    }
    return waited;
}

Status Model::QueueExecution(Handle handle, Handle caller, Executing* run) {
    const KernelBinaries::Pin binaries = TheKernelBinaries().PinAll();
    const NotifyTable::Pin notifies = TheNotifyTable().PinAll();
    const Event::Pin events = Event::PinExternal();
    ModelReplay::Setup setup;
    setup.memory = CheckFromNow();
    ADVSTEP_RETURN_IF_ERROR(CheckConditions(handle));
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle));
    ADVSTEP_RETURN_IF_ERROR(CheckWhole(handle, "executed"));
    ADVSTEP_RETURN_IF_ERROR(CheckContext(caller));
    ADVSTEP_RETURN_IF_ERROR(RefuseDuringAbort(*context_.device, "a replay"));
    ADVSTEP_RETURN_IF_ERROR(CheckCallbacks());
    ADVSTEP_RETURN_IF_ERROR(FindExecution(&run->index));
    Execution& execution = executions_[run->index];
    run->before = execution.stream->Now();
    // Entered when the replay is queued, so that it misses no abort and no end of the context.
    run->wait.emplace(execution.stream, run->before.sequence);
    setup.stream = {execution.stream, execution.streamHandle, context_.handle};
    setup.evenIfStopped = true;
    setup.wait = &*run->wait;
    ADVSTEP_RETURN_IF_ERROR(ReplayLocked(&setup, &run->end));
    execution.end = run->end;
    execution.awaited = true;
    return {};
}

// Replays on several of these streams wait for each other as those on any two streams do.
Status Model::FindExecution(size_t* index) {
    std::optional<size_t> found;
    std::optional<size_t> pending;
    for (size_t at = 0; at < executions_.size(); ++at) {
        const Execution& execution = executions_[at];
        if (execution.awaited) {
            continue;
        }
        // Looked at before the failures are taken, so that none is left of a replay that has ended.
        const bool ended = execution.end.stream == nullptr || Reached(execution.end);
        if (const Status stale = execution.stream->TakeFailure(); !stale.ok()) {
            Log(LogLevel::kError, "a replay that nobody waited for failed: {} ({})",
                stale.message(), stale.code());
        }
        std::optional<size_t>& first = ended ? found : pending;
        first = first.value_or(at);
    }
    if (!found.has_value() && executions_.size() >= kMostExecutions) {
        found = pending;  // none if threads wait for all of them
    }
    if (!found.has_value()) {
        executions_.reserve(executions_.size() + 1);
        Execution execution;
        // The stream is of TheStreams(), not of TheBranchStreams(). Its lock is taken before those
        // of the branches.
        ADVSTEP_RETURN_IF_ERROR(
            CreateHiddenStream(context_, &execution.stream, &execution.streamHandle));
        found = executions_.size();
        executions_.push_back(execution);
    }
    *index = *found;
    return {};
}

// A sub-graph may have callbacks too, but only a replay shows which of its sub-graphs are run.
Status Model::CheckCallbacks() const {
    const auto self = static_cast<uint64_t>(pthread_self());
    for (const ModelBranch& branch : branches_) {
        for (const size_t offset : branch.image.callbacks) {
            const auto* const records =
                reinterpret_cast<const unsigned char*>(branch.image.records.data());
            const auto& record = *reinterpret_cast<const Task*>(records + offset);
            if (TheCallbacks().ThreadToWaitFor(record) == self) {
                return Error(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                             "modelRI {} has a callback that waits for this thread's "
                             "aclrtProcessReport; expected a call from another thread",
                             ToPointer(handle_));
            }
        }
    }
    return {};
}

bool Model::Awaited() const {
    return std::any_of(executions_.begin(), executions_.end(),
                       [](const Execution& execution) { return execution.awaited; });
}

// Updates of task groups.

Status Model::Replace(Handle handle, const TaskGroup::Span& span,
                      std::vector<RecordedTask> launches) {
    // Replaced launches are destroyed after the locks are released.
    TaskGroup::Launches newest;
    std::vector<RecordedTask> replaced;
    const KernelBinaries::Pin binaries = TheKernelBinaries().PinAll();
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle));
    std::vector<RecordedTask>& tasks = body_.branches[static_cast<size_t>(span.branch)];
    if (launches.size() != span.count) {
        return Error(ACL_ERROR_RT_INTERNAL_ERROR,
                     "the update has {} launches; expected the {} of the task group",
                     launches.size(), span.count);
    }
    for (size_t index = 0; index < launches.size(); ++index) {
        const char* const now = tasks[span.first + index].task().name;
        const char* const then = launches[index].task().name;
        if (std::strcmp(now, then) != 0) {
            return Error(ACL_ERROR_RT_INTERNAL_ERROR,
                         "launch {} of the update is {}; expected {} as in the task group", index,
                         then, now);
        }
    }
    for (size_t index = 0; index < launches.size(); ++index) {
        // Queued replays do not check again that memory and functions exist. None of those that
        // exist now is freed before they have ended.
        RecordedTask& launch = launches[index];
        ADVSTEP_RETURN_IF_ERROR(CheckUsesOf(launch, *context_.device));
        const RecordedTask& old = tasks[span.first + index];
        launch.groupPlace = old.groupPlace;
        newest.push_back(
            std::make_shared<const SharedRecord>(SharedRecord{launch.record, launch.owner}));
    }
    replaced = tasks;
    std::move(launches.begin(), launches.end(),
              replaced.begin() + static_cast<ptrdiff_t>(span.first));
    BranchImage image = MakeImage(replaced);
    tasks.swap(replaced);
    if (span.count > 0) {
        const TaskGroup::Place& first = tasks[span.first].groupPlace;
        first.group->Update(first.handle, &newest);
    }
    branches_[static_cast<size_t>(span.branch)].image = std::move(image);
    NoteUses();
    return {};
}

// Sub-graphs of conditional tasks.

void Model::OpenSubGraph(Handle handle, const ContextRef& context, Condition* owner, int depth) {
    const std::lock_guard<std::mutex> lock(mutex_);
    handle_ = handle;
    context_ = context;
    session_ = nullptr;
    owner_ = owner;
    depth_ = depth;
    captured_ = false;
}

Status Model::BeginSubGraph(Handle handle, const std::shared_ptr<CaptureSession>& session) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (handle_ != handle) {
        return CheckUsable(handle);
    }
    if (owner_ == nullptr || captured_ || session_ != nullptr) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "modelRI {} {}; expected one of the sub-graphs that aclmdlRIAddCondTask "
                     "returned, once",
                     ToPointer(handle),
                     owner_ == nullptr ? "is no sub-graph" : "has a capture already");
    }
    ADVSTEP_RETURN_IF_ERROR(CheckContext(session->context().handle));
    session_ = session;
    return {};
}

bool Model::ForgetCapture(Handle handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (handle_ != handle || owner_ == nullptr) {
        return false;
    }
    session_ = nullptr;
    return true;
}

Status Model::FindCapture(Handle handle, std::shared_ptr<CaptureSession>* session, int* depth) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (handle_ != handle || session_ == nullptr) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "modelRI {} is not being captured; expected that of aclmdlRICaptureGetInfo "
                     "during its capture",
                     ToPointer(handle));
    }
    *session = session_;
    *depth = depth_;
    return {};
}

bool Model::IsSubGraph(Handle handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return handle_ == handle && owner_ != nullptr;
}

Status Model::CheckSubGraph(Handle handle) {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle));
        ADVSTEP_RETURN_IF_ERROR(CheckUses());
    }
    return CheckConditions(handle);
}

Status Model::QueueSubGraph(Handle handle, const SubGraphRun& run, Stream* parent,
                            SubGraphPlace* place) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle));
    const ModelBranch& main = branches_[0];
    SubGraphPlace queued;
    queued.stream = main.stream;
    queued.before = main.stream->Now().sequence;  // nothing else queues there
    queued.ends.resize(branches_.size());
    for (const ModelBranch& branch : branches_) {
        branch.stream->SetParent(parent);  // before a task can run there
    }
    ModelReplay::Setup setup;
    setup.stream = {main.stream, main.streamHandle, context_.handle};
    setup.evenIfStopped = true;
    setup.owner = owner_;
    setup.run = run;
    ADVSTEP_RETURN_IF_ERROR(ReplayLocked(&setup, queued.ends.data()));
    for (size_t index = 1; index < branches_.size(); ++index) {
        queued.ends[index] = branches_[index].end;
    }
    *place = std::move(queued);
    return {};
}

bool Model::CloseSubGraph(Handle handle) noexcept {
    std::unique_lock<std::mutex> lock(mutex_);
    if (handle_ != handle) {
        return false;
    }
    try {
        DestroyStreams(branches_);
    } catch (const std::bad_alloc&) {
        // The streams stay until the end of the context.
    }
    const ModelBody body = CloseLocked();
    lock.unlock();
    ReleaseBody(body);
    return true;
}

// Success for a model that is no sub-graph, alive or not.
Status Model::CheckWhole(Handle handle, const char* call) const {
    return handle_ != handle || owner_ == nullptr
               ? Status()
               : Error(ACL_ERROR_RT_PARAM_INVALID,
                       "modelRI {} is a sub-graph of a conditional task, which is {} with its "
                       "model only; expected a model of its own",
                       ToPointer(handle), call);
}

// The name, and functions of the program that are told of the end.

Status Model::SetName(Handle handle, const char* name) {
    std::string copy = name;
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle));
    body_.name.swap(copy);
    return {};
}

Status Model::ReadName(Handle handle, std::string* name) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle));
    *name = body_.name;
    return {};
}

Status Model::AddEndCallback(Handle handle, const ModelEndCallback& callback) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle));
    for (const ModelEndCallback& each : body_.endCallbacks) {
        if (each.function == callback.function) {
            return Error(ACL_ERROR_RT_PARAM_INVALID,
                         "func is {}, which is registered for modelRI {}; expected another one",
                         reinterpret_cast<const void*>(callback.function), ToPointer(handle));
        }
    }
    body_.endCallbacks.push_back(callback);
    return {};
}

Status Model::RemoveEndCallback(Handle handle, aclrtCallback function) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle));
    std::vector<ModelEndCallback>& all = body_.endCallbacks;
    const auto found = std::find_if(all.begin(), all.end(), [&](const ModelEndCallback& each) {
        return each.function == function;
    });
    if (found == all.end()) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "func is {}, which is not registered for modelRI {}; expected one of "
                     "aclmdlRIDestroyRegisterCallback",
                     reinterpret_cast<const void*>(function), ToPointer(handle));
    }
    all.erase(found);
    return {};
}

// Listings.

Status Model::Print(Handle handle, std::vector<std::string>* lines) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle));
    ListTasks(body_, IndexOf(handle), lines);
    return {};
}

Status Model::PrintEvents(Handle handle, bool verbose, std::string* json) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle));
    *json = TasksAsJson(body_, IndexOf(handle), verbose);
    return {};
}

// The end.

Status Model::Close(Handle handle) {
    std::unique_lock<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckWhole(handle, "destroyed"));
    ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle));
    // A thread in Execute may not have looked at a replay that has ended.
    if (Pending() != nullptr || Awaited()) {
        return Error(
            ACL_ERROR_RT_MODEL_RUNNING,
            "modelRI {} has a replay that has not ended; expected a synchronisation before",
            ToPointer(handle));
    }
    DestroyStreams(branches_);
    for (const Execution& execution : executions_) {
        DestroyOwn(execution.stream, execution.streamHandle);
    }
    const ModelBody body = CloseLocked();
    lock.unlock();
    ReleaseBody(body);
    return {};
}

bool Model::CloseIfOf(Handle context, Handle handle, bool subGraphs) {
    const auto is = [&] {
        return handle_ != 0 && context_.handle == context && (handle == 0 || handle_ == handle) &&
               (subGraphs || owner_ == nullptr);
    };
    std::unique_lock<std::mutex> lock(mutex_);
    // Replays may have been queued after the end of the context had waited for its streams. They
    // refer to the groups and conditions of the body.
    for (const Ticket* pending = nullptr; is() && (pending = Pending()) != nullptr;) {
        const Ticket end = *pending;
        lock.unlock();
        if (!WaitedFor(end)) {
            return false;
        }
        lock.lock();
    }
    if (!is()) {
        return false;
    }
    const ModelBody body = CloseLocked();
    lock.unlock();
    ReleaseBody(body);
    return true;
}

const Ticket* Model::Pending() const {
    for (const Ticket& end : replays_) {
        if (!Reached(end)) {
            return &end;
        }
    }
    for (const ModelBranch& branch : branches_) {
        if (branch.end.stream != nullptr && !Reached(branch.end)) {
            return &branch.end;
        }
    }
    return nullptr;
}

// Nothing is queued there. The call fails if the context is being destroyed, which destroys the
// streams too.
void Model::DestroyOwn(Stream* stream, Handle streamHandle) const {
    if (stream != nullptr) {
        (void)DestroyStream({stream, streamHandle, context_.handle}, false);
    }
}

void Model::DestroyStreams(const std::vector<ModelBranch>& branches) const {
    for (const ModelBranch& branch : branches) {
        DestroyOwn(branch.stream, branch.streamHandle);
    }
}

ModelBody Model::CloseLocked() {
    handle_ = 0;
    owner_ = nullptr;
    captured_ = false;
    plain_ = false;
    session_ = nullptr;
    branches_.clear();
    executions_.clear();
    replays_.clear();
    return std::exchange(body_, ModelBody{});
}

}  // namespace advstep
