// SPDX-License-Identifier: Apache-2.0
// An aclTensor that goes with the scope.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_TENSOR_H_
#define ADVANCE_STEP_TESTS_SUPPORT_TENSOR_H_

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "aclnn/acl_meta.h"

namespace support {

struct TensorSpec {
    std::vector<int64_t> shape;
    void* data = nullptr;
    aclDataType dtype = ACL_INT64;
    std::vector<int64_t> strides = {};  // empty: contiguous
    int64_t offset = 0;                 // elements
    aclFormat format = ACL_FORMAT_ND;
};

// Elements from the start of the storage to one past the view's last element.
inline int64_t StorageElements(const TensorSpec& spec) {
    int64_t last = spec.offset;
    int64_t contiguous = 1;
    for (size_t i = spec.shape.size(); i-- > 0;) {
        if (spec.shape[i] == 0) {
            return spec.offset;
        }
        last += (spec.shape[i] - 1) * (spec.strides.empty() ? contiguous : spec.strides[i]);
        contiguous *= spec.shape[i];
    }
    return last + 1;
}

class Tensor {
 public:
    Tensor() = default;
    explicit Tensor(const TensorSpec& spec) {
        const int64_t storage = StorageElements(spec);
        tensor_ = aclCreateTensor(spec.shape.data(), spec.shape.size(), spec.dtype,
                                  spec.strides.empty() ? nullptr : spec.strides.data(), spec.offset,
                                  spec.format, &storage, 1, spec.data);
        EXPECT_NE(tensor_, nullptr);
    }
    Tensor(Tensor&& other) noexcept : tensor_(other.Release()) {}
    Tensor& operator=(Tensor&& other) noexcept {
        std::swap(tensor_, other.tensor_);
        return *this;
    }
    ~Tensor() { aclDestroyTensor(tensor_); }
    aclTensor* Get() const { return tensor_; }
    aclTensor* Release() { return std::exchange(tensor_, nullptr); }

 private:
    aclTensor* tensor_ = nullptr;
};

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_TENSOR_H_
