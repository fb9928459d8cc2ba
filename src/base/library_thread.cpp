// SPDX-License-Identifier: Apache-2.0
// Signals, CPUs and names of the library's threads.

#include "src/base/library_thread.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

namespace advstep {
namespace {

// A machine with more CPUs than these keeps the creator's mask for the library's threads.
constexpr size_t kCpuSets = 8;  // of 1024 CPUs each

struct ProcessCpus {
    ProcessCpus() noexcept { known = sched_getaffinity(getpid(), sizeof(sets), sets) == 0; }
    cpu_set_t sets[kCpuSets] = {};
    bool known = false;
};

// The CPUs of the process's first thread while the library is loaded. A program that narrows them
// for one of its threads later does so for that thread only.
const ProcessCpus processCpus;

}  // namespace

BlockedSignals::BlockedSignals() noexcept {
    sigset_t blocked;
    sigfillset(&blocked);
    // The first six are raised by the thread's own instructions, and their handlers must run: those
    // of guarded memory, of sanitizers, of debuggers. A profiler samples every thread by SIGPROF.
    for (const int open : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGPROF}) {
        sigdelset(&blocked, open);
    }
    pthread_sigmask(SIG_SETMASK, &blocked, &before_);
}

BlockedSignals::~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

void BecomeLibraryThread(const char* name) noexcept {
    (void)pthread_setname_np(pthread_self(), name);
    if (processCpus.known) {
        // If the process may use none of them any more, the thread keeps the mask of its creator.
        (void)sched_setaffinity(0, sizeof(processCpus.sets), processCpus.sets);
    }
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
}

}  // namespace advstep
