#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "aclnn/acl_meta.h"
#include "src/base/status.h"
#include "src/base/tensor_view.h"

/// What the opaque handle points to. Not thread-safe: a tensor belongs to whoever created it.
struct aclTensor {
    static constexpr uint32_t kAlive = 0x7E4504A1;
    static constexpr uint64_t kInlineRank = 8;

    std::atomic<uint32_t> magic{0};
    // Of what the tensor describes: another description has another version. 0: not alive.
    std::atomic<uint64_t> version{0};
    uint64_t lastVersion = 0;  // outlives the tensor, as the description does
    advstep::TensorView view;  // its arrays are in inlineDims, or in largeDims for more axes
    const int64_t* storageDims = nullptr;
    uint64_t storageRank = 0;
    int64_t inlineDims[3 * kInlineRank]{};
    std::unique_ptr<int64_t[]> largeDims;
    aclTensor* nextFree = nullptr;  // of the ObjectPool
};

namespace advstep {

/// Why a tensor argument is no tensor: 161001 null; 161002 destroyed.
Status NoTensorError(const aclTensor* tensor, const char* argument);

/// The view that a tensor argument stands for. Codes as NoTensorError.
inline Status ViewOf(const aclTensor* tensor, const char* argument, TensorView* view) {
    if (tensor == nullptr || tensor->magic.load(std::memory_order_relaxed) != aclTensor::kAlive) {
        return NoTensorError(tensor, argument);
    }
    *view = tensor->view;
    return {};
}

}  // namespace advstep
