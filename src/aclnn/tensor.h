// SPDX-License-Identifier: Apache-2.0
// The tensor that the opaque handle aclTensor points to.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "aclnn/acl_meta.h"
#include "src/base/status.h"
#include "src/base/tensor_view.h"

/// The tensor of a handle. It is not thread-safe, because a tensor belongs to its creator. magic
/// and version are atomic, because a program may use a destroyed tensor while another thread reuses
/// the object.
struct aclTensor {
    static constexpr uint32_t kAlive = 0x7E4504A1;
    static constexpr uint64_t kInlineRank = 8;

    std::atomic<uint32_t> magic{0};
    // The version of the description; different descriptions have different ones. 0: destroyed.
    std::atomic<uint64_t> version{0};
    uint64_t lastVersion = 0;  // of the description, which both stay after the destruction; 0: none
    aclTensor* nextFree = nullptr;  // belongs to the ObjectPool
    std::unique_ptr<int64_t[]> largeDims;
    advstep::TensorView view;  // its arrays are in inlineDims, or in largeDims for many axes
    const int64_t* storageDims = nullptr;
    uint64_t storageRank = 0;
    int64_t inlineDims[3 * kInlineRank]{};
};

namespace advstep {

/// Returns the error for an invalid tensor argument. 161001: it is null. 161002: it has been
/// destroyed.
Status NoTensorError(const aclTensor* tensor, const char* argument);

/// Destroys a tensor. Returns false, without a message, if it has been destroyed before.
bool DestroyTensor(const aclTensor* tensor);

/// Refuses a tensor that is null or destroyed. The codes are those of NoTensorError.
inline Status CheckTensor(const aclTensor* tensor, const char* argument) {
    const bool alive =
        tensor != nullptr && tensor->magic.load(std::memory_order_relaxed) == aclTensor::kAlive;
    return alive ? Status() : NoTensorError(tensor, argument);
}

/// Finds the view of a tensor argument. Codes as CheckTensor.
inline Status ViewOf(const aclTensor* tensor, const char* argument, TensorView* view) {
    ADVSTEP_RETURN_IF_ERROR(CheckTensor(tensor, argument));
    *view = tensor->view;
    return {};
}

/// Returns the view of an optional tensor for which a call passes null.
inline TensorView AbsentView() {
    TensorView view;
    view.itemSize = 1;
    view.packedBytes = 0;
    return view;
}

}  // namespace advstep
