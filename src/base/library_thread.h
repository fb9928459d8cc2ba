// SPDX-License-Identifier: Apache-2.0
// The start of the library's own threads, which leave the program's signals and CPUs alone.

#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstddef>
#include <thread>
#include <utility>

namespace advstep {

/// Blocks the signals that no thread of the library takes, for the calling thread and until the end
/// of the scope. A thread that is started in the scope has them blocked from its first instruction.
class BlockedSignals {
 public:
    BlockedSignals() noexcept;
    ~BlockedSignals();
    BlockedSignals(const BlockedSignals&) = delete;
    BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
    sigset_t before_;
};

/// Prepares the calling thread, which the library has just started: sets its name, gives it the
/// CPUs that the process had when the library was loaded and the default floating-point
/// environment, and disables pthread_cancel for it.
void BecomeLibraryThread(const char* name) noexcept;

/// Notes that the calling thread, which has become one of the library's, ends.
void LeaveLibraryThread() noexcept;

/// Returns whether the thread of that number is one of the library's. The list has an end: of very
/// many threads, the last ones are not known.
bool IsLibraryThread(pid_t thread) noexcept;

/// Starts a thread of the library. All of the library's threads are started here. They block every
/// signal except SIGPROF and those that a fault of the thread itself raises. So a signal of the
/// process always reaches a thread of the program. Throws std::system_error if no thread can be
/// started.
template <size_t kNameBytes, typename Body>
std::thread StartThread(const char (&name)[kNameBytes], Body body) {
    static_assert(kNameBytes <= 16, "Linux keeps 15 characters of a thread's name");
    const BlockedSignals blocked;
    return std::thread([text = &name[0], body = std::move(body)]() mutable {
        BecomeLibraryThread(text);
        body();
        LeaveLibraryThread();
    });
}

}  // namespace advstep
