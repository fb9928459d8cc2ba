// SPDX-License-Identifier: Apache-2.0
// The size of a weight in the layout of FRACTAL_NZ, which clients allocate before they convert it.

#include <cstdint>
#include <string>

#include "advance_step/host_call.h"

namespace {

constexpr char kCall[] = "aclnnCalculateMatmulWeightSizeV2";
constexpr int64_t kBlockRows = 16;
constexpr int64_t kBlockBytes = 32;  // of a row

aclnnStatus Refuse(const std::string& message) {
    return advstepRefuseHostCall(kCall, ACLNN_ERR_PARAM_INVALID, message.c_str());
}

}  // namespace

// One call, without an executor: the last two dims are rounded up to 16 and to 32 bytes.
extern "C" ADVSTEP_API aclnnStatus aclnnCalculateMatmulWeightSizeV2(const aclIntArray* tensorShape,
                                                                    aclDataType dataType,
                                                                    uint64_t* weightTensorSize) {
    if (tensorShape == nullptr || weightTensorSize == nullptr) {
        return advstepRefuseHostCall(kCall, ACLNN_ERR_PARAM_NULLPTR,
                                     tensorShape == nullptr
                                         ? "tensorShape is null; expected an array"
                                         : "weightTensorSize is null; expected a pointer");
    }
    const int64_t* dims = nullptr;
    uint64_t count = 0;
    if (advstepReadIntArray(tensorShape, &dims, &count) != ACLNN_SUCCESS || count < 2) {
        return Refuse("tensorShape has " + std::to_string(count) + " dims; expected at least 2");
    }
    const auto item = static_cast<int64_t>(aclDataTypeSize(dataType));
    if (item < 1 || item > kBlockBytes) {
        return Refuse("dataType is " + std::to_string(dataType) + "; expected one of whole bytes");
    }
    int64_t bytes = item;
    bool fits = true;
    for (uint64_t axis = 0; axis < count; ++axis) {
        const int64_t block = axis + 1 == count   ? kBlockBytes / item
                              : axis + 2 == count ? kBlockRows
                                                  : 1;
        int64_t rounded = 0;
        fits = fits && dims[axis] >= 0 &&
               !__builtin_add_overflow(dims[axis], block - 1, &rounded) &&
               !__builtin_mul_overflow(bytes, rounded / block * block, &bytes);
    }
    if (!fits) {
        return Refuse("tensorShape has a negative dim, or more bytes than memory can have");
    }
    *weightTensorSize = static_cast<uint64_t>(bytes);
    return ACLNN_SUCCESS;
}
