// SPDX-License-Identifier: Apache-2.0
// The trace of simulated cores: a slice for each chunk that a thread plays.

#pragma once

#include <cstdint>

namespace advstep {

/// A task of a stream, as the trace names it.
struct TracedTask {
    int32_t stream = -1;  // none
    uint64_t sequence = 0;
};

/// Notes the task that the calling thread is about to run. Called only while there is a trace.
void SetTracedTask(const TracedTask& task);

/// The kernel that the calling thread has begun to run, as the threads that play its cores see it.
struct TracedKernel {
    bool traced = false;
    int32_t device = 0;
    const char* call = nullptr;  // static text
    TracedTask task;

    static TracedKernel Now(int32_t device, const char* call);
};

/// Times the cores of one phase that the calling thread plays one after another, if the kernel is
/// traced.
class CoreSlice {
 public:
    CoreSlice(const TracedKernel& kernel, int32_t phase, int32_t first, int32_t count);
    ~CoreSlice() {
        if (kernel_.traced) {
            Add();
        }
    }
    CoreSlice(const CoreSlice&) = delete;
    CoreSlice& operator=(const CoreSlice&) = delete;

 private:
    void Add() const noexcept;

    const TracedKernel& kernel_;
    const int32_t phase_;
    const int32_t first_;  // in the order in which the cores are played
    const int32_t count_;
    const int64_t begin_;
};

}  // namespace advstep
