// SPDX-License-Identifier: Apache-2.0
// The start of the library's own threads, which take no signals of the program.

#pragma once

#include <pthread.h>
#include <signal.h>

#include <exception>
#include <thread>
#include <utility>

#include "src/hccl/outcome.h"

namespace advstep::hccl {

/// Starts a thread in which all signals are blocked. HCCL_E_SYSCALL: there is none to be had.
template <typename Body>
Outcome StartQuietThread(Body&& body, std::thread* thread) {
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    Outcome outcome;
    try {
        *thread = std::thread(std::forward<Body>(body));
    } catch (const std::exception& error) {
        outcome = {HCCL_E_SYSCALL, "no thread can be started"};
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return outcome;
}

}  // namespace advstep::hccl
