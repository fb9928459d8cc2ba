#pragma once

#include <atomic>
#include <cstdint>

#include "src/base/status.h"

namespace advstep {

/// Bits, as AdvStepAllocationKind.
enum class AllocationKind : uint32_t { kInternal = 1, kMemory = 2 };

enum class LaunchFaultPlace { kAtCall, kInStream };

/// Threads that have asked for faults. Read before everything else, so that without faults a hook
/// costs a load.
inline std::atomic<uint32_t> threadsWithFaults{0};
inline bool FaultsWanted() noexcept {
    return __builtin_expect(threadsWithFaults.load(std::memory_order_relaxed) != 0, 0) != 0;
}

/// Counts an allocation of the calling thread; true: it is to fail.
bool CountAllocation(AllocationKind kind) noexcept;
inline bool AllocationFails(AllocationKind kind) noexcept {
    return FaultsWanted() && CountAllocation(kind);
}

/// Counts a launch of the calling thread. Its fault: the Status at the call, *codeInStream
/// otherwise.
Status CountLaunch(int32_t* codeInStream);

/// Requests of the calling thread, as the calls of advance_step/fault_injection.h.
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
