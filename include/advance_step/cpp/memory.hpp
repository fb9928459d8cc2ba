// SPDX-License-Identifier: Apache-2.0
/// Device memory and tensors as objects. Part of advance_step.hpp, which has the rules.
#ifndef ADVSTEP_ADVANCE_STEP_CPP_MEMORY_HPP_
#define ADVSTEP_ADVANCE_STEP_CPP_MEMORY_HPP_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "acl/acl_rt.h"
#include "aclnn/acl_meta.h"
#include "advance_step/cpp/result.hpp"

namespace advance_step {

/// The aclDataType of a C++ type; ACL_DT_UNDEFINED for a type that has none.
template <class T>
inline constexpr aclDataType kDataType = ACL_DT_UNDEFINED;
/// @cond Doxygen lists the primary template only.
template <>
inline constexpr aclDataType kDataType<bool> = ACL_BOOL;
template <>
inline constexpr aclDataType kDataType<int8_t> = ACL_INT8;
template <>
inline constexpr aclDataType kDataType<uint8_t> = ACL_UINT8;
template <>
inline constexpr aclDataType kDataType<int16_t> = ACL_INT16;
template <>
inline constexpr aclDataType kDataType<uint16_t> = ACL_UINT16;
template <>
inline constexpr aclDataType kDataType<int32_t> = ACL_INT32;
template <>
inline constexpr aclDataType kDataType<uint32_t> = ACL_UINT32;
template <>
inline constexpr aclDataType kDataType<int64_t> = ACL_INT64;
template <>
inline constexpr aclDataType kDataType<uint64_t> = ACL_UINT64;
template <>
inline constexpr aclDataType kDataType<float> = ACL_FLOAT;
template <>
inline constexpr aclDataType kDataType<double> = ACL_DOUBLE;
/// @endcond

/// Device memory. It may be destroyed while queued work uses it: see aclrtFree.
class Buffer {
 public:
    /// An empty object, without memory.
    Buffer() noexcept = default;
    /// Takes ownership of the memory.
    Buffer(Buffer&& other) noexcept
        : memory_(std::move(other.memory_)), size_(std::exchange(other.size_, 0)) {}
    /// Takes ownership of the memory, and frees the memory that this object owned before.
    Buffer& operator=(Buffer&& other) noexcept {
        Buffer taken(std::move(other));
        std::swap(memory_, taken.memory_);
        std::swap(size_, taken.size_);
        return *this;
    }
    ~Buffer() = default;

    /// Calls aclrtMalloc.
    /// @param[in] size  bytes; >= 1
    static Result<Buffer> TryAllocate(size_t size) {
        void* memory = nullptr;
        const int code = aclrtMalloc(&memory, size, ACL_MEM_MALLOC_HUGE_FIRST);
        return detail::ToResult(code, Buffer(memory, size));
    }
    /// Copies count values to the start of the memory now, independent of streams: aclrtMemcpy.
    template <class T>
    Result<void> TryUpload(const T* values, size_t count) const {
        static_assert(std::is_trivially_copyable_v<T>, "bytes are copied");
        return detail::ToResult(
            aclrtMemcpy(Data(), size_, values, count * sizeof(T), ACL_MEMCPY_HOST_TO_DEVICE));
    }
    /// Copies count values from the start of the memory now, independent of streams: aclrtMemcpy.
    template <class T>
    Result<void> TryDownload(T* values, size_t count) const {
        static_assert(std::is_trivially_copyable_v<T>, "bytes are copied");
        // aclrtMemcpy refuses a count that is too large: the range is then not inside the memory.
        return detail::ToResult(aclrtMemcpy(values, count * sizeof(T), Data(), count * sizeof(T),
                                            ACL_MEMCPY_DEVICE_TO_HOST));
    }

    /// The device address; null for an empty object.
    void* Data() const noexcept { return memory_.get(); }
    /// The number of bytes.
    size_t Size() const noexcept { return size_; }

#if ADVSTEP_CPP_EXCEPTIONS
    /// As TryAllocate. @throws Error
    static Buffer Allocate(size_t size) { return TryAllocate(size).value(); }
    /// As TryUpload. @throws Error
    template <class T>
    void Upload(const T* values, size_t count) const {
        TryUpload(values, count).value();
    }
    /// As TryDownload. @throws Error
    template <class T>
    void Download(T* values, size_t count) const {
        TryDownload(values, count).value();
    }
#endif

 private:
    Buffer(void* memory, size_t size) noexcept : memory_(memory), size_(size) {}

    detail::Owned<void, aclrtFree> memory_;
    size_t size_ = 0;
};

/// A contiguous ND tensor. It owns its description, and also its memory unless Describe made it.
class Tensor {
 public:
    /// An empty object, without a tensor.
    Tensor() noexcept = default;

    /// Describes memory that the object does not own: aclCreateTensor.
    /// @param[in] shape    rank dims
    /// @param[in] address  device address of the first element
    static Result<Tensor> TryDescribe(aclDataType dataType, const int64_t* shape, size_t rank,
                                      void* address) {
        return TryDescribe(dataType, shape, rank, address, Buffer());
    }
    /// Allocates memory for a tensor and describes it. The contents are undefined.
    /// @param[in] shape  rank dims, all >= 1
    static Result<Tensor> TryAllocate(aclDataType dataType, const int64_t* shape, size_t rank) {
        size_t size = aclDataTypeSize(dataType);
        for (size_t i = 0; i < rank; ++i) {
            size *= static_cast<size_t>(shape[i]);
        }
        Result<Buffer> memory = Buffer::TryAllocate(size);
        if (!memory) {
            return memory.error();
        }
        void* address = memory->Data();
        return TryDescribe(dataType, shape, rank, address, *std::move(memory));
    }
    /// Allocates a tensor and copies values to it now.
    /// @param[in] shape   dims, all >= 1; the call fails unless their product is values.size()
    /// @param[in] values  a std::vector, a std::array or a similar container
    template <class Values>
    static Result<Tensor> TryFrom(std::initializer_list<int64_t> shape, const Values& values) {
        using T = std::remove_cv_t<std::remove_pointer_t<decltype(values.data())>>;
        static_assert(kDataType<T> != ACL_DT_UNDEFINED, "no aclDataType for these values");
        size_t count = 1;
        for (const int64_t dim : shape) {
            count *= static_cast<size_t>(dim);
        }
        if (count != values.size()) {
            const std::string message = "Tensor::From: values has " +
                                        std::to_string(values.size()) + " elements; expected " +
                                        std::to_string(count) + ", as the shape has";
            return Error(ACL_ERROR_INVALID_PARAM, message.c_str());
        }
        Result<Tensor> tensor = TryAllocate(kDataType<T>, shape.begin(), shape.size());
        if (tensor) {
            if (Result<void> copied = tensor->TryUpload(values); !copied) {
                return copied.error();
            }
        }
        return tensor;
    }
    /// Copies all values to the start of the tensor's own memory now, independent of streams.
    /// @param[in] values  a std::vector, a std::array or a similar container
    template <class Values>
    Result<void> TryUpload(const Values& values) const {
        return memory_.TryUpload(values.data(), values.size());
    }
    /// Copies the tensor's own memory to a vector of T now, independent of streams. T is uint8_t
    /// for ACL_BOOL, because the elements of a std::vector<bool> have no addresses.
    template <class T>
    Result<std::vector<T>> TryDownload() const {
        static_assert(!std::is_same_v<T, bool>, "take uint8_t for ACL_BOOL");
        std::vector<T> values(memory_.Size() / sizeof(T));
        if (Result<void> copied = memory_.TryDownload(values.data(), values.size()); !copied) {
            return copied.error();
        }
        return values;
    }

    /// The description, for calls of the C interface. The object still owns it.
    aclTensor* Get() const noexcept { return tensor_.get(); }
    /// As Get(). So a Tensor can be assigned to an argument of an operator.
    operator const aclTensor*() const noexcept { return Get(); }
    /// The tensor's own memory; empty if Describe made the tensor.
    const Buffer& Memory() const noexcept { return memory_; }

#if ADVSTEP_CPP_EXCEPTIONS
    /// As TryDescribe. @throws Error
    static Tensor Describe(aclDataType dataType, const int64_t* shape, size_t rank, void* address) {
        return TryDescribe(dataType, shape, rank, address).value();
    }
    /// As TryAllocate. @throws Error
    static Tensor Allocate(aclDataType dataType, const int64_t* shape, size_t rank) {
        return TryAllocate(dataType, shape, rank).value();
    }
    /// As TryFrom. @throws Error
    template <class Values>
    static Tensor From(std::initializer_list<int64_t> shape, const Values& values) {
        return TryFrom(shape, values).value();
    }
    /// As TryUpload. @throws Error
    template <class Values>
    void Upload(const Values& values) const {
        TryUpload(values).value();
    }
    /// As TryDownload. @throws Error
    template <class T>
    std::vector<T> Download() const {
        return TryDownload<T>().value();
    }
#endif

 private:
    static Result<Tensor> TryDescribe(aclDataType dataType, const int64_t* shape, size_t rank,
                                      void* address, Buffer memory) {
        Tensor tensor;
        tensor.memory_ = std::move(memory);
        tensor.tensor_.reset(aclCreateTensor(shape, rank, dataType, nullptr, 0, ACL_FORMAT_ND,
                                             shape, rank, address));
        if (tensor.tensor_ == nullptr) {
            return detail::LastError(ACLNN_ERR_INNER_NULLPTR);
        }
        return tensor;
    }

    Buffer memory_;
    detail::Owned<aclTensor, aclDestroyTensor> tensor_;
};

}  // namespace advance_step

#endif /* ADVSTEP_ADVANCE_STEP_CPP_MEMORY_HPP_ */
