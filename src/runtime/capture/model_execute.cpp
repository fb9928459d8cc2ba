// SPDX-License-Identifier: Apache-2.0
// Replays a model for a call that waits.
#include <pthread.h>

#include <algorithm>
#include <optional>

#include "acl/acl_base.h"
#include "src/base/log.h"
#include "src/runtime/capture/model.h"
#include "src/runtime/commands/callbacks.h"
#include "src/runtime/commands/event.h"
#include "src/runtime/commands/launcher.h"
#include "src/runtime/commands/notify.h"
#include "src/runtime/kernels/kernel_binaries.h"
#include "src/runtime/stream/streams.h"
#include "src/runtime/stream/wait_in_list.h"
#include "src/runtime/task/ticket.h"
#include "src/runtime/task/wait_limit.h"

namespace advstep {

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

bool Model::Awaited() const {
    return std::any_of(executions_.begin(), executions_.end(),
                       [](const Execution& execution) { return execution.awaited; });
}

// A program may call again and again with a timeout that expires. A model with so many streams
// queues a replay behind an earlier one whose call has returned. If the earlier one fails and stops
// the stream, the later call returns that code.
constexpr size_t kMostExecutions = 64;

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
        // The stream is of Streams(), not of BranchStreams(). Its lock is taken before those of the
        // branches.
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
    for (const Branch& branch : branches_) {
        for (const size_t offset : branch.image.callbacks) {
            const auto* const records =
                reinterpret_cast<const unsigned char*>(branch.image.records.data());
            const auto& record = *reinterpret_cast<const Task*>(records + offset);
            if (Callbacks::Instance().ThreadToWaitFor(record) == self) {
                return Error(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                             "modelRI {} has a callback that waits for this thread's "
                             "aclrtProcessReport; expected a call from another thread",
                             ToPointer(handle_));
            }
        }
    }
    return {};
}

Status Model::Execute(Handle handle, Handle caller, const WaitLimit& limit) {
    Ticket before;
    Ticket end;
    size_t index = 0;
    std::optional<Stream::WaitInList> wait;
    {
        const KernelBinaries::Hold hold = TheKernelBinaries().HoldAll();
        const NotifyTable::Hold notifies = NotifyTable::Instance().HoldAll();
        const Event::Hold events = Event::HoldExternal();
        ADVSTEP_RETURN_IF_ERROR(CheckParts(handle));
        const std::lock_guard<std::mutex> lock(mutex_);
        ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle));
        ADVSTEP_RETURN_IF_ERROR(CheckWhole(handle, "executed"));
        ADVSTEP_RETURN_IF_ERROR(CheckContext(caller));
        ADVSTEP_RETURN_IF_ERROR(RefuseDuringAbort(*context_.device, "a replay"));
        ADVSTEP_RETURN_IF_ERROR(CheckCallbacks());
        ADVSTEP_RETURN_IF_ERROR(FindExecution(&index));
        Execution& execution = executions_[index];
        before = execution.stream->Now();
        // Entered when the replay is queued, so that it misses no abort and no end of the context.
        wait.emplace(execution.stream, before.sequence);
        ADVSTEP_RETURN_IF_ERROR(
            ReplayLocked({execution.stream, execution.streamHandle, context_.handle}, true, &end,
                         std::nullopt, &*wait));
        execution.end = end;
        execution.awaited = true;
    }
    const ExecutionEnds ends(this, handle, index);
    Status waited = wait->WaitForTasks(end.sequence, limit);
    if (waited.code() == ACL_ERROR_RT_FEATURE_NOT_SUPPORT && !Reached(end)) {
        // A sub-graph, an earlier replay, or a callback that somebody has subscribed to meanwhile
        // waits for this thread. A dropped replay waits for nothing, so its end comes, unless an
        // earlier one on its stream waits for this thread.
        end.stream->SkipReplay(before.sequence, end.sequence);
        Workers().Wake();
        Workers().NudgeSleepers();
        (void)WaitFor(end, ToTheEnd());
    }
    return waited;
}

}  // namespace advstep
