// SPDX-License-Identifier: Apache-2.0
// One capture from begin to end: its branches, its task groups and its state.

#pragma once

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "acl/acl_rt.h"
#include "src/runtime/capture/model_body.h"
#include "src/runtime/stream/context.h"
#include "src/runtime/task/recorder.h"

namespace advstep {

/// A capture from begin to end. It takes the work of the stream on which it began, and of the
/// streams that joined it through events.
///
/// mutex_ guards the changes of the state, and the recorded work. It is taken under a stream's or
/// an event's lock. Only a task group's lock is taken under it.
class CaptureSession : public Recorder {
 public:
    CaptureSession(const ContextRef& context, Handle stream, aclmdlRICaptureMode mode, Handle model,
                   bool fillsSubGraph = false);

    bool Over() const override { return state_.load(std::memory_order_acquire) == State::kOver; }
    bool Captures() const override { return true; }

    /// 507903: the capture has been invalidated. 107024: the work waits for something outside the
    /// capture. 107034: a task group is open, and the work cannot be a part of it. Work with a
    /// refusal returns the code of its refusal.
    Status Record(int32_t branch, const Work& work, const RecordFill& fill, bool* over) override;
    /// 107024: the place is in another capture. 507903, 107034: as Record.
    Status RecordWait(int32_t branch, const CapturePlace& place,
                      int64_t timeoutNanoseconds) override;

    /// As Recorder::Join. The capture is invalidated if the stream refuses new work after a
    /// failure, or if there is no memory.
    Status Join(const JoiningStream& stream, const CapturePlace& place, int64_t timeoutNanoseconds,
                int32_t* branch) override;

    /// 107033: a task group is open. 507903: the capture has been invalidated.
    Status BeginGroup(int32_t branch);
    /// Opens the group as a part of the recorded work, with the launches since BeginGroup. 107033:
    /// no task group is open. 507903: the capture has been invalidated.
    Status EndGroup(int32_t branch, TaskGroup* group, Handle handle);

    /// Adds a variable, which the recorded work owns from now on. 107000: the capture is over.
    /// 507903: it has been invalidated.
    Status AddCondition(Condition* condition);
    /// Records the conditional task of the variable. 107034: a task group is open. 107029: the
    /// capture is over. 507903: it has been invalidated.
    Status AddConditionalTask(int32_t branch, Condition* condition);

    /// Ends the capture and moves the recorded work to *body. 107036: the capture began on another
    /// stream. 107038: another thread began it. 107033: a task group is open. 107025: a stream has
    /// not joined again. 107045: a sub-graph has not been captured. The capture continues after
    /// these codes. 107029: it is over already. 507903: it was invalidated, and is over now.
    /// *ended: this call ended the capture.
    Status End(Handle stream, ModelBody* body, bool* ended);

    /// Ends the capture, in every state. The caller releases the recorded work.
    void Abandon(ModelBody* body);

    Status CheckActive() const override;
    aclmdlRICaptureStatus status() const;
    const ContextRef& context() const { return context_; }
    aclmdlRICaptureMode mode() const { return mode_; }
    /// The stream on which it began.
    Handle stream() const { return stream_; }
    std::thread::id thread() const { return thread_; }
    /// The number of that thread in the system, as debuggers show it.
    pid_t systemThread() const { return systemThread_; }
    Handle model() const { return model_; }
    /// Stores the pointer by which events refer to the capture.
    void SetSelf(const std::shared_ptr<CaptureSession>& self) { self_ = self; }
    /// Takes of the device what the model and its first branch need. It is called before the
    /// capture starts. 207008: the device has no more streams. 207005: it has no more models.
    Status TakeResources();

 private:
    enum class State { kActive, kInvalidated, kOver };

    std::vector<RecordedTask>& TasksOf(int32_t branch) {
        return body_.branches[static_cast<size_t>(branch)];
    }
    bool GroupIsOpen(int32_t branch) const {
        return openGroups_[static_cast<size_t>(branch)] != kNoGroup;
    }
    static Status CannotBeGrouped();
    /// 207000: the capture fills a sub-graph. 107000: the event has such a task in the capture.
    Status CheckEventTask(const Work& work) const;

    static constexpr size_t kNoGroup = ~size_t{0};

    const ContextRef context_;
    const aclmdlRICaptureMode mode_;
    const Handle stream_;
    const std::thread::id thread_;  // the thread that began it
    const pid_t systemThread_;
    const Handle model_;        // the model that it becomes
    const bool fillsSubGraph_;  // of another model
    std::weak_ptr<CaptureSession> self_;

    mutable std::mutex mutex_;
    std::atomic<State> state_{State::kActive};
    ModelBody body_;
    std::vector<Handle> streams_;     // by branch
    std::vector<size_t> openGroups_;  // by branch: the first task of an open group
};

}  // namespace advstep
