// SPDX-License-Identifier: Apache-2.0
// The key of a plan: equal keys have equal plans.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "aclnn/acl_meta.h"

namespace advstep {

/// All inputs of a plan, as numbers: the table of tensors, the device with its settings, the cores
/// that may be used, the attributes, and the versions of the tensors. Equal keys have equal plans.
class PlanKey {
 public:
    /// An empty key, which equals no other key.
    PlanKey() = default;
    PlanKey(const PlanKey& other) { *this = other; }
    PlanKey& operator=(const PlanKey& other) {
        count_ = other.count_;
        std::copy_n(other.numbers_.begin(), count_, numbers_.begin());
        return *this;
    }

    /// Makes the key of a call. `table` is an address that no other table of tensors has. The key
    /// is empty if the thread has no current context, if a tensor has been destroyed, if a tensor
    /// is null and its bit of `optional` is 0, and if there are too many numbers.
    PlanKey(const void* table, const aclTensor* const* tensors, size_t tensorCount,
            const int64_t* attributes, size_t attributeCount, uint32_t optional);

    bool useful() const { return count_ > 0; }
    bool operator==(const PlanKey& other) const {
        bool equal = count_ == other.count_ && useful();
        for (uint32_t index = 0; equal && index < count_; ++index) {
            equal = numbers_[index] == other.numbers_[index];
        }
        return equal;
    }

 private:
    static constexpr uint32_t kMostNumbers = 32;

    uint32_t count_ = 0;
    std::array<uint64_t, kMostNumbers> numbers_;
};

}  // namespace advstep
