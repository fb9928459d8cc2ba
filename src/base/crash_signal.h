// SPDX-License-Identifier: Apache-2.0
// The handlers of the signals of a crash, which describe it and pass the signal on.

#pragma once

#include <signal.h>

#include <initializer_list>

namespace advstep {

/// Describes the crash on standard error if it is one of its own. It runs in a signal handler.
using DescribeCrash = void (*)(int signal, const siginfo_t& info, const void* context);

/// Installs the handlers of the signals, once per process, and has them call `describe`. After that
/// the handler that was installed before continues, or the default action, so that programs,
/// debuggers, core dumps and sanitizers see what they would see without this handler. The signals
/// are among SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT. At most two functions describe a signal.
void DescribeCrashes(std::initializer_list<int> signals, DescribeCrash describe);

/// Gives the thread an alternate signal stack for the rest of its life, if it has none. A handler
/// needs it when the thread's own stack is full.
void EnsureAlternateStack();

}  // namespace advstep
