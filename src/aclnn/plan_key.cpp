// SPDX-License-Identifier: Apache-2.0
// Builds the key of a plan from the call, the device and the tensors.

#include "src/aclnn/plan_key.h"

#include "src/aclnn/tensor.h"
#include "src/runtime/device/device.h"
#include "src/runtime/stream/current.h"
#include "src/runtime/stream/resource_limit.h"

namespace advstep {

PlanKey::PlanKey(const char* call, std::initializer_list<const aclTensor*> tensors,
                 std::initializer_list<int64_t> attributes) {
    const ContextRef* const context = LiveContext();
    if (context == nullptr || tensors.size() + attributes.size() + 3 > kMostNumbers) {
        return;
    }
    uint32_t count = 0;
    numbers_[count++] = reinterpret_cast<uintptr_t>(call);
    numbers_[count++] = context->device->serial();
    numbers_[count++] = CoresInEffect(*context->device, ACL_RT_DEV_RES_VECTOR_CORE);
    for (const int64_t attribute : attributes) {
        numbers_[count++] = static_cast<uint64_t>(attribute);
    }
    for (const aclTensor* tensor : tensors) {
        const uint64_t version =
            tensor != nullptr ? tensor->version.load(std::memory_order_relaxed) : 0;
        if (version == 0) {
            return;
        }
        numbers_[count++] = version;
    }
    count_ = count;
}

bool PlanKey::Begin(const char* call, size_t more) {
    const ContextRef* const context = LiveContext();
    if (context == nullptr || more + 3 > kMostNumbers) {
        return false;
    }
    numbers_[count_++] = reinterpret_cast<uintptr_t>(call);
    numbers_[count_++] = context->device->serial();
    numbers_[count_++] = CoresInEffect(*context->device, ACL_RT_DEV_RES_VECTOR_CORE);
    return true;
}

bool PlanKey::Add(const aclTensor* tensor) {
    const uint64_t version =
        tensor != nullptr ? tensor->version.load(std::memory_order_relaxed) : 0;
    numbers_[count_++] = version;
    return version != 0;
}

}  // namespace advstep
