// SPDX-License-Identifier: Apache-2.0
// A tensor with its device memory, views of it, and a call of an operator's two phases.

#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "aclnn/acl_meta.h"
#include "check.h"

namespace llama {

template <typename T>
constexpr aclDataType kDataType = ACL_DT_UNDEFINED;
template <>
inline constexpr aclDataType kDataType<float> = ACL_FLOAT;
template <>
inline constexpr aclDataType kDataType<int64_t> = ACL_INT64;
template <>
inline constexpr aclDataType kDataType<uint8_t> = ACL_BOOL;

using Shape = std::vector<int64_t>;

/// A contiguous tensor. Views share its memory, which lives as long as one of them.
class DeviceTensor {
 public:
    template <typename T>
    static DeviceTensor Of(Shape shape, const std::vector<T>& values) {
        DeviceTensor made = Empty<T>(std::move(shape));
        CHECK(aclrtMemcpy(made.Address(), values.size() * sizeof(T), values.data(),
                          values.size() * sizeof(T), ACL_MEMCPY_HOST_TO_DEVICE));
        return made;
    }
    template <typename T>
    static DeviceTensor Empty(Shape shape) {
        void* address = nullptr;
        CHECK(aclrtMalloc(&address, static_cast<size_t>(Elements(shape)) * sizeof(T),
                          ACL_MEM_MALLOC_HUGE_FIRST));
        const std::shared_ptr<void> memory(address, [](void* freed) { CHECK(aclrtFree(freed)); });
        return {std::move(shape), kDataType<T>, sizeof(T), memory, 0};
    }

    /// Returns the elements from `first` on in another shape.
    DeviceTensor View(Shape shape, int64_t first = 0) const {
        return {std::move(shape), dataType_, size_, memory_, first_ + first};
    }

    template <typename T>
    std::vector<T> Read() const {
        std::vector<T> values(static_cast<size_t>(Elements(shape_)));
        CHECK(aclrtMemcpy(values.data(), values.size() * sizeof(T), Address(),
                          values.size() * sizeof(T), ACL_MEMCPY_DEVICE_TO_HOST));
        return values;
    }

    void* Address() const {
        return static_cast<uint8_t*>(memory_.get()) + first_ * static_cast<int64_t>(size_);
    }
    aclTensor* Handle() const { return tensor_.get(); }
    /// Returns another description of the tensor, which belongs to the caller.
    aclTensor* NewHandle() const {
        aclTensor* const made =
            aclCreateTensor(shape_.data(), shape_.size(), dataType_, nullptr, 0, ACL_FORMAT_ND,
                            shape_.data(), shape_.size(), Address());
        Check(made == nullptr, "aclCreateTensor");
        return made;
    }

 private:
    DeviceTensor(Shape shape, aclDataType dataType, size_t size, std::shared_ptr<void> memory,
                 int64_t first)
        : shape_(std::move(shape)),
          dataType_(dataType),
          size_(size),
          memory_(std::move(memory)),
          first_(first) {
        tensor_.reset(NewHandle(),
                      [](aclTensor* destroyed) { CHECK(aclDestroyTensor(destroyed)); });
    }
    static int64_t Elements(const Shape& shape) {
        int64_t elements = 1;
        for (const int64_t dim : shape) {
            elements *= dim;
        }
        return elements;
    }

    Shape shape_;
    aclDataType dataType_;
    size_t size_;
    std::shared_ptr<void> memory_;
    int64_t first_;  // elements
    std::shared_ptr<aclTensor> tensor_;
};

/// Runs both phases of an operator on a stream: Run(stream, aclnnAddGetWorkspaceSize, aclnnAdd,
/// ...).
template <typename PhaseOne, typename PhaseTwo, typename... Arguments>
void Run(aclrtStream stream, PhaseOne phaseOne, PhaseTwo phaseTwo, Arguments... arguments) {
    uint64_t workspaceSize = 0;
    aclOpExecutor* executor = nullptr;
    CHECK(phaseOne(arguments..., &workspaceSize, &executor));
    Check(workspaceSize != 0, "an operator without a workspace");
    CHECK(phaseTwo(nullptr, 0, executor, stream));
}
#define RUN(stream, call, ...) ::llama::Run(stream, call##GetWorkspaceSize, call, __VA_ARGS__)

}  // namespace llama
