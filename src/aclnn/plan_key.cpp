// SPDX-License-Identifier: Apache-2.0
// Builds the key of a plan from the table, the device and the tensors.

#include "src/aclnn/plan_key.h"

#include <algorithm>

#include "src/aclnn/tensor.h"
#include "src/runtime/device/device.h"
#include "src/runtime/stream/current.h"
#include "src/runtime/stream/resource_limit.h"

namespace advstep {

PlanKey::PlanKey(const void* table, const aclTensor* const* tensors, size_t tensorCount,
                 const int64_t* attributes, size_t attributeCount, uint32_t optional) {
    const ContextRef* const context = LiveContext();
    if (context == nullptr || tensorCount + attributeCount + 3 > kMostNumbers) {
        return;
    }
    uint64_t* next = numbers_.data();
    *next++ = reinterpret_cast<uintptr_t>(table);
    *next++ = context->device->serial();
    *next++ = CoresInEffect(*context->device, ACL_RT_DEV_RES_VECTOR_CORE);
    for (size_t place = 0; place < attributeCount; ++place) {
        // The empty asm keeps the numbers apart: vectors of the few that there are take longer.
        auto number = static_cast<uint64_t>(attributes[place]);
        asm("" : "+r"(number));
        *next++ = number;
    }
    for (size_t place = 0; place < tensorCount; ++place) {
        const aclTensor* const tensor = tensors[place];
        const uint64_t version =
            tensor != nullptr ? tensor->version.load(std::memory_order_relaxed) : 0;
        if (__builtin_expect(version == 0, 0) &&
            (tensor != nullptr || (optional >> place & 1) == 0)) {
            return;
        }
        *next++ = version;
    }
    count_ = static_cast<uint32_t>(next - numbers_.data());
    std::fill_n(next, PaddedCount(count_) - count_, 0);
}

}  // namespace advstep
