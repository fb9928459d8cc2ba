// SPDX-License-Identifier: Apache-2.0
// Makes executors from plans, recycles them and checks their tensors for overlaps.

#include "src/aclnn/executor.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "src/aclnn/host_launch.h"
#include "src/base/dtype.h"
#include "src/base/live_objects.h"

namespace advstep {
namespace {

constexpr size_t kExecutorLooks = 8;  // the number of plans that a program typically has in turns

// Returns whether all elements of a view have addresses that can be computed. The stride of a
// dimension of 1 says nothing.
bool FitsMemory(const TensorView& view) {
    int64_t last = 0;
    for (int64_t axis = 0; axis < view.rank; ++axis) {
        int64_t step = 0;
        if (view.dims[axis] < 0 || (view.dims[axis] > 1 && view.strides[axis] < 0) ||
            __builtin_mul_overflow(std::max<int64_t>(view.dims[axis], 1) - 1, view.strides[axis],
                                   &step) ||
            __builtin_add_overflow(last, step, &last)) {
            return false;
        }
    }
    return last < kMostElements && HasExtent(view);
}

// Returns the memory of a view. A contiguous view is one run. Rows along the first axis that are
// contiguous, as the operators of this library take them, are a run each. Any other view is one
// run, with its gaps.
MemoryExtent ExtentOf(const TensorView& view) {
    if (view.packedBytes >= 0) {
        return {1, view.packedBytes, view.packedBytes};
    }
    const int64_t bytes = SpannedElements(view) * view.itemSize;
    MemoryExtent extent{1, bytes, bytes};
    if (view.rank < 2 || bytes == 0) {
        return extent;
    }
    TensorView row = view;
    --row.rank;
    ++row.dims;
    ++row.strides;
    const int64_t rowElements = advance_step::op::ElementsOf(row);
    if (view.dims[0] > 1 && view.strides[0] > rowElements && IsContiguous(row)) {
        extent.rows = view.dims[0];
        extent.rowBytes = rowElements * view.itemSize;
        extent.strideBytes = view.strides[0] * view.itemSize;
    }
    return extent;
}

// Returns whether the tensor, or what lies before it in its storage, has no addresses.
bool EndsBeyondMemory(const PlannedTensor& tensor) {
    const auto begin = reinterpret_cast<uintptr_t>(tensor.address);
    return begin != 0 && (begin < static_cast<uintptr_t>(tensor.offsetBytes) ||
                          begin > UINTPTR_MAX - static_cast<uintptr_t>(tensor.spanBytes));
}

// Checks every tensor, and every pair. Gaps between rows do not count as part of a tensor.
Status FindOverlap(const aclOpExecutor& executor) {
    for (int32_t index = 0; index < executor.tensorCount; ++index) {
        const PlannedTensor& tensor = executor.tensors[index];
        if (EndsBeyondMemory(tensor)) {
            return Error(
                ACLNN_ERR_PARAM_INVALID,
                "{} takes {} bytes at offset {} of {:#x}; expected an end of at most {:#x}",
                executor.slots[index].name, tensor.spanBytes, tensor.offsetBytes,
                reinterpret_cast<uintptr_t>(tensor.address) -
                    static_cast<uintptr_t>(tensor.offsetBytes),
                UINTPTR_MAX);
        }
    }
    for (int32_t index = 0; index < executor.tensorCount; ++index) {
        const TensorSlot& written = executor.slots[index];
        const uint8_t* const begin = executor.tensors[index].address;
        if ((!written.written && !executor.allDistinct) || begin == nullptr) {
            continue;
        }
        const int64_t bytes = executor.tensors[index].spanBytes;
        for (int32_t other = 0; other < executor.tensorCount; ++other) {
            const PlannedTensor& tensor = executor.tensors[other];
            const uint8_t* const address = tensor.address;
            if (other == index || address == nullptr ||
                !Overlaps(begin, bytes, address, tensor.extent)) {
                continue;
            }
            return Error(ACLNN_ERR_PARAM_INVALID,
                         "{} at {} ({} bytes) overlaps {} at {} ({} bytes); expected memory of its "
                         "own",
                         written.name, static_cast<const void*>(begin), bytes,
                         executor.slots[other].name, static_cast<const void*>(address),
                         tensor.spanBytes);
        }
    }
    return {};
}

// Recycles the executor if the check fails, even if there is no memory for the message.
Status CheckOverlapsOrGiveBack(aclOpExecutor* executor) {
    std::unique_ptr<aclOpExecutor, void (*)(aclOpExecutor*)> owner(executor,
                                                                   [](aclOpExecutor* failed) {
                                                                       failed->key = PlanKey();
                                                                       RecycleExecutor(failed);
                                                                   });
    Status overlaps = FindOverlap(*executor);
    if (overlaps.ok()) {
        (void)owner.release();
    }
    return overlaps;
}

// Takes a record. Plans that may come again stay as long as possible: a record that cannot be found
// is taken first, and else the oldest one.
aclOpExecutor* TakeRecord() {
    return ObjectPool<aclOpExecutor>::AcquireLike<kExecutorLooks>(
        [](const aclOpExecutor& record) { return !record.key.useful(); });
}

// Hands the record to the caller of phase one.
void Give(aclOpExecutor* record, const char* call, aclOpExecutor** executor) {
    record->state.store(aclOpExecutor::State::kPlanned, std::memory_order_release);
    NoteMade(ObjectKind::kExecutor, call, record);
    *executor = record;
}

}  // namespace

// Most calls need no other check of overlaps. The comparison of all pairs without branches takes
// less time than a sort.
void LookAtAddresses(aclOpExecutor* executor) {
    uintptr_t begins[aclOpExecutor::kMostTensors];
    uintptr_t ends[aclOpExecutor::kMostTensors];
    bool known = true;
    bool aligned = true;
    bool apart = true;
    for (int32_t index = 0; index < executor->tensorCount; ++index) {
        const PlannedTensor& tensor = executor->tensors[index];
        const auto begin = reinterpret_cast<uintptr_t>(tensor.address);
        const uintptr_t end = begin == 0 ? 0 : begin + static_cast<uintptr_t>(tensor.spanBytes);
        known &= begin != 0 || tensor.spanBytes == 0;
        aligned &= (begin & static_cast<uintptr_t>(tensor.itemSize - 1)) == 0;
        apart &=
            (begin == 0) | ((begin >= static_cast<uintptr_t>(tensor.offsetBytes)) & (end >= begin));
        for (int32_t other = 0; other < index; ++other) {
            apart &= (begin >= ends[other]) | (begins[other] >= end);
        }
        begins[index] = begin;
        ends[index] = end;
    }
    executor->known = known;
    executor->aligned = aligned;
    executor->apart = apart;
    executor->checkedEpoch = 0;
    executor->workspaceEpoch = 0;
}

int64_t SpannedElements(const TensorView& view) {
    int64_t elements = 1;
    for (int64_t axis = 0; axis < view.rank; ++axis) {
        if (view.dims[axis] == 0) {
            return 0;
        }
        elements += (view.dims[axis] - 1) * view.strides[axis];
    }
    return elements;
}

Status CheckAddresses(const TensorView& view, const char* name) {
    return view.packedBytes >= 0 || FitsMemory(view)
               ? Status()
               : Error(ACLNN_ERR_PARAM_INVALID,
                       "{} has shape {}, strides {} and offset {}; expected numbers of at least 0 "
                       "for elements that fit memory",
                       name, ShapeText(view.dims, view.rank), ShapeText(view.strides, view.rank),
                       view.offset);
}

Status CheckExtent(const TensorView& view, const char* name) {
    if (view.itemSize <= 0) {
        return Error(ACLNN_ERR_PARAM_INVALID, "{} has data type {}; expected one of whole bytes",
                     name, NameOf(view.dataType));
    }
    return CheckAddresses(view, name);
}

Status NoExecutorError(const aclOpExecutor* executor) {
    return Error(ACLNN_ERR_PARAM_INVALID,
                 "executor {} is none of this library; expected one that a phase one here has made",
                 static_cast<const void*>(executor));
}

const char* CallOf(const aclOpExecutor& executor) {
    return executor.host != nullptr ? executor.host->name() : executor.launch.program->call;
}

Status CheckOverlaps(const aclOpExecutor& executor) {
    return executor.apart ? Status() : FindOverlap(executor);
}

bool PlannedBefore(const PlanKey& key, uint64_t* workspaceSize, aclOpExecutor** executor) {
    if (!key.useful() || workspaceSize == nullptr || executor == nullptr) {
        return false;
    }
    aclOpExecutor* const record = ObjectPool<aclOpExecutor>::AcquireFitting<kExecutorLooks>(
        [&](const aclOpExecutor& other) { return other.key == key; });
    if (record == nullptr) {
        return false;
    }
    *workspaceSize = record->workspaceBytes;
    Give(record, record->launch.program->call, executor);
    return true;
}

Status MakeExecutor(const Plan& plan, aclOpExecutor** executor) {
    aclOpExecutor* const made = TakeRecord();
    made->key = plan.key != nullptr ? *plan.key : PlanKey();
    // The results of LookAtAddresses stay valid if a record gets the same addresses again.
    bool asBefore = made->slots == plan.slots && made->launch.device == plan.launch.device &&
                    made->tensorCount == plan.tensorCount;
    made->launch = plan.launch;
    made->workspaceBytes = plan.workspaceBytes;
    made->workspaceAt = plan.workspaceBytes > 0 ? plan.workspaceAt : -1;
    made->workspaceEpoch = 0;
    made->allDistinct = plan.allDistinct;
    made->slots = plan.slots;
    made->owner = plan.owner;
    made->tensorCount = plan.tensorCount;
    std::memcpy(made->payload, plan.payload, plan.launch.payloadBytes);
    for (int32_t index = 0; index < plan.tensorCount; ++index) {
        const TensorView& view = plan.views[index];
        PlannedTensor& tensor = made->tensors[index];
        const MemoryExtent extent = ExtentOf(view);
        const int64_t span = extent.spanBytes();
        uint8_t* const address = view.first();
        // A new record's tensors hold nothing yet.
        asBefore = asBefore && tensor.address == address && tensor.spanBytes == span &&
                   tensor.itemSize == view.itemSize;
        const bool hasGaps = view.packedBytes < 0 && extent.rows == 1 &&
                             extent.rowBytes != advance_step::op::ElementsOf(view) * view.itemSize;
        tensor = {address,          span,   view.itemSize, view.offset * view.itemSize, extent,
                  view.isPresent(), hasGaps};
        made->SetAddress(index, address);
    }
    if (!asBefore) {
        LookAtAddresses(made);
    }
    if (!made->apart) {
        ADVSTEP_RETURN_IF_ERROR(CheckOverlapsOrGiveBack(made));
    }
    Give(made, made->launch.program->call, executor);
    return {};
}

aclOpExecutor* MakeHostExecutor(HostLaunch* launch) {
    std::unique_ptr<HostLaunch, DropShare> share(launch);
    aclOpExecutor* const made = TakeRecord();
    made->key = PlanKey();
    made->launch.device = &launch->device();
    made->workspaceBytes = launch->plan().workspaceBytes;
    made->owner = launch->plan().call->owner;
    made->workspaceAt = -1;
    made->slots = nullptr;  // what the record had as a kernel's is not looked at again
    made->tensorCount = 0;
    made->checkedEpoch = 0;
    made->known = launch->AllAddressesKnown();
    made->host = share.release();
    aclOpExecutor* executor = nullptr;
    Give(made, launch->name(), &executor);
    return executor;
}

void RecycleExecutor(aclOpExecutor* executor) noexcept {
    if (executor->host != nullptr) {
        std::exchange(executor->host, nullptr)->Drop();
    }
    ObjectPool<aclOpExecutor>::Release(executor);
}

}  // namespace advstep
