// SPDX-License-Identifier: Apache-2.0
// Numbers of threads by OpenMP and MKL, and the modes of the floating-point environment.

#include "torch_kernels/device/thread_state.h"

#include <ATen/Parallel.h>
#include <pthread.h>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include <atomic>
#include <cstring>

// OpenMP's number for the calling thread. torch's own set_num_threads also sets that of every
// thread that starts later, so a worker that called it would change the program's.
extern "C" void omp_set_num_threads(int) __attribute__((weak));
// MKL's number for the calling thread; 0: it follows OpenMP's. It returns the number before. torch
// sets it when a thread first asks for the number of threads.
extern "C" int MKL_Set_Num_Threads_Local(int) __attribute__((weak));

namespace advstep_torch {
namespace {

void SetThreadsOfThisThread(int threads) {
    if (omp_set_num_threads != nullptr) {
        omp_set_num_threads(threads);
    } else {
        at::set_num_threads(threads);
    }
}

// Returns whether the calling thread is one of torch's own for gradients on "npu". On "cpu"
// gradients run on the thread that asks for them.
bool IsThreadOfGradients() {
    thread_local const bool is = [] {
        char name[16] = "";
        (void)pthread_getname_np(pthread_self(), name, sizeof name);
        return std::strncmp(name, "pt_autograd_", 12) == 0;
    }();
    return is;
}

constexpr unsigned kFlush = 0x8040;  // of results (FTZ) and arguments (DAZ)

unsigned FloatingPointMode() {
#if defined(__SSE2__)
    return _mm_getcsr();
#else
    return 0;
#endif
}

void SetFlush(unsigned mode, unsigned flush) {
#if defined(__SSE2__)
    if ((mode & kFlush) != flush) {
        _mm_setcsr((mode & ~kFlush) | flush);
    }
#else
    (void)mode, (void)flush;
#endif
}

}  // namespace

// at::get_num_threads first gives a new thread the program's number.
ThreadsScope::ThreadsScope(int threads)
    : before_(at::get_num_threads()), differs_(threads != before_) {
    if (differs_) {
        SetThreadsOfThisThread(threads);
        mklBefore_ = MKL_Set_Num_Threads_Local != nullptr ? MKL_Set_Num_Threads_Local(threads) : 0;
    }
}

ThreadsScope::~ThreadsScope() {
    if (differs_) {
        SetThreadsOfThisThread(before_);
        if (MKL_Set_Num_Threads_Local != nullptr) {
            (void)MKL_Set_Num_Threads_Local(mklBefore_);
        }
    }
}

int ThreadsOfCaller() {
    static std::atomic<int> ofProgram{0};
    const int own = at::get_num_threads();
    if (!IsThreadOfGradients()) {
        ofProgram.store(own, std::memory_order_relaxed);
        return own;
    }
    const int wanted = ofProgram.load(std::memory_order_relaxed);
    return wanted == 0 ? own : wanted;
}

DenormalsScope::DenormalsScope(unsigned wanted) : before_(FloatingPointMode()) {
    SetFlush(before_, wanted);
}

DenormalsScope::~DenormalsScope() { SetFlush(FloatingPointMode(), before_ & kFlush); }

unsigned DenormalsOfCaller() {
    static std::atomic<unsigned> ofProgram{0};
    if (IsThreadOfGradients()) {
        return ofProgram.load(std::memory_order_relaxed);
    }
    const unsigned own = FloatingPointMode() & kFlush;
    ofProgram.store(own, std::memory_order_relaxed);
    return own;
}

}  // namespace advstep_torch
