// SPDX-License-Identifier: Apache-2.0
// The queued work that a thread runs, for the description of a crash.

#pragma once

#include <signal.h>

#include "src/base/call_stack.h"
#include "src/runtime/task/task.h"

namespace advstep {

/// While it lives, the calling thread runs a task of a stream, or a function of the program that
/// was queued there. If the thread crashes meanwhile, a line on standard error names the work, the
/// stream and the call that queued it. Work inside of other work is named, and not that.
class RunningWork {
 public:
    /// `queuedBy`: the call that queued the task, if it was noted; it outlives the object.
    RunningWork(const Task& task, const void* stream, const CallStack* queuedBy = nullptr) noexcept;
    /// A function of the program that runs outside of the stream's task. `name` and `call` are
    /// static text.
    RunningWork(const char* name, const char* call, const void* stream) noexcept;
    ~RunningWork();
    RunningWork(const RunningWork&) = delete;
    RunningWork& operator=(const RunningWork&) = delete;

    /// Installs the handlers (base/crash_signal.h), once. It is called before work is queued that
    /// may crash for its caller's fault, without any lock. A program without such work keeps its
    /// signals.
    static void DescribeCrashes();

    /// Returns the call that queued what the calling thread runs, or null.
    static const CallStack* QueuedBy() {
        return innermost != nullptr ? innermost->queuedBy_ : nullptr;
    }

    /// While it lives, the calling thread helps another one with its work, which may be null.
    class Share {
     public:
        explicit Share(const RunningWork* work) noexcept : before_(innermost) { innermost = work; }
        ~Share() { innermost = before_; }
        Share(const Share&) = delete;
        Share& operator=(const Share&) = delete;

     private:
        const RunningWork* const before_;
    };

    // The model is initial-exec, so that a signal handler may read the variable.
    [[gnu::tls_model("initial-exec")]] static inline thread_local const RunningWork* innermost =
        nullptr;

 private:
    static void Describe(int signal, const siginfo_t& info, const void* context);
    const char* Expected() const;

    const Task* const task_;  // null: a function of the program
    const char* const name_;  // null: nothing is to be written
    const char* const call_;  // null: the name says it
    const void* const stream_;
    const CallStack* const queuedBy_;  // null: it is not known
    const RunningWork* const outer_;
};

}  // namespace advstep
