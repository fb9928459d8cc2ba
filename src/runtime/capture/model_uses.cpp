// SPDX-License-Identifier: Apache-2.0
// Checks that the resources of a model's tasks still exist.
#include <vector>

#include "acl/acl_base.h"
#include "src/runtime/capture/model.h"
#include "src/runtime/commands/event.h"
#include "src/runtime/commands/notify.h"
#include "src/runtime/kernels/kernel_binaries.h"
#include "src/runtime/memory/memories.h"

namespace advstep {

namespace {

// A mapping is as old as its reservation: whatever was captured in a reserved range is a mapping of
// that reservation, which may be unmapped and mapped again. Other memory that has come to the
// address is younger than the capture.
Status CheckStillThere(const Use& use) {
    Allocation allocation;
    return TheDeviceMemory().Find(use.address, &allocation) && allocation.born <= use.epoch &&
                   allocation.BytesFrom(use.address) >= use.bytes
               ? Status()
               : Error(ACL_ERROR_RT_PARAM_INVALID,
                       "{} was captured at {} with {} bytes, which have been freed since; "
                       "expected memory that lives as long as the model",
                       use.name, use.address, use.bytes);
}

}  // namespace

Status CheckUse(const Use& use) {
    KernelFunction function;
    switch (use.kind) {
        case Use::Kind::kNotify:
            return NotifyTable::Instance().CheckAlive(use.address);
        case Use::Kind::kEvent: {
            Event* event = nullptr;
            ADVSTEP_RETURN_IF_ERROR(FindEvent(use.address, &event));
            return event->Check(ToHandle(use.address));
        }
        case Use::Kind::kFunction:
            return TheKernelBinaries().ReadHeld(use.address, &function);
        default:
            return CheckStillThere(use);
    }
}

Status Model::CheckUsesOf(const RecordedTask& task) {
    for (const Use& use : task.uses) {
        ADVSTEP_RETURN_IF_ERROR(CheckUse(use));
    }
    return {};
}

Status Model::CheckUses() {
    const uint64_t epoch = TheDeviceMemory().epoch();
    if (checkedEpoch_ == epoch && !usesHandles_) {
        return {};
    }
    for (const std::vector<RecordedTask>& tasks : body_.branches) {
        for (const RecordedTask& task : tasks) {
            ADVSTEP_RETURN_IF_ERROR(CheckUsesOf(task));
        }
    }
    checkedEpoch_ = epoch;
    return {};
}

}  // namespace advstep
