// SPDX-License-Identifier: Apache-2.0
// Names the kernel and block of a crash from within the signal handler.

#include "src/runtime/kernels/kernel_crash.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "src/base/crash_signal.h"
#include "src/base/signal_line.h"

namespace advstep {
namespace {

// The model is initial-exec, so that a signal handler may read the variable.
[[gnu::tls_model("initial-exec")]] thread_local RunningBlock runningBlock;

void SetRunningBlock(const RunningBlock& block) noexcept {
    runningBlock.name = nullptr;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    runningBlock.block = block.block;
    runningBlock.count = block.count;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    runningBlock.name = block.name;
    std::atomic_signal_fence(std::memory_order_seq_cst);
}

const char* NameOf(int signal) {
    switch (signal) {
        case SIGSEGV:
            return "SIGSEGV";
        case SIGBUS:
            return "SIGBUS";
        case SIGFPE:
            return "SIGFPE";
        case SIGILL:
            return "SIGILL";
        default:
            return "SIGABRT";
    }
}

void DescribeBlock(int signal, const siginfo_t& info, const void*) {
    // A signal of another process meets the block by chance. The signals of abort and raise come
    // from this process.
    const bool own = info.si_code > 0 || (info.si_code == SI_TKILL && info.si_pid == getpid());
    if (!own || runningBlock.name == nullptr) {
        return;
    }
    SignalLine line;
    line << "advance_step error: " << runningBlock.name << ": block ";
    line.Number(runningBlock.block) << " of ";
    line.Number(runningBlock.count) << " crashes by " << NameOf(signal);
    if (info.si_code > 0) {
        line << " at ";
        line.Address(reinterpret_cast<uintptr_t>(info.si_addr));
    }
    (line << "; expected a kernel that returns").Write();
}

}  // namespace

void DescribeKernelCrashes() {
    DescribeCrashes({SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}, &DescribeBlock);
}

RunningBlockScope::RunningBlockScope(const RunningBlock& block) noexcept : before_(runningBlock) {
    SetRunningBlock(block);
}

RunningBlockScope::~RunningBlockScope() { SetRunningBlock(before_); }

}  // namespace advstep
