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
    aclDataType dataType = ACL_DT_UNDEFINED;
    aclFormat format = ACL_FORMAT_UNDEFINED;
    int64_t offset = 0;
    int64_t itemSize = 0;
    void* data = nullptr;
    uint64_t viewRank = 0;
    uint64_t storageRank = 0;
    int64_t* viewDims = nullptr;  // in inlineDims, or in largeDims for more axes
    int64_t* strides = nullptr;
    int64_t* storageDims = nullptr;
    int64_t inlineDims[3 * kInlineRank]{};
    std::unique_ptr<int64_t[]> largeDims;
    aclTensor* nextFree = nullptr;  // of the ObjectPool
};

namespace advstep {

/// The view that a tensor argument stands for. 161001 null; 161002 destroyed.
Status ViewOf(const aclTensor* tensor, const char* argument, TensorView* view);

}  // namespace advstep
