// SPDX-License-Identifier: Apache-2.0
// Records the work of a capture's branches, joins streams and ends the capture.

#include "src/runtime/capture/capture_session.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#include "acl/acl_base.h"
#include "src/runtime/capture/condition.h"

namespace advstep {

CaptureSession::CaptureSession(const ContextRef& context, Handle stream, aclmdlRICaptureMode mode,
                               Handle model, bool fillsSubGraph)
    : context_(context),
      mode_(mode),
      stream_(stream),
      thread_(std::this_thread::get_id()),
      systemThread_(gettid()),
      model_(model),
      fillsSubGraph_(fillsSubGraph) {
    body_.branches.emplace_back();
    streams_.push_back(stream);
    openGroups_.push_back(kNoGroup);
}

Status CaptureSession::TakeResources() {
    body_.holds.resize(2);
    ADVSTEP_RETURN_IF_ERROR(ResourceHold::Take(context_.device, DeviceResource::kStreams,
                                               ACL_ERROR_RT_NO_STREAM_RESOURCE, &body_.holds[0]));
    // A sub-graph is a part of its model.
    return fillsSubGraph_ ? Status()
                          : ResourceHold::Take(context_.device, DeviceResource::kModels,
                                               ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, &body_.holds[1]);
}

Status CaptureSession::CheckActive() const {
    if (state_.load(std::memory_order_relaxed) == State::kActive) {
        return {};
    }
    return Error(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED,
                 "the capture has been invalidated by an earlier failure; expected "
                 "aclmdlRICaptureEnd, and a new capture");
}

Status CaptureSession::CannotBeGrouped() {
    return Error(ACL_ERROR_STREAM_TASK_GROUP_INTR,
                 "the stream is in a task group, which takes operator launches only; expected "
                 "aclmdlRICaptureTaskGrpEnd before");
}

Status CaptureSession::Record(int32_t branch, const Work& work, const RecordFill& fill,
                              bool* over) {
    const std::lock_guard<std::mutex> lock(mutex_);
    *over = Over();
    if (*over) {
        return {};
    }
    ADVSTEP_RETURN_IF_ERROR(CheckActive());
    if (work.refusal != 0) {
        return Error(work.refusal, "{} on a stream that is being captured", work.refusalText);
    }
    if (work.role == Work::Role::kEventWait) {
        return Error(ACL_ERROR_RT_CAPTURE_DEPENDENCY,
                     "the event was recorded outside the capture that the stream is in; expected "
                     "one recorded on a stream of that capture");
    }
    if (work.role == Work::Role::kEventRecord) {
        *work.place = {self_, branch, TasksOf(branch).size()};
        return {};
    }
    if (GroupIsOpen(branch) && work.role != Work::Role::kLaunch) {
        return CannotBeGrouped();
    }
    if (work.role == Work::Role::kModelRecord || work.role == Work::Role::kModelWait) {
        ADVSTEP_RETURN_IF_ERROR(CheckEventTask(work));
    }
    TasksOf(branch).push_back(RecordTask(work, fill));
    return {};
}

Status CaptureSession::CheckEventTask(const Work& work) const {
    if (fillsSubGraph_) {
        return Error(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                     "the stream is captured into a sub-graph; expected a model of its own for "
                     "flag EXTERNAL");
    }
    for (const std::vector<RecordedTask>& tasks : body_.branches) {
        for (const RecordedTask& task : tasks) {
            if (task.role == work.role && task.uses.front().address == work.source) {
                return Error(ACL_ERROR_RT_PARAM_INVALID,
                             "event {} is {} with flag EXTERNAL in the capture already; expected "
                             "it once",
                             work.source,
                             work.role == Work::Role::kModelRecord ? "recorded" : "waited for");
            }
        }
    }
    return {};
}

Status CaptureSession::RecordWait(int32_t branch, const CapturePlace& place,
                                  int64_t timeoutNanoseconds) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (Over()) {
        return {};  // the event counts as never recorded
    }
    ADVSTEP_RETURN_IF_ERROR(CheckActive());
    if (place.capture.lock().get() != this) {
        return Error(ACL_ERROR_RT_CAPTURE_DEPENDENCY,
                     "the event was recorded in another capture than the one that the stream is "
                     "in; expected one recorded on a stream of that capture");
    }
    if (GroupIsOpen(branch)) {
        return CannotBeGrouped();
    }
    if (place.branch != branch) {
        TasksOf(branch).push_back(RecordWaitTask(place, timeoutNanoseconds));
    }
    return {};
}

Status CaptureSession::Join(const JoiningStream& stream, const CapturePlace& place,
                            int64_t timeoutNanoseconds, int32_t* branch) {
    const std::lock_guard<std::mutex> lock(mutex_);
    *branch = -1;
    if (Over()) {
        return {};
    }
    ADVSTEP_RETURN_IF_ERROR(CheckActive());
    if (stream.context != context_.handle) {
        return Error(ACL_ERROR_RT_STREAM_CONTEXT,
                     "the event belongs to a capture in context {}; expected a stream of that "
                     "context, not of {}",
                     ToPointer(context_.handle), ToPointer(stream.context));
    }
    if (!stream.refusal.ok()) {
        state_.store(State::kInvalidated);
        return Error(stream.refusal.code(),
                     "the capture is invalidated, because a stream could not join "
                     "it: {}",
                     stream.refusal.message());
    }
    ResourceHold hold;
    ADVSTEP_RETURN_IF_ERROR(ResourceHold::Take(context_.device, DeviceResource::kStreams,
                                               ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, &hold));
    try {
        std::vector<RecordedTask> tasks;
        body_.holds.reserve(body_.holds.size() + 1);
        tasks.push_back(RecordWaitTask(place, timeoutNanoseconds));
        streams_.reserve(streams_.size() + 1);
        openGroups_.reserve(openGroups_.size() + 1);
        body_.branches.push_back(std::move(tasks));
    } catch (...) {
        state_.store(State::kInvalidated);
        throw;
    }
    body_.holds.push_back(std::move(hold));
    streams_.push_back(stream.stream);
    openGroups_.push_back(kNoGroup);
    *branch = static_cast<int32_t>(body_.branches.size()) - 1;
    return {};
}

Status CaptureSession::BeginGroup(int32_t branch) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckActive());
    if (GroupIsOpen(branch)) {
        return Error(ACL_ERROR_STREAM_TASK_GROUP_STATUS,
                     "the stream is in a task group; expected aclmdlRICaptureTaskGrpEnd before");
    }
    openGroups_[static_cast<size_t>(branch)] = TasksOf(branch).size();
    return {};
}

Status CaptureSession::EndGroup(int32_t branch, TaskGroup* group, Handle handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckActive());
    if (!GroupIsOpen(branch)) {
        return Error(ACL_ERROR_STREAM_TASK_GROUP_STATUS,
                     "the stream is in no task group; expected aclmdlRICaptureTaskGrpBegin before");
    }
    size_t& first = openGroups_[static_cast<size_t>(branch)];
    std::vector<RecordedTask>& tasks = TasksOf(branch);
    TaskGroup::Launches launches;
    for (size_t index = first; index < tasks.size(); ++index) {
        launches.push_back(std::make_shared<const SharedRecord>(
            SharedRecord{tasks[index].record, tasks[index].owner}));
    }
    body_.groups.push_back(group);
    group->Open(handle, {model_, branch, first, tasks.size() - first}, std::move(launches));
    for (size_t index = first; index < tasks.size(); ++index) {
        tasks[index].groupPlace = {group, handle, index - first};
    }
    first = kNoGroup;
    return {};
}

Status CaptureSession::AddCondition(Condition* condition) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (Over()) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "modelRI {} is not being captured any more; expected that of "
                     "aclmdlRICaptureGetInfo during its capture",
                     ToPointer(model_));
    }
    ADVSTEP_RETURN_IF_ERROR(CheckActive());
    body_.conditions.push_back(condition);
    return {};
}

Status CaptureSession::AddConditionalTask(int32_t branch, Condition* condition) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (Over()) {
        return Error(ACL_ERROR_RT_STREAM_NOT_CAPTURED,
                     "the stream is not being captured any more; expected aclmdlRICaptureBegin "
                     "before");
    }
    ADVSTEP_RETURN_IF_ERROR(CheckActive());
    if (GroupIsOpen(branch)) {
        return CannotBeGrouped();
    }
    std::vector<RecordedTask> records;
    condition->Record(&records);
    std::vector<RecordedTask>& tasks = TasksOf(branch);
    tasks.reserve(tasks.size() + records.size());
    std::move(records.begin(), records.end(), std::back_inserter(tasks));
    return {};
}

Status CaptureSession::End(Handle stream, ModelBody* body, bool* ended) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (Over()) {
        return Error(ACL_ERROR_RT_STREAM_NOT_CAPTURED,
                     "stream {} is not being captured any more; expected one "
                     "aclmdlRICaptureEnd for each begin",
                     ToPointer(stream));
    }
    if (stream != streams_[0]) {
        return Error(ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED,
                     "stream {} joined a capture that began on stream {}; expected that one",
                     ToPointer(stream), ToPointer(streams_[0]));
    }
    if (mode_ != ACL_MODEL_RI_CAPTURE_MODE_RELAXED && thread_ != std::this_thread::get_id()) {
        return Error(ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD,
                     "the capture was begun by another thread; expected that one, or mode RELAXED");
    }
    const Status active = CheckActive();
    if (active.ok()) {
        const auto open = std::find_if(openGroups_.begin(), openGroups_.end(),
                                       [](size_t first) { return first != kNoGroup; });
        if (open != openGroups_.end()) {
            return Error(ACL_ERROR_STREAM_TASK_GROUP_STATUS,
                         "stream {} is in a task group; expected aclmdlRICaptureTaskGrpEnd before",
                         ToPointer(streams_[static_cast<size_t>(open - openGroups_.begin())]));
        }
        const int32_t unjoined = FindUnjoined(body_);
        if (unjoined >= 0) {
            return Error(ACL_ERROR_RT_STREAM_UNJOINED,
                         "stream {} has work that stream {} does not wait for; expected it to wait "
                         "for an event recorded after that work",
                         ToPointer(streams_[static_cast<size_t>(unjoined)]),
                         ToPointer(streams_[0]));
        }
        const bool captured =
            std::all_of(body_.conditions.begin(), body_.conditions.end(),
                        [](const Condition* condition) { return condition->AllCaptured(); });
        if (!captured) {
            return Error(ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING,
                         "a sub-graph of a conditional task has not been captured; expected "
                         "aclmdlRICaptureToModelRIBegin and aclmdlRICaptureEnd for each before");
        }
    }
    state_.store(State::kOver, std::memory_order_release);
    *ended = true;
    *body = std::move(body_);
    return active.ok() ? Status() : Status(active.code(), active.message());
}

void CaptureSession::Abandon(ModelBody* body) {
    const std::lock_guard<std::mutex> lock(mutex_);
    state_.store(State::kOver, std::memory_order_release);
    *body = std::move(body_);
    body_ = ModelBody{};
}

aclmdlRICaptureStatus CaptureSession::status() const {
    switch (state_.load(std::memory_order_acquire)) {
        case State::kActive:
            return ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE;
        case State::kInvalidated:
            return ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED;
        case State::kOver:
            break;
    }
    return ACL_MODEL_RI_CAPTURE_STATUS_NONE;
}

}  // namespace advstep
