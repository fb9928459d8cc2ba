// SPDX-License-Identifier: Apache-2.0
// A host operator's plan with the addresses of its tensors: what executors, queued runs and
// captured models share.

#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "src/aclnn/host_plan.h"
#include "src/base/status.h"
#include "src/runtime/commands/host_work.h"

struct aclOpExecutor;

namespace advstep {

class Device;

/// A plan with addresses. The views with their present addresses follow the object in its memory.
/// Addresses change only while nobody else has a share.
class HostLaunch final : public HostWork {
 public:
    /// Makes a launch with one share. `addresses`: the storage address of each tensor; null: those
    /// of the plan.
    static HostLaunch* Make(AdvStepHostPlan* plan, void* const* addresses, const Device& device);

    /// Returns a copy of the launch, with one share.
    HostLaunch* Copy() const;

    const AdvStepHostPlan& plan() const { return *plan_; }
    const Device& device() const { return device_; }

    /// Returns the address of the first element of a tensor; null while it is unknown.
    const uint8_t* First(size_t place) const {
        const uint8_t* const data = views()[place].data;
        return data == nullptr ? nullptr : data + plan_->tensors[place].firstByte;
    }
    void SetAddress(size_t place, void* address) {
        views()[place].data = static_cast<uint8_t*>(address);
    }
    /// Returns the place of the first tensor that has elements and no address; count(): none has.
    size_t FindUnknown() const;
    bool AllAddressesKnown() const { return FindUnknown() == plan_->count(); }

    /// 161002: the workspace shares a byte with a tensor, so that one would overwrite the other.
    Status CheckWorkspaceApart(const void* workspace) const;
    /// 107000: a tensor or the workspace is not in one allocation of the device, or a tensor is not
    /// aligned to its elements. A successful check of the tensors sets *checkedEpoch, and is not
    /// repeated in that epoch of DeviceMemory.
    Status CheckMemory(const void* workspace, uint64_t* checkedEpoch) const;

    void ListUses(std::vector<Use>* uses) const override;

    static void operator delete(void* memory) { ::operator delete(memory); }

 private:
    HostLaunch(AdvStepHostPlan* plan, const Device& device);
    ~HostLaunch() override { plan_->Drop(); }
    struct Views {
        size_t count;
    };
    static void* operator new(size_t bytes, Views views) {
        return ::operator new(bytes + views.count * sizeof(AdvStepTensorView));
    }
    static void operator delete(void* memory, Views) { ::operator delete(memory); }

    int32_t Call(void* workspace, char* message, size_t size) const override;

    Status CheckTensors(uint64_t* checkedEpoch) const;

    AdvStepTensorView* views() { return reinterpret_cast<AdvStepTensorView*>(this + 1); }
    const AdvStepTensorView* views() const {
        return reinterpret_cast<const AdvStepTensorView*>(this + 1);
    }

    AdvStepHostPlan* const plan_;  // a share
    const Device& device_;
};

/// Queues a run of the executor's host launch, after the checks of the stream, the device and the
/// memory. `isSpent`: the executor gives its share away. Codes are those of the runtime.
Status QueueHostLaunch(aclOpExecutor* executor, const StreamRef& target, void* workspace,
                       bool isSpent);

/// Changes the address of a tensor of the executor's host launch. Runs and models that share the
/// launch keep their addresses.
void SetHostAddress(aclOpExecutor* executor, size_t place, void* address);

}  // namespace advstep
