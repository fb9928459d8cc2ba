// SPDX-License-Identifier: Apache-2.0
// What the kernel tells about the threads of this process: which there are, and what blocks one.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace advstep {

/// Why a thread does not run.
struct ThreadBlock {
    enum class Kind {
        kNone,   // it runs, or wakes up by itself, or nothing is known
        kMutex,  // it waits for a mutex without a timeout
        kJoin,   // it waits without a timeout for the end of the thread `other`
        kOther,  // it waits without a timeout for another one to wake it
    };
    Kind kind = Kind::kNone;
    pid_t other = 0;     // the owner of the mutex, or the thread that has to end
    uintptr_t word = 0;  // the address at which it waits
};

/// Returns the threads of this process. Empty: the kernel does not tell.
std::vector<pid_t> ThreadsOfProcess();

/// Returns what blocks a thread of this process, as the C library keeps mutexes and joins.
ThreadBlock BlockOf(pid_t thread);

}  // namespace advstep
