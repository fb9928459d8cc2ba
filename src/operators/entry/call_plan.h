// SPDX-License-Identifier: Apache-2.0
// The arguments of a call by value, and the plan that is made of them.

#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include "src/operators/entry/values.h"

namespace advstep_operators {

/// What runs of a call need: its values, and what the kernels have prepared. It never changes once
/// it is made, so several threads may run it.
class CallPlan {
 public:
    CallPlan() = default;
    CallPlan(const CallPlan&) = delete;
    CallPlan& operator=(const CallPlan&) = delete;
    ~CallPlan() {
        if (kernels != nullptr) {
            kernels->release(prepared);
        }
    }

    /// Copies values into memory that lives as long as the plan.
    template <typename T>
    const T* Keep(const T* first, size_t count) {
        const size_t bytes = count * sizeof(T);
        auto& block = blocks_.emplace_back(new std::byte[bytes + 1]);
        if (bytes > 0) {
            std::memcpy(block.get(), first, bytes);
        }
        return reinterpret_cast<const T*>(block.get());
    }

    CallValues call{};
    std::vector<Value> values;
    std::vector<AdvStepHostTensor> tensors;
    std::vector<AdvStepTensorView> views;  // of the tensors, without addresses
    const Kernels* kernels = nullptr;      // set once `prepared` is
    void* prepared = nullptr;

 private:
    std::vector<std::unique_ptr<std::byte[]>> blocks_;
};

}  // namespace advstep_operators
