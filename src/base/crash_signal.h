// SPDX-License-Identifier: Apache-2.0
// The handlers of crash signals. They describe the crash and pass the signal on.

#pragma once

#include <signal.h>

#include <initializer_list>

namespace advstep {

/// Describes a crash on standard error, if it is of the kind that this function knows. It runs in a
/// signal handler.
using DescribeCrash = void (*)(int signal, const siginfo_t& info, const void* context);

/// Installs handlers of the signals, once per process, which call `describe`. Then they call the
/// handler that was installed before, or take the default action. So programs, debuggers, core
/// dumps and sanitizers work as without these handlers. The signals are among SIGSEGV, SIGBUS,
/// SIGFPE, SIGILL and SIGABRT. At most two functions describe a signal.
void DescribeCrashes(std::initializer_list<int> signals, DescribeCrash describe);

/// Gives the thread an alternate signal stack for the rest of its life, if it has none. A handler
/// needs it when the thread's own stack is full.
void EnsureAlternateStack();

}  // namespace advstep
