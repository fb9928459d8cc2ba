// SPDX-License-Identifier: Apache-2.0
// Streams, events, contexts and memory that go with the scope.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_HANDLES_H_
#define ADVANCE_STEP_TESTS_SUPPORT_HANDLES_H_

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "acl/acl.h"
#include "support/status.h"

namespace support {

// Owns a runtime handle or a memory address; Free is called for one that is still owned. What Free
// returns is of no interest: a test that ended the runtime has taken the handle away before.
template <aclError (*Free)(void*)>
class Owned {
 public:
    Owned() = default;
    explicit Owned(void* handle) : handle_(handle) {}
    Owned(Owned&& other) noexcept : handle_(other.Release()) {}
    Owned& operator=(Owned&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Owned() {
        if (handle_ != nullptr) {
            Free(handle_);
        }
    }
    void* Get() const { return handle_; }
    void* Release() { return std::exchange(handle_, nullptr); }

 private:
    void* handle_ = nullptr;
};

using Stream = Owned<&aclrtDestroyStream>;
using Event = Owned<&aclrtDestroyEvent>;
using Context = Owned<&aclrtDestroyContext>;

inline Stream MakeStream() {
    aclrtStream stream = nullptr;
    EXPECT_TRUE(IsOk(aclrtCreateStream(&stream)));
    return Stream(stream);
}

// The three ways to create an event; what an event may do depends on them.
inline Event MakeEvent() {
    aclrtEvent event = nullptr;
    EXPECT_TRUE(IsOk(aclrtCreateEvent(&event)));
    return Event(event);
}
inline Event MakeEventWithFlag(uint32_t flag) {
    aclrtEvent event = nullptr;
    EXPECT_TRUE(IsOk(aclrtCreateEventWithFlag(&event, flag)));
    return Event(event);
}
inline Event MakeEventExWithFlag(uint32_t flag) {
    aclrtEvent event = nullptr;
    EXPECT_TRUE(IsOk(aclrtCreateEventExWithFlag(&event, flag)));
    return Event(event);
}

inline aclrtContext CurrentContext() {
    aclrtContext context = nullptr;
    EXPECT_TRUE(IsOk(aclrtGetCurrentContext(&context)));
    return context;
}

// Device memory of a number of bytes.
class DeviceBuffer {
 public:
    DeviceBuffer() = default;
    explicit DeviceBuffer(size_t bytes) : size_(bytes) {
        void* address = nullptr;
        EXPECT_TRUE(IsOk(aclrtMalloc(&address, bytes, ACL_MEM_MALLOC_HUGE_FIRST)));
        memory_ = Owned<&aclrtFree>(address);
    }
    template <class T>
    explicit DeviceBuffer(const std::vector<T>& values) : DeviceBuffer(values.size() * sizeof(T)) {
        Upload(values);
    }
    void* Get() const { return memory_.Get(); }
    char* At(size_t byte) const { return static_cast<char*>(memory_.Get()) + byte; }
    size_t Size() const { return size_; }
    void* Release() { return memory_.Release(); }

    template <class T>
    void Upload(const std::vector<T>& values) const {
        EXPECT_TRUE(IsOk(aclrtMemcpy(Get(), size_, values.data(), values.size() * sizeof(T),
                                     ACL_MEMCPY_HOST_TO_DEVICE)));
    }
    template <class T>
    std::vector<T> Download() const {
        std::vector<T> values(size_ / sizeof(T));
        EXPECT_TRUE(IsOk(aclrtMemcpy(values.data(), values.size() * sizeof(T), Get(),
                                     values.size() * sizeof(T), ACL_MEMCPY_DEVICE_TO_HOST)));
        return values;
    }

 private:
    Owned<&aclrtFree> memory_;
    size_t size_ = 0;
};

// Pinned host memory as an array of T.
template <class T>
class PinnedArray {
 public:
    explicit PinnedArray(size_t count, T value = T()) : size_(count) {
        void* address = nullptr;
        EXPECT_TRUE(IsOk(aclrtMallocHost(&address, count * sizeof(T))));
        memory_ = Owned<&aclrtFreeHost>(address);
        Fill(value);
    }
    T* Get() const { return static_cast<T*>(memory_.Get()); }
    size_t Size() const { return size_; }
    size_t Bytes() const { return size_ * sizeof(T); }
    T* Release() { return static_cast<T*>(memory_.Release()); }
    T& operator[](size_t index) const { return Get()[index]; }
    void Fill(T value) const {
        for (size_t i = 0; Get() != nullptr && i < size_; ++i) {
            Get()[i] = value;
        }
    }
    std::vector<T> Values() const { return std::vector<T>(Get(), Get() + size_); }

 private:
    Owned<&aclrtFreeHost> memory_;
    size_t size_ = 0;
};

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_HANDLES_H_
