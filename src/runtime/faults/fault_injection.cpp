// SPDX-License-Identifier: Apache-2.0
// Counts the allocations and launches of each thread, and fails those that a test chose.

#include "src/runtime/faults/fault_injection.h"

#include "src/base/fork.h"
#include "src/base/sanitizer_scope.h"

namespace advstep {
namespace {

// Plain data: every allocation looks at it, so it must need no allocation itself.
struct ThreadFaults {
    bool wanted;
    uint32_t kinds;
    uint64_t firstAllocation;
    uint64_t allocationCount;
    uint64_t launch;
    int32_t launchCode;
    LaunchFaultPlace place;
    FaultCounts counts;
};

thread_local ThreadFaults faults{};

// The forking thread keeps its faults. The faults of the other threads are gone with the threads.
const ForkHook forgetFaults([](void*) noexcept { threadsWithFaults = faults.wanted ? 1 : 0; });

void Want() noexcept {
    if (!faults.wanted) {
        faults.wanted = true;
        threadsWithFaults.fetch_add(1, std::memory_order_relaxed);
    }
}

}  // namespace

bool CountAllocation(AllocationKind kind) noexcept {
    if (!faults.wanted || (faults.kinds & static_cast<uint32_t>(kind)) == 0 ||
        ForkHook::Renewing() || SanitizerScope::Entered()) {
        return false;
    }
    const uint64_t number = ++faults.counts.allocations;
    if (faults.firstAllocation == 0 || number < faults.firstAllocation ||
        number - faults.firstAllocation >= faults.allocationCount) {
        return false;
    }
    ++faults.counts.failedAllocations;
    return true;
}

Status CountLaunch(int32_t* codeInStream) {
    if (!faults.wanted || ++faults.counts.launches != faults.launch) {
        return {};
    }
    ++faults.counts.failedLaunches;
    if (faults.place == LaunchFaultPlace::kInStream) {
        *codeInStream = faults.launchCode;
        return {};
    }
    return Error(faults.launchCode, "the launch was made to fail with {} by advstepFailLaunch",
                 faults.launchCode);
}

void FailAllocations(uint32_t kinds, uint64_t first, uint64_t count) noexcept {
    faults.kinds = kinds;
    faults.firstAllocation = first;
    faults.allocationCount = count;
    faults.counts.allocations = 0;
    faults.counts.failedAllocations = 0;
    Want();
}

void FailLaunch(uint64_t n, int32_t code, LaunchFaultPlace place) noexcept {
    faults.launch = n;
    faults.launchCode = code;
    faults.place = place;
    faults.counts.launches = 0;
    faults.counts.failedLaunches = 0;
    Want();
}

void ClearThreadFaults() noexcept {
    if (faults.wanted) {
        threadsWithFaults.fetch_sub(1, std::memory_order_relaxed);
    }
    faults = ThreadFaults{};
}

FaultCounts ReadFaultCounts() noexcept { return faults.counts; }

}  // namespace advstep
