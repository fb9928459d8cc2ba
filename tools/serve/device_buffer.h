// SPDX-License-Identifier: Apache-2.0
// Arrays in device memory and in pinned host memory, and the copies between them.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "device_session.h"
#include "interrupt.h"

namespace serve {

/// Makes elements of -1 when it fills them byte by byte.
inline constexpr int kMinusOne = 0xFF;

/// size elements of device memory. The host never follows Data(): it hands it to copies, tensors
/// and kernels.
template <typename T>
class DeviceBuffer {
    static_assert(std::is_trivially_copyable_v<T>);

 public:
    explicit DeviceBuffer(int64_t size) : size_(size) {
        void* data = nullptr;
        Check(aclrtMalloc(&data, Bytes(size), ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
        data_ = static_cast<T*>(data);
    }
    ~DeviceBuffer() { Report(aclrtFree(data_), "aclrtFree"); }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;

    T* Data() const { return data_; }
    int64_t Size() const { return size_; }
    size_t BytesFrom(int64_t index) const { return Bytes(size_ - index); }

    /// Sets every byte, now: in no order with any stream. Before the run, which a signal may end.
    void Fill(int value) const {
        constexpr size_t kPart = size_t{64} << 20;
        char* const bytes = reinterpret_cast<char*>(data_);
        for (size_t done = 0; done < BytesFrom(0); done += kPart) {
            ThrowIfInterrupted();
            const size_t rest = BytesFrom(0) - done;
            Check(aclrtMemset(bytes + done, rest, value, std::min(rest, kPart)), "aclrtMemset");
        }
    }

    static size_t Bytes(int64_t count) { return static_cast<size_t>(count) * sizeof(T); }

 private:
    int64_t size_;
    T* data_ = nullptr;
};

/// size elements of pinned host memory: what asynchronous copies start from or end in.
template <typename T>
class PinnedBuffer {
    static_assert(std::is_trivially_copyable_v<T>);

 public:
    explicit PinnedBuffer(int64_t size) {
        void* data = nullptr;
        Check(aclrtMallocHost(&data, static_cast<size_t>(size) * sizeof(T)), "aclrtMallocHost");
        data_ = static_cast<T*>(data);
    }
    ~PinnedBuffer() { Report(aclrtFreeHost(data_), "aclrtFreeHost"); }
    PinnedBuffer(const PinnedBuffer&) = delete;
    PinnedBuffer& operator=(const PinnedBuffer&) = delete;

    T* Data() const { return data_; }
    T& operator[](int64_t index) const { return data_[index]; }

 private:
    T* data_ = nullptr;
};

template <typename T>
void Upload(Stream& stream, const DeviceBuffer<T>& dst, int64_t index, const T* src,
            int64_t count) {
    stream.Copy(dst.Data() + index, dst.BytesFrom(index), src, dst.Bytes(count),
                ACL_MEMCPY_HOST_TO_DEVICE);
}

template <typename T>
void Download(Stream& stream, T* dst, const DeviceBuffer<T>& src, int64_t index, int64_t count) {
    stream.Copy(dst, src.Bytes(count), src.Data() + index, src.Bytes(count),
                ACL_MEMCPY_DEVICE_TO_HOST);
}

/// A device array and its image in pinned host memory. The image must not be written or read while
/// a copy of it is pending.
template <typename T>
class Mirror {
 public:
    explicit Mirror(int64_t size) : device_(size), host_(size) {}

    T* Data() const { return device_.Data(); }
    const DeviceBuffer<T>& Device() const { return device_; }
    T& operator[](int64_t index) const { return host_[index]; }

    /// Enqueues the copy of part of the image, or of one new value, to the device.
    void Send(Stream& stream, int64_t index, int64_t count) const {
        Upload(stream, device_, index, host_.Data() + index, count);
    }
    void Set(Stream& stream, int64_t index, T value) const {
        host_[index] = value;
        Send(stream, index, 1);
    }
    /// Enqueues the copy of the device's first elements to the image.
    void Fetch(Stream& stream, int64_t count) const {
        Download(stream, host_.Data(), device_, 0, count);
    }

 private:
    DeviceBuffer<T> device_;
    PinnedBuffer<T> host_;
};

}  // namespace serve
