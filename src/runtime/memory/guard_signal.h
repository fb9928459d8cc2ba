// SPDX-License-Identifier: Apache-2.0
// The report of accesses outside guarded blocks, made in a signal handler.

#pragma once

#include <cstdint>

namespace advstep {

struct GuardRecord;

/// Makes the handlers of SIGSEGV and SIGBUS (base/crash_signal.h) describe an access to a guarded
/// block on standard error.
void InstallGuardHandler();

/// Ends the process because the byte at `address`, beside the block, is no longer that of the
/// pattern.
[[noreturn]] void DieOfWrittenEdge(const GuardRecord& record, uintptr_t address);

}  // namespace advstep
