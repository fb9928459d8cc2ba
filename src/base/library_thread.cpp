// SPDX-License-Identifier: Apache-2.0
// Signals, CPUs, floating-point environment and names of the library's threads.

#include "src/base/library_thread.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>

#include "src/base/float_environment.h"

namespace advstep {
namespace {

// The size of a CPU mask, in sets of 1024 CPUs. On a machine with more CPUs, the library's threads
// keep the mask of their creator.
constexpr size_t kCpuSets = 8;

struct ProcessCpus {
    ProcessCpus() noexcept { known = sched_getaffinity(getpid(), sizeof(sets), sets) == 0; }
    cpu_set_t sets[kCpuSets] = {};
    bool known = false;
};

// The CPUs of the process's first thread when the library is loaded. If the program later narrows
// them for one of its threads, the library's threads are not affected.
const ProcessCpus processCpus;

// The numbers of the library's threads; 0: a free place. Those of the parent of a fork are left in
// its child, where at worst a number is used again for a thread of the program.
std::atomic<pid_t> libraryThreads[1024];

}  // namespace

BlockedSignals::BlockedSignals() noexcept {
    sigset_t blocked;
    sigfillset(&blocked);
    // Instructions of the thread itself raise the first six, whose handlers must run: handlers of
    // guarded memory, sanitizers and debuggers. A profiler samples every thread by SIGPROF.
    for (const int open : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGPROF}) {
        sigdelset(&blocked, open);
    }
    pthread_sigmask(SIG_SETMASK, &blocked, &before_);
}

BlockedSignals::~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

void BecomeLibraryThread(const char* name) noexcept {
    (void)pthread_setname_np(pthread_self(), name);
    if (processCpus.known) {
        // This fails if the process may use none of them any more: the creator's mask stays.
        (void)sched_setaffinity(0, sizeof(processCpus.sets), processCpus.sets);
    }
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
    DefaultFloatEnvironment::Set();  // a new thread has its creator's
    for (std::atomic<pid_t>& place : libraryThreads) {
        pid_t none = 0;
        if (place.compare_exchange_strong(none, gettid())) {
            return;
        }
    }
}

void LeaveLibraryThread() noexcept {
    for (std::atomic<pid_t>& place : libraryThreads) {
        if (place.load() == gettid()) {
            place.store(0);
        }
    }
}

bool IsLibraryThread(pid_t thread) noexcept {
    for (const std::atomic<pid_t>& place : libraryThreads) {
        if (place.load() == thread) {
            return true;
        }
    }
    return false;
}

}  // namespace advstep
