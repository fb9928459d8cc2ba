// SPDX-License-Identifier: Apache-2.0
// Keeps the work that each thread runs, and describes it when the thread crashes.

#include "src/runtime/task/running_work.h"

#include <atomic>

#include "src/base/crash_signal.h"
#include "src/base/fork.h"

namespace advstep {
namespace {

constexpr size_t kMostFrames = 8;  // that are printed

const ForkHook forgetWork([](void*) noexcept { RunningWork::innermost = nullptr; });

}  // namespace

RunningWork::RunningWork(const Task& task, const void* stream, const CallStack* queuedBy) noexcept
    : task_(&task),
      name_(task.type != nullptr && task.type->describesCrash ? nullptr : task.name),
      call_(task.type != nullptr ? task.type->call : nullptr),
      stream_(stream),
      queuedBy_(queuedBy),
      outer_(innermost) {
    std::atomic_signal_fence(std::memory_order_release);  // whole when the handler finds it
    innermost = this;
}

RunningWork::RunningWork(const char* name, const char* call, const void* stream) noexcept
    : task_(nullptr),
      name_(name),
      call_(call),
      stream_(stream),
      queuedBy_(nullptr),
      outer_(innermost) {
    std::atomic_signal_fence(std::memory_order_release);
    innermost = this;
}

RunningWork::~RunningWork() {
    innermost = outer_;
    std::atomic_signal_fence(std::memory_order_release);
}

void RunningWork::DescribeCrashes() {
    // Several threads may come here first, and so may the child of a fork: it is done twice then.
    static std::atomic<bool> described{false};
    if (!described.load(std::memory_order_acquire)) {
        advstep::DescribeCrashes({SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}, &Describe);
        described.store(true, std::memory_order_release);
    }
}

// The functions below run in the signal handler.

const char* RunningWork::Expected() const {
    if (task_ == nullptr || task_->kind == TaskKind::kHostFunction) {
        return "a function that stays loaded and returns";
    }
    return task_->category == TaskCategory::kKernel
               ? "a kernel that returns"
               : "memory that stays mapped until the work has run";
}

void RunningWork::Describe(int signal, const siginfo_t& info, const void*) {
    const RunningWork* const work = innermost;
    if (work == nullptr || work->name_ == nullptr || !RaisedByProcess(info)) {
        return;
    }
    SignalLine line;
    line << "advance_step error: " << work->name_ << " of stream ";
    line.Address(reinterpret_cast<uintptr_t>(work->stream_));
    if (work->call_ != nullptr) {
        line << ", queued by " << work->call_ << ",";
    }
    (line.Crash(signal, info) << "; expected " << work->Expected()).Write();
    if (work->queuedBy_ != nullptr) {
        SignalLine heading;
        (heading << "  it was queued in:").Write();
        work->queuedBy_->Write(kMostFrames);
    }
}

}  // namespace advstep
