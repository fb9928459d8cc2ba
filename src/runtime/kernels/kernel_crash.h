// SPDX-License-Identifier: Apache-2.0
// The report of a kernel that crashes: its name and block, on standard error.

#pragma once

#include <cstdint>

namespace advstep {

/// Makes the handlers of crashes (base/crash_signal.h) name the kernel and the block that the
/// crashed thread runs.
void DescribeKernelCrashes();

/// The block of a kernel that a thread runs.
struct RunningBlock {
    const char* name = nullptr;  // never freed; null: the thread runs none
    uint32_t block = 0;
    uint32_t count = 0;
};

/// Marks the block as the one that the calling thread runs, until the end of the scope.
class RunningBlockScope {
 public:
    explicit RunningBlockScope(const RunningBlock& block) noexcept;
    ~RunningBlockScope();
    RunningBlockScope(const RunningBlockScope&) = delete;
    RunningBlockScope& operator=(const RunningBlockScope&) = delete;

 private:
    const RunningBlock before_;
};

}  // namespace advstep
