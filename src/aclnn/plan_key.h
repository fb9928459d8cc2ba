// SPDX-License-Identifier: Apache-2.0
// The key of a plan: equal keys have equal plans.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "aclnn/acl_meta.h"

namespace advstep {

/// All inputs of a plan, as numbers: the call, the device with its settings, the cores that may be
/// used, attributes, and the versions of the tensors. Equal keys have equal plans.
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

    /// `call` is the name of phase two, static text. The key is empty if the thread has no current
    /// context or if one of the tensors is null or destroyed.
    PlanKey(const char* call, std::initializer_list<const aclTensor*> tensors,
            std::initializer_list<int64_t> attributes);

    /// The same for the tensors of a table. `optional(place)`: a null tensor is an argument like
    /// any other.
    template <typename Optional>
    PlanKey(const char* call, const aclTensor* const* tensors, size_t tensorCount,
            const int64_t* attributes, size_t attributeCount, const Optional& optional) {
        if (!Begin(call, tensorCount + attributeCount)) {
            return;
        }
        for (size_t place = 0; place < attributeCount; ++place) {
            numbers_[count_++] = static_cast<uint64_t>(attributes[place]);
        }
        for (size_t place = 0; place < tensorCount; ++place) {
            if (!Add(tensors[place]) && (tensors[place] != nullptr || !optional(place))) {
                count_ = 0;
                return;
            }
        }
    }

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

    // Adds the numbers that every key has. False: there is no context, or there are too many.
    bool Begin(const char* call, size_t more);
    // Adds the version of a tensor, which is 0 for one that is null or destroyed. False: it is 0.
    bool Add(const aclTensor* tensor);

    uint32_t count_ = 0;
    std::array<uint64_t, kMostNumbers> numbers_;
};

}  // namespace advstep
