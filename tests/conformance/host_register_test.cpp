// SPDX-License-Identifier: Apache-2.0
// Registered host memory: what may be registered, and its end.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "conformance/host_register_fixture.h"
#include "support/host_work.h"

namespace {

using conformance::HostRegisterTest;
using support::DeviceBuffer;
using support::HostGate;
using support::IsCode;
using support::IsError;
using support::IsOk;
using support::PinnedArray;
using support::Stream;

TEST_F(HostRegisterTest, TakesEveryType) {
    std::vector<char> host = All('h');
    for (const int type :
         {ACL_HOST_REGISTER_MAPPED, ACL_HOST_REGISTER_IOMEMORY, ACL_HOST_REGISTER_READONLY}) {
        EXPECT_TRUE(IsOk(Register(host.data(), kSize, type)));
        EXPECT_TRUE(IsOk(aclrtHostUnregister(host.data())));
    }
}

TEST_F(HostRegisterTest, RefusesNullsAndSizeZero) {
    std::vector<char> host = All('h');
    void* devPtr = nullptr;
    EXPECT_TRUE(
        IsError(ACL_ERROR_INVALID_PARAM, Register(nullptr, kSize), {"aclrtHostRegister: ", "ptr"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, Register(host.data(), 0), {"size"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                        aclrtHostRegister(host.data(), kSize, ACL_HOST_REGISTER_MAPPED, nullptr),
                        {"devPtr"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtHostUnregister(nullptr),
                        {"aclrtHostUnregister: ", "ptr"}));
    EXPECT_EQ(devPtr, nullptr);
}

TEST_F(HostRegisterTest, RefusesOtherTypes) {
    std::vector<char> host = All('h');
    for (const int type : {1, 2, 12, 16}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, Register(host.data(), kSize, type),
                            {"aclrtHostRegister: ", "type"}, {type}));
    }
}

TEST_F(HostRegisterTest, RefusesWhatIsNotHostMemory) {
    const DeviceBuffer device(kSize);
    std::vector<char> host = All('h');
    void* reserved = nullptr;
    ASSERT_TRUE(IsOk(aclrtReserveMemAddress(&reserved, size_t{2} << 20, 0, nullptr, 0)));
    void* const nowhere = reinterpret_cast<void*>(uintptr_t{4096});
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, Register(device.Get(), kSize), {"ptr"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, Register(device.At(8), 1), {"ptr"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, Register(reserved, kSize), {"ptr"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, Register(nowhere, kSize), {"ptr"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, Register(host.data(), SIZE_MAX), {"ptr"}));
    EXPECT_TRUE(IsOk(aclrtReleaseMemAddress(reserved)));
}

TEST_F(HostRegisterTest, RefusesWhatIsPinnedAlready) {
    std::vector<char> host(3 * kSize);
    char* const middle = host.data() + kSize;
    const PinnedArray<char> pinned(kSize);
    const Registration registration = Registered(middle, kSize);
    struct Range {
        char* begin;
        size_t bytes;
    };
    for (const Range& range :
         {Range{middle, kSize}, Range{middle, 1}, Range{middle + kSize - 1, kSize},
          Range{host.data(), kSize + 1}, Range{host.data(), 3 * kSize}, Range{middle + 8, 8},
          Range{pinned.Get() - 8, 16}, Range{pinned.Get() + kSize - 8, 16}}) {
        EXPECT_TRUE(IsError(ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
                            Register(range.begin, range.bytes), {"aclrtHostRegister: ", "ptr"}));
    }
    const Registration before = Registered(host.data(), kSize);
    const Registration after = Registered(middle + kSize, kSize);
}

TEST_F(HostRegisterTest, UnregisterTakesTheStartOfARegistrationOnly) {
    std::vector<char> host = All('h');
    const PinnedArray<char> pinned(kSize);
    const DeviceBuffer device(kSize);
    Registration registration = Registered(host.data(), kSize);
    const auto expectUnknown = [](void* ptr) {
        EXPECT_TRUE(IsError(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, aclrtHostUnregister(ptr),
                            {"aclrtHostUnregister: ", "ptr"}));
    };
    expectUnknown(host.data() + 1);
    expectUnknown(host.data() + kSize);
    expectUnknown(pinned.Get());
    expectUnknown(device.Get());
    EXPECT_TRUE(IsOk(aclrtHostUnregister(registration.Release())));
    expectUnknown(host.data());
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_PARAM_INVALID, aclrtFreeHost(host.data())));
}

TEST_F(HostRegisterTest, FreeHostDoesNotTakeIt) {
    std::vector<char> host = All('h');
    const Registration registration = Registered(host.data(), kSize);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtFreeHost(host.data()), {"hostPtr"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(host.data()), {"devPtr"}));
}

bool IsAsleep(pid_t thread) {
    std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
    std::string line;
    std::getline(file, line);
    const size_t name = line.rfind(") ");  // the state follows the thread's name
    return name != line.npos && line.compare(name + 2, 1, "S") == 0;
}

TEST_F(HostRegisterTest, UnregisterWaitsForQueuedWork) {
    const size_t size = size_t{8} << 20;
    auto host = std::make_unique<std::vector<char>>(size, 'h');
    Registration registration = Registered(host->data(), size);
    const DeviceBuffer device(size);
    const Stream stream = support::MakeStream();
    const HostGate gate(stream.Get());
    ASSERT_TRUE(gate.WaitEntered());
    ASSERT_TRUE(IsOk(aclrtMemcpyAsync(device.Get(), size, host->data(), size,
                                      ACL_MEMCPY_HOST_TO_DEVICE, stream.Get())));
    // The gate stays closed until the call waits, or has returned, as one that did not wait would.
    // The copy of so many bytes takes longer than the way back from the call.
    std::atomic<pid_t> thread{0};
    std::atomic<bool> hasReturned{false};
    std::future<void> unregistered =
        std::async(std::launch::async, [&, context = support::CurrentContext()] {
            ASSERT_TRUE(IsOk(aclrtSetCurrentContext(context)));
            void* const registered = registration.Release();
            thread = static_cast<pid_t>(syscall(SYS_gettid));
            EXPECT_TRUE(IsOk(aclrtHostUnregister(registered)));
            hasReturned = true;
            aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
            EXPECT_TRUE(IsOk(aclrtStreamQuery(stream.Get(), &status)));
            EXPECT_EQ(status, ACL_STREAM_STATUS_COMPLETE);
        });
    EXPECT_TRUE(support::Eventually(
        [&] { return hasReturned || (thread != 0 && IsAsleep(thread.load())); }));
    EXPECT_FALSE(hasReturned);
    gate.Open();
    unregistered.get();
    host.reset();  // the sanitizer sees a copy that is still to come
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(device.Download<char>(), std::vector<char>(size, 'h'));
}

TEST_F(HostRegisterTest, UnregisterInsideAHostFunctionIsRefused) {
    std::vector<char> host = All('h');
    const Registration registration = Registered(host.data(), kSize);
    aclError status = ACL_SUCCESS;
    ASSERT_TRUE(IsOk(support::Enqueue(
        nullptr, [data = host.data(), out = &status] { *out = aclrtHostUnregister(data); })));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(status, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
}

TEST_F(HostRegisterTest, LastsOverAResetAndEndsWithTheRuntime) {
    std::vector<char> host = All('h');
    ASSERT_TRUE(IsOk(Register(host.data(), kSize)));
    ASSERT_TRUE(IsOk(aclrtResetDevice(0)));
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    EXPECT_TRUE(IsCode(ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED, Register(host.data(), kSize)));
    ASSERT_NO_FATAL_FAILURE(Restart({}));
    EXPECT_TRUE(IsCode(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, aclrtHostUnregister(host.data())));
}

// The library must not believe in memory that the program freed without a word.
TEST_F(HostRegisterTest, MemoryFreedWhileRegisteredIsForgottenWhenItIsGivenOutAgain) {
    std::vector<std::vector<char>> hosts(64, std::vector<char>(kSize));
    for (std::vector<char>& host : hosts) {
        ASSERT_TRUE(IsOk(Register(host.data(), kSize)));
    }
    hosts.clear();
    std::vector<DeviceBuffer> buffers;
    for (int i = 0; i < 256; ++i) {
        buffers.emplace_back(All(static_cast<char>(i)));
    }
    for (int i = 0; i < 256; ++i) {
        EXPECT_EQ(buffers[i].Download<char>(), All(static_cast<char>(i)));
    }
}

TEST_F(HostRegisterTest, ThreadsMayRegisterTogether) {
    const aclrtContext context = support::CurrentContext();
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([context, t] {
            ASSERT_TRUE(IsOk(aclrtSetCurrentContext(context)));
            const Stream stream = support::MakeStream();
            const DeviceBuffer device(kSize);
            for (int i = 0; i < 50; ++i) {
                std::vector<char> host = All(static_cast<char>(t * 50 + i));
                Registration registration = Registered(host.data(), kSize);
                ASSERT_TRUE(IsOk(aclrtMemcpyAsync(device.Get(), kSize, host.data(), kSize,
                                                  ACL_MEMCPY_HOST_TO_DEVICE, stream.Get())));
                ASSERT_TRUE(IsOk(aclrtHostUnregister(registration.Release())));
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

}  // namespace
