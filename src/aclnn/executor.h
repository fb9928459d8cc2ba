#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "aclnn/acl_meta.h"
#include "src/aclnn/plan_key.h"
#include "src/base/status.h"
#include "src/base/tensor_view.h"
#include "src/runtime/device/kernel_launch.h"

namespace advstep {

/// A tensor argument of an operator: static data.
struct TensorSlot {
    const char* name = nullptr;  // as the header spells it
    bool written = false;        // in/out or out
    size_t addressAt = 0;        // where the payload keeps the address of the first element
};

/// What the executor keeps of the tensor that was given for it.
struct PlannedTensor {
    uint8_t* address;     // of the first element, as in the payload; null while unknown
    int64_t spanBytes;    // of extent
    int64_t itemSize;     // bytes of an element, which addresses are multiples of
    int64_t offsetBytes;  // from the storage address to the first element
    MemoryExtent extent;
};

/// Everything phase one has worked out; `payload` are plain bytes, tiling and addresses.
struct Plan {
    KernelLaunch launch;
    const void* payload = nullptr;
    uint64_t workspaceBytes = 0;
    int64_t workspaceAt = -1;  // where the payload keeps the workspace's address; -1: it has none
    bool allDistinct = false;  // tensors that are only read may not overlap one another either
    const TensorSlot* slots = nullptr;  // in signature order; outlives the executor
    const TensorView* const* views = nullptr;
    int32_t tensorCount = 0;
    const PlanKey* key = nullptr;  // null: the plan is not to be found again
};

}  // namespace advstep

/// The plan of one call, from phase one to phase two: the prebuilt launch record.
///
/// Records are pooled. `state` tells a live one from a spent one, also when the same record is used
/// twice at a time; everything else belongs to whoever holds the executor.
struct aclOpExecutor {
    enum class State : uint32_t { kFree, kPlanned, kRepeatable };
    static constexpr int32_t kMostTensors = 24;
    static constexpr size_t kMostPayload = 512;

    std::atomic<State> state{State::kFree};
    advstep::PlanKey key;  // of what the record holds; survives its use
    advstep::KernelLaunch launch;
    uint64_t workspaceBytes = 0;
    int64_t workspaceAt = -1;
    bool allDistinct = false;
    uint64_t checkedEpoch = 0;        // of DeviceMemory, when all addresses were last found good
    const void* workspace = nullptr;  // that the payload has, and
    uint64_t workspaceEpoch = 0;      // the epoch when it was last found good
    const advstep::TensorSlot* slots = nullptr;
    int32_t tensorCount = 0;
    // Of the addresses, as LookAtAddresses found them.
    bool known = false;    // all that are needed
    bool aligned = false;  // to their elements
    bool apart = false;    // none overlaps another, even if rows had no gaps between them
    advstep::PlannedTensor tensors[kMostTensors];
    alignas(advstep::kTaskAlignment) unsigned char payload[kMostPayload];
    aclOpExecutor* nextFree = nullptr;  // of the ObjectPool

    void SetAddress(int32_t index, uint8_t* address) {
        tensors[index].address = address;
        std::memcpy(payload + slots[index].addressAt, &address, sizeof(address));
    }
};

namespace advstep {

/// An executor for a plan that has been made, used and not changed before, if there is one at hand.
/// False: phase one has to go its way. With useless arguments as well, for it to say so.
bool PlannedBefore(const PlanKey& key, uint64_t* workspaceSize, aclOpExecutor** executor);

/// An executor for the plan. 161002: a written tensor (with allDistinct: any) overlaps another one,
/// as far as addresses are known.
Status MakeExecutor(const Plan& plan, aclOpExecutor** executor);

/// Takes the record back; its state is kFree already.
void RecycleExecutor(aclOpExecutor* executor) noexcept;

/// After a change of addresses.
void LookAtAddresses(aclOpExecutor* executor);

/// 161002 as MakeExecutor; the addresses have been looked at.
Status CheckOverlaps(const aclOpExecutor& executor);

}  // namespace advstep
