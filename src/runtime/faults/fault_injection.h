// SPDX-License-Identifier: Apache-2.0
// Hooks at which a test can make allocations and launches fail.

#pragma once

#include <atomic>
#include <cstdint>

#include "src/base/status.h"

namespace advstep {

/// Bits, with the values of AdvStepAllocationKind.
enum class AllocationKind : uint32_t { kInternal = 1, kMemory = 2 };

enum class LaunchFaultPlace { kAtCall, kInStream };

/// The number of threads that have asked for faults. It is read before everything else, so that a
/// hook costs one load if there are no faults.
inline std::atomic<uint32_t> threadsWithFaults{0};
inline bool FaultsWanted() noexcept {
    return __builtin_expect(threadsWithFaults.load(std::memory_order_relaxed) != 0, 0) != 0;
}

/// Counts an allocation of the calling thread. Returns true if it is to fail.
bool CountAllocation(AllocationKind kind) noexcept;
inline bool AllocationFails(AllocationKind kind) noexcept {
    return FaultsWanted() && CountAllocation(kind);
}

/// Counts a launch of the calling thread. Returns the failure of a launch that is to fail at the
/// call. Sets *codeInStream for a launch that is to fail in the stream.
Status CountLaunch(int32_t* codeInStream);

/// Requests of the calling thread. They do what the calls of advance_step/fault_injection.h do.
void FailAllocations(uint32_t kinds, uint64_t first, uint64_t count) noexcept;
void FailLaunch(uint64_t n, int32_t code, LaunchFaultPlace place) noexcept;
void ClearThreadFaults() noexcept;

struct FaultCounts {
    uint64_t allocations = 0;
    uint64_t failedAllocations = 0;
    uint64_t launches = 0;
    uint64_t failedLaunches = 0;
};
FaultCounts ReadFaultCounts() noexcept;

}  // namespace advstep
