#pragma once

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

/// A capture from begin to end: takes the work of the stream that it began on and of the streams
/// that joined it through events.
///
/// mutex_ guards the state's changes and what was recorded; it is taken with a stream's lock held,
/// or an event's, and no other lock is taken under it.
class CaptureSession : public Recorder {
 public:
    CaptureSession(const ContextRef& context, Handle stream, aclmdlRICaptureMode mode,
                   Handle model);

    bool Over() const override { return state_.load(std::memory_order_acquire) == State::kOver; }
    bool Captures() const override { return true; }

    /// Codes: 507903 invalidated; the work's own refusal; 107024 work that waits for something
    /// outside; 107034 in a task group, of which it cannot be a part.
    Status Record(int32_t branch, const Work& work, const RecordFill& fill) override;
    /// 107024: a place in another capture.
    Status RecordWait(int32_t branch, const CapturePlace& place,
                      int64_t timeoutNanoseconds) override;

    /// A new branch for a stream that begins with a wait for the place; -1: the capture is over.
    /// A stream that has stopped on a failure, or no memory, invalidates the capture.
    Status Join(const JoiningStream& stream, const CapturePlace& place, int64_t timeoutNanoseconds,
                int32_t* branch) override;

    /// 107033 if one is open; 507903.
    Status BeginGroup(int32_t branch);
    /// 107033 if none is open; 507903. The group is opened, and goes with what was recorded.
    Status EndGroup(int32_t branch, TaskGroup* group, Handle handle);

    /// Takes what was recorded, and the capture is over. Codes: 107036 not the stream it began on;
    /// 107038 not the thread; 107033 a task group is open; 107025 a stream has not joined again:
    /// after these it goes on. 507903 invalidated: over as well. `ended`: this call made it over.
    Status End(Handle stream, ModelBody* body, bool* ended);

    /// Over, whatever it is; what was recorded is for the caller to release.
    void Abandon(ModelBody* body);

    Status CheckActive() const override;
    aclmdlRICaptureStatus status() const;
    const ContextRef& context() const { return context_; }
    aclmdlRICaptureMode mode() const { return mode_; }
    std::thread::id thread() const { return thread_; }
    Handle model() const { return model_; }
    /// So that events can refer to it.
    void KnowsItself(const std::shared_ptr<CaptureSession>& self) { self_ = self; }

 private:
    enum class State { kActive, kInvalidated, kOver };

    std::vector<RecordedTask>& TasksOf(int32_t branch) {
        return body_.branches[static_cast<size_t>(branch)];
    }
    bool GroupIsOpen(int32_t branch) const {
        return openGroups_[static_cast<size_t>(branch)] != kNoGroup;
    }
    static Status CannotBeGrouped();

    static constexpr size_t kNoGroup = ~size_t{0};

    const ContextRef context_;
    const aclmdlRICaptureMode mode_;
    const std::thread::id thread_;  // that began it
    const Handle model_;            // which it will be
    std::weak_ptr<CaptureSession> self_;

    mutable std::mutex mutex_;
    std::atomic<State> state_{State::kActive};
    ModelBody body_;
    std::vector<Handle> streams_;     // of the branches
    std::vector<size_t> openGroups_;  // of the branches: the first task
};

}  // namespace advstep
