#pragma once

#include <cstdint>

namespace advstep {

struct GuardRecord;

/// Installs the handler of SIGSEGV and SIGBUS, once per process: for an address of a guarded block
/// it writes to standard error what was touched. Then the handler of before goes on, or the default
/// action, so that debuggers, core dumps and sanitizers see what they would have seen.
void InstallGuardHandler();

/// Gives the thread an alternate signal stack for the rest of its life, if it has none: a handler
/// needs one where the thread's own is full.
void EnsureAlternateStack();

/// Ends the process because the byte at `address`, beside the block, is not the pattern's.
[[noreturn]] void DieOfWrittenEdge(const GuardRecord& record, uintptr_t address);

}  // namespace advstep
