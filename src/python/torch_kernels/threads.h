// SPDX-License-Identifier: Apache-2.0
// The number of threads that a kernel of torch uses, which decides how it splits sums, and so the
// last bits of its result.

#pragma once

#include <ATen/Parallel.h>
#include <pthread.h>

#include <atomic>
#include <cstring>

// OpenMP's number for the calling thread. torch's own set_num_threads also sets that of every
// thread that starts later, so a worker that called it would change the program's.
extern "C" void omp_set_num_threads(int) __attribute__((weak));
// MKL's number for the calling thread; 0: it follows OpenMP's. It returns the number before. torch
// sets it when a thread first asks for the number of threads.
extern "C" int MKL_Set_Num_Threads_Local(int) __attribute__((weak));

namespace advstep_torch {

inline void SetThreadsOfThisThread(int threads) {
    if (omp_set_num_threads != nullptr) {
        omp_set_num_threads(threads);
    } else {
        at::set_num_threads(threads);
    }
}

/// Has the calling thread run kernels with `threads` in its scope.
class ThreadsScope {
 public:
    // at::get_num_threads first gives a new thread the program's number.
    explicit ThreadsScope(int threads)
        : before_(at::get_num_threads()), differs_(threads != before_) {
        if (differs_) {
            SetThreadsOfThisThread(threads);
            mklBefore_ =
                MKL_Set_Num_Threads_Local != nullptr ? MKL_Set_Num_Threads_Local(threads) : 0;
        }
    }
    ~ThreadsScope() {
        if (differs_) {
            SetThreadsOfThisThread(before_);
            if (MKL_Set_Num_Threads_Local != nullptr) {
                (void)MKL_Set_Num_Threads_Local(mklBefore_);
            }
        }
    }
    ThreadsScope(const ThreadsScope&) = delete;
    ThreadsScope& operator=(const ThreadsScope&) = delete;

 private:
    const int before_;
    const bool differs_;
    int mklBefore_ = 0;
};

/// Whether the calling thread is one of torch's own for gradients on "npu". On "cpu" gradients run
/// on the thread that asks for them.
inline bool IsThreadOfGradients() {
    thread_local const bool is = [] {
        char name[16] = "";
        (void)pthread_getname_np(pthread_self(), name, sizeof name);
        return std::strncmp(name, "pt_autograd_", 12) == 0;
    }();
    return is;
}

/// The number of threads for an operator that the calling thread asks for. A thread of gradients
/// keeps the number that the program had when it started, so it gets that of the program's thread
/// that last asked for an operator: the first gradient is made there.
inline int ThreadsOfCaller() {
    static std::atomic<int> ofProgram{0};
    const int own = at::get_num_threads();
    if (!IsThreadOfGradients()) {
        ofProgram.store(own, std::memory_order_relaxed);
        return own;
    }
    const int wanted = ofProgram.load(std::memory_order_relaxed);
    return wanted == 0 ? own : wanted;
}

}  // namespace advstep_torch
