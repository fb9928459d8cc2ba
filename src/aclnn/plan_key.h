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
        std::copy_n(other.numbers_.begin(), PaddedCount(count_), numbers_.begin());
        return *this;
    }

    /// Makes the key of a call. `table` is an address that no other table of tensors has. The key
    /// is empty if the thread has no current context, if a tensor has been destroyed, if a tensor
    /// is null and its bit of `optional` is 0, and if there are too many numbers.
    PlanKey(const void* table, const aclTensor* const* tensors, size_t tensorCount,
            const int64_t* attributes, size_t attributeCount, uint32_t optional);

    bool useful() const { return count_ > 0; }
    bool operator==(const PlanKey& other) const {
        if (count_ != other.count_ || !useful() || numbers_[0] != other.numbers_[0]) {
            return false;
        }
        // The empty asm keeps the numbers apart: a load of two of them would wait until the key,
        // which has just been made, is in the cache.
        uint64_t differing = 0;
        const uint64_t* theirs = other.numbers_.data();
        const uint64_t* ours = numbers_.data();
        for (const uint64_t* const end = ours + count_; ours < end; ours += kGroup) {
            for (uint32_t place = 0; place < kGroup; ++place) {
                differing |= ours[place] ^ theirs[place];
                asm("" : "+r"(differing));
            }
            theirs += kGroup;
        }
        return differing == 0;
    }

 private:
    static constexpr uint32_t kMostNumbers = 32;
    static constexpr uint32_t kGroup = 4;  // numbers that are compared with one branch

    static uint32_t PaddedCount(uint32_t count) { return (count + kGroup - 1) / kGroup * kGroup; }

    uint32_t count_ = 0;
    std::array<uint64_t, kMostNumbers> numbers_;  // those after the count, up to a group, are 0
};

}  // namespace advstep
