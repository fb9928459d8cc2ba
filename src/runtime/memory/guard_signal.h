// SPDX-License-Identifier: Apache-2.0
// The signal handler that reports accesses outside guarded blocks.

#pragma once

#include <cstdint>

namespace advstep {

struct GuardRecord;

/// Installs the handler of SIGSEGV and SIGBUS, once per process. The handler describes an access to
/// a guarded block on standard error. Then the handler that was installed before continues, or the
/// default action, so that debuggers, core dumps and sanitizers see what they would see without it.
void InstallGuardHandler();

/// Gives the thread an alternate signal stack for the rest of its life, if it has none. A handler
/// needs it when the thread's own stack is full.
void EnsureAlternateStack();

/// Ends the process because the byte at `address`, beside the block, is no longer that of the
/// pattern.
[[noreturn]] void DieOfWrittenEdge(const GuardRecord& record, uintptr_t address);

}  // namespace advstep
