// SPDX-License-Identifier: Apache-2.0
// Numbers of threads by OpenMP and MKL.

#include "src/operators/aten/threads.h"

#include <ATen/Parallel.h>

#include <cstdlib>

// OpenMP's number for the calling thread. ATen's own set_num_threads also sets that of every thread
// that starts later, so a worker that called it would change the program's.
extern "C" void omp_set_num_threads(int) __attribute__((weak));
// MKL's number for the calling thread; 0: it follows OpenMP's. It returns the number before.
extern "C" int MKL_Set_Num_Threads_Local(int) __attribute__((weak));

namespace advstep_operators {
namespace {

int Wanted() {
    static const int wanted = [] {
        const char* const text = secure_getenv("ADVANCE_STEP_OPERATOR_THREADS");
        const int number = text != nullptr ? std::atoi(text) : 0;
        return number > 0 ? number : at::get_num_threads();
    }();
    return wanted;
}

void SetThreadsOfThisThread(int threads) {
    if (omp_set_num_threads != nullptr) {
        omp_set_num_threads(threads);
    } else {
        at::set_num_threads(threads);
    }
}

}  // namespace

// at::get_num_threads first gives a new thread the program's number.
ThreadsScope::ThreadsScope() : before_(at::get_num_threads()) {
    if (before_ != Wanted()) {
        SetThreadsOfThisThread(Wanted());
        mklBefore_ = MKL_Set_Num_Threads_Local != nullptr ? MKL_Set_Num_Threads_Local(Wanted()) : 0;
    }
}

ThreadsScope::~ThreadsScope() {
    if (before_ != Wanted()) {
        SetThreadsOfThisThread(before_);
        if (MKL_Set_Num_Threads_Local != nullptr) {
            (void)MKL_Set_Num_Threads_Local(mklBefore_);
        }
    }
}

}  // namespace advstep_operators
