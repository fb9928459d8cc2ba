// SPDX-License-Identifier: Apache-2.0
// Holds back the signals that come with the error of a write.

#pragma once

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <cerrno>

namespace advstep {

/// Holds back SIGXFSZ and SIGPIPE until the end of the scope. The kernel sends them to the thread
/// whose write or ftruncate fails with EFBIG or EPIPE, and by default they end the program. A call
/// that reports the error needs neither. Those that came in the scope are dropped at its end, where
/// errno stays as it is. The scope lies inside a NoCancellation, because it can wait.
class NoFileSignals {
 public:
    NoFileSignals() noexcept {
        const sigset_t held = Held();
        (void)pthread_sigmask(SIG_BLOCK, &held, &mask_);
        (void)sigpending(&before_);
    }
    ~NoFileSignals() {
        const int error = errno;
        sigset_t pending;
        (void)sigpending(&pending);
        for (const int signal : {SIGXFSZ, SIGPIPE}) {
            if (sigismember(&pending, signal) == 1 && sigismember(&before_, signal) == 0) {
                sigset_t one;
                (void)sigemptyset(&one);
                (void)sigaddset(&one, signal);
                const timespec now{};
                (void)sigtimedwait(&one, nullptr, &now);
            }
        }
        (void)pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
        errno = error;
    }
    NoFileSignals(const NoFileSignals&) = delete;
    NoFileSignals& operator=(const NoFileSignals&) = delete;

 private:
    static sigset_t Held() noexcept {
        sigset_t held;
        (void)sigemptyset(&held);
        (void)sigaddset(&held, SIGXFSZ);
        (void)sigaddset(&held, SIGPIPE);
        return held;
    }

    sigset_t mask_{};    // of the thread, before the scope
    sigset_t before_{};  // pending before the scope
};

}  // namespace advstep
