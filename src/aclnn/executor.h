// SPDX-License-Identifier: Apache-2.0
// The executor of an operator call: launch, payload and tensors, as phase one planned them.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "aclnn/acl_meta.h"
#include "src/aclnn/object_pool.h"
#include "src/aclnn/plan_key.h"
#include "src/base/status.h"
#include "src/base/tensor_view.h"
#include "src/runtime/device/kernel_launch.h"

namespace advstep {

class HostLaunch;

/// The static description of an operator's tensor.
struct TensorSlot {
    const char* name = nullptr;  // as the public header spells it
    bool written = false;        // the operator writes the tensor
    size_t addressAt = 0;        // offset in the payload of the first element's address
};

/// The executor's data about one tensor.
struct PlannedTensor {
    uint8_t* address;     // of the first element, as in the payload; null while unknown
    int64_t spanBytes;    // the span of `extent`
    int64_t itemSize;     // the bytes of an element; the address must be a multiple of it
    int64_t offsetBytes;  // from the storage address to the first element
    MemoryExtent extent;
    bool isPresent;  // false: the call left it out, and its address stays null
    bool hasGaps;    // the extent has bytes that the tensor does not have
};

/// The result of phase one. `payload` holds plain bytes: tiling data and addresses.
struct Plan {
    PlannedLaunch launch;
    const void* payload = nullptr;
    uint64_t workspaceBytes = 0;
    int64_t workspaceAt = -1;  // offset in the payload of the workspace's address; -1: none, as
                               // with 0 bytes: then phase two takes any workspace, also null
    bool allDistinct = false;  // read tensors too must not overlap each other
    const TensorSlot* slots = nullptr;  // in signature order; outlives the executor
    const TensorView* views = nullptr;  // in signature order
    int32_t tensorCount = 0;
    const PlanKey* key = nullptr;  // null: PlannedBefore never finds this plan
    const void* owner = nullptr;   // stands for the operator in its library; its tables share it
};

}  // namespace advstep

/// The plan of one call, from phase one to phase two: of a kernel, or of a host operator (`host`),
/// which uses the members up to `known` and of `launch` only the device. Its records are pooled.
/// `state` distinguishes a live record from a spent one, even if two threads use the same record at
/// a time. All other members belong to the owner of the executor.
struct aclOpExecutor {
    enum class State : uint32_t { kFree, kPlanned, kRepeatable };
    static constexpr int32_t kMostTensors = 24;
    static constexpr size_t kMostPayload = 512;

    std::atomic<State> state{State::kFree};
    aclOpExecutor* nextFree = nullptr;    // belongs to the ObjectPool
    advstep::HostLaunch* host = nullptr;  // a share of it; null: a kernel, or a free record
    const void* owner = nullptr;          // as in the plan; of a host operator, its call's owner
    uint64_t workspaceBytes = 0;
    uint64_t checkedEpoch = 0;  // DeviceMemory's epoch at the last successful check of all tensors
    bool known = false;         // every tensor with elements has an address
    // The next two are results of LookAtAddresses, as `known` is for a kernel.
    bool aligned = false;  // all addresses are multiples of the size of an element
    bool apart = false;    // no two spans overlap; gaps between rows count as part of a span. And
                           // none ends beyond the last address
    bool allDistinct = false;
    int32_t tensorCount = 0;
    advstep::PlannedLaunch launch;
    advstep::PlanKey key;  // of the plan in the record; it stays after the record is spent
    int64_t workspaceAt = -1;
    const void* workspace = nullptr;  // the workspace whose aligned address is in the payload
    uint64_t workspaceEpoch = 0;      // the epoch at its last successful check; 0: check anew
    const advstep::TensorSlot* slots = nullptr;
    advstep::PlannedTensor tensors[kMostTensors];
    alignas(advstep::kTaskAlignment) unsigned char payload[kMostPayload];

    void SetAddress(int32_t index, uint8_t* address) {
        tensors[index].address = address;
        std::memcpy(payload + slots[index].addressAt, &address, sizeof(address));
    }
};

namespace advstep {

/// Reuses the record of an equal plan that was made before and not changed. Returns false if there
/// is none, and for invalid arguments: phase one then makes a new plan or reports the error.
bool PlannedBefore(const PlanKey& key, uint64_t* workspaceSize, aclOpExecutor** executor);

/// 161002: elements of the view have no whole bytes, or no addresses. `name` is the tensor's.
Status CheckExtent(const TensorView& view, const char* name);

/// 161002: elements of the view have no addresses.
Status CheckAddresses(const TensorView& view, const char* name);

/// Returns the elements from the first one to the last one of a view that CheckAddresses passes.
int64_t SpannedElements(const TensorView& view);

/// 161002: not an executor of this library.
Status NoExecutorError(const aclOpExecutor* executor);

/// Refuses what is no executor of this library, without reading it. 161002: it is none.
inline Status RequireOwnExecutor(const aclOpExecutor* executor) {
    return __builtin_expect(ObjectPool<aclOpExecutor>::Owns(executor), 1)
               ? Status()
               : NoExecutorError(executor);
}

/// Returns the name of the call of which a live executor is.
const char* CallOf(const aclOpExecutor& executor);

/// Makes an executor of a host operator, and takes over the share of the launch.
aclOpExecutor* MakeHostExecutor(HostLaunch* launch);

/// Makes an executor for the plan, whose views CheckExtent has passed. 161002: a written tensor
/// (with allDistinct: any tensor) overlaps another one, or a tensor ends beyond the last address.
/// Tensors whose address is unknown are not compared.
Status MakeExecutor(const Plan& plan, aclOpExecutor** executor);

/// Returns the record to the pool, and drops its share of a host launch. Its state must be kFree.
void RecycleExecutor(aclOpExecutor* executor) noexcept;

/// Updates `known`, `aligned` and `apart`. The caller has changed addresses.
void LookAtAddresses(aclOpExecutor* executor);

/// Checks the tensors for overlaps, and for ends beyond the last address, with the results of
/// LookAtAddresses. 161002: as MakeExecutor.
Status CheckOverlaps(const aclOpExecutor& executor);

}  // namespace advstep
