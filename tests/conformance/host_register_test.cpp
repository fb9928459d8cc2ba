// SPDX-License-Identifier: Apache-2.0
// Registered host memory: what may be registered, what it is good for, and its end.
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
#include "conformance/one_query.h"
#include "support/host_work.h"

namespace {

using conformance::HostRegisterTest;
using namespace support;

TEST_F(HostRegisterTest, TakesEveryType) {
    PageVector<char> host = All('h');
    for (const int type :
         {ACL_HOST_REGISTER_MAPPED, ACL_HOST_REGISTER_IOMEMORY, ACL_HOST_REGISTER_READONLY}) {
        EXPECT_TRUE(IsOk(Register(host.data(), kSize, type)));
        EXPECT_TRUE(IsOk(aclrtHostUnregister(host.data())));
    }
}

TEST_F(HostRegisterTest, RefusesNullsAndSizeZero) {
    PageVector<char> host = All('h');
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
    PageVector<char> host = All('h');
    for (const int type : {1, 2, 12, 16}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, Register(host.data(), kSize, type),
                            {"aclrtHostRegister: ", "type"}, {type}));
    }
}

TEST_F(HostRegisterTest, RefusesWhatIsNotHostMemory) {
    const DeviceBuffer device(kSize);
    PageVector<char> host = All('h');
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

// Devices map whole pages; the words are those of aclrtHostRegisterV2.
TEST_F(HostRegisterTest, RefusesWhatDoesNotStartAPage) {
    PageVector<char> host(2 * kSize, 'h');
    for (const int type :
         {ACL_HOST_REGISTER_MAPPED, ACL_HOST_REGISTER_IOMEMORY, ACL_HOST_REGISTER_READONLY}) {
        for (const size_t offset : {size_t{1}, size_t{24}, kSize - 1}) {
            EXPECT_TRUE(
                IsError(ACL_ERROR_RT_PARAM_INVALID, Register(host.data() + offset, kSize, type),
                        {"aclrtHostRegister: ", "ptr is ", "expected a multiple of"}, {kSize}));
        }
    }
    const Registration registration = Registered(host.data() + kSize, 1);
}

TEST_F(HostRegisterTest, RefusesWhatIsPinnedAlready) {
    PageVector<char> host(3 * kSize);
    char* const middle = host.data() + kSize;
    const PinnedArray<char> pinned(2 * kSize);
    const Registration registration = Registered(middle, kSize);
    struct Range {
        char* begin;
        size_t bytes;
    };
    for (const Range& range :
         {Range{middle, kSize}, Range{middle, 1}, Range{host.data(), kSize + 1},
          Range{host.data(), 3 * kSize}, Range{pinned.Get() + kSize, kSize + 1}}) {
        EXPECT_TRUE(IsError(ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
                            Register(range.begin, range.bytes), {"aclrtHostRegister: ", "ptr"}));
    }
    const Registration before = Registered(host.data(), kSize);
    const Registration after = Registered(middle + kSize, kSize);
}

TEST_F(HostRegisterTest, UnregisterTakesTheStartOfARegistrationOnly) {
    PageVector<char> host = All('h');
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
    PageVector<char> host = All('h');
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
    auto host = std::make_unique<PageVector<char>>(size, 'h');
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
    PageVector<char> host = All('h');
    const Registration registration = Registered(host.data(), kSize);
    aclError status = ACL_SUCCESS;
    ASSERT_TRUE(IsOk(support::Enqueue(
        nullptr, [data = host.data(), out = &status] { *out = aclrtHostUnregister(data); })));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(status, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
}

TEST_F(HostRegisterTest, LastsOverAResetAndEndsWithTheRuntime) {
    PageVector<char> host = All('h');
    ASSERT_TRUE(IsOk(Register(host.data(), kSize)));
    ASSERT_TRUE(IsOk(aclrtResetDevice(0)));
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    EXPECT_TRUE(IsCode(ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED, Register(host.data(), kSize)));
    ASSERT_NO_FATAL_FAILURE(Restart({}));
    EXPECT_TRUE(IsCode(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, aclrtHostUnregister(host.data())));
}

// The library must not believe in memory that the program freed without a word.
TEST_F(HostRegisterTest, MemoryFreedWhileRegisteredIsForgottenWhenItIsGivenOutAgain) {
    std::vector<PageVector<char>> hosts(64, PageVector<char>(kSize));
    for (PageVector<char>& host : hosts) {
        ASSERT_TRUE(IsOk(Register(host.data(), kSize)));
    }
    hosts.clear();
    std::vector<DeviceBuffer> buffers;
    for (int i = 0; i < 256; ++i) {
        buffers.emplace_back(Bytes(static_cast<char>(i)));
    }
    for (int i = 0; i < 256; ++i) {
        EXPECT_EQ(buffers[i].Download<char>(), Bytes(static_cast<char>(i)));
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
                PageVector<char> host = All(static_cast<char>(t * 50 + i));
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

// What registered host memory is good for: copies, fills, tensors.

TEST_F(HostRegisterTest, CopiesFromAndToItAreAsynchronous) {
    PageVector<char> from = All('f'), to = All('t');
    const Registration first = Registered(from.data(), kSize);
    const Registration second = Registered(to.data(), kSize);
    const DeviceBuffer device(Bytes('d'));
    const Stream stream = support::MakeStream();
    const HostGate gate(stream.Get());
    ASSERT_TRUE(gate.WaitEntered());
    ASSERT_TRUE(IsOk(aclrtMemcpyAsync(device.Get(), kSize, from.data(), kSize,
                                      ACL_MEMCPY_HOST_TO_DEVICE, stream.Get())));
    ASSERT_TRUE(IsOk(aclrtMemcpyAsync(to.data(), kSize, device.Get(), kSize,
                                      ACL_MEMCPY_DEVICE_TO_HOST, stream.Get())));
    EXPECT_EQ(to, All('t'));
    gate.Open();
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(to, All('f'));
}

TEST_F(HostRegisterTest, FillsTakeIt) {
    PageVector<char> host = All('h');
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(host.data(), kSize, 'x', kSize)));
    const Registration registration = Registered(host.data(), kSize / 2);
    EXPECT_TRUE(IsOk(aclrtMemset(host.data(), kSize, 'x', kSize / 2)));
    EXPECT_TRUE(IsOk(aclrtMemsetAsync(host.data() + 8, kSize, 'y', 8, nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(host[7], 'x');
    EXPECT_EQ(host[8], 'y');
    EXPECT_EQ(host[16], 'x');
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(host.data(), kSize, 'z', kSize), {},
                        {kSize, kSize / 2}));
}

// Memory of which only a part is registered is ordinary memory to a copy.
TEST_F(HostRegisterTest, CopiesOfMoreThanIsRegisteredWait) {
    PageVector<char> host = All('h');
    const Registration registration = Registered(host.data(), kSize / 2);
    const DeviceBuffer device(Bytes('d'));
    ASSERT_TRUE(IsOk(aclrtMemcpyAsync(device.Get(), kSize, host.data(), kSize,
                                      ACL_MEMCPY_HOST_TO_DEVICE, nullptr)));
    EXPECT_EQ(device.Download<char>(), Bytes('h')) << "it returned before it was done";
    EXPECT_TRUE(
        IsOk(aclrtMemcpy(host.data(), kSize, device.Get(), kSize, ACL_MEMCPY_DEVICE_TO_HOST)));
}

TEST_F(HostRegisterTest, ItsAddressIsGoodOnTheDevice) {
    PageVector<char> host = All('h');
    const Registration registration = Registered(host.data(), kSize);
    const DeviceBuffer device(Bytes('d'));
    EXPECT_TRUE(
        IsOk(aclrtMemcpy(host.data(), kSize, device.Get(), kSize, ACL_MEMCPY_DEVICE_TO_DEVICE)));
    EXPECT_EQ(host, All('d'));
    EXPECT_TRUE(IsError(
        ACL_ERROR_RT_PARAM_INVALID,
        aclrtMemcpy(device.Get(), 2 * kSize, host.data() + 1, kSize, ACL_MEMCPY_DEVICE_TO_DEVICE),
        {}, {kSize, kSize - 1}));
}

TEST_F(HostRegisterTest, TensorsMayLieInIt) {
    const std::vector<int64_t> query = conformance::OneQuery();
    PageVector<int64_t> values(query.begin(), query.end());
    char* const base = reinterpret_cast<char*>(values.data());
    EXPECT_TRUE(IsError(ACLNN_ERR_RUNTIME_ERROR, conformance::AdvanceOneQuery(base), {"107000"}));
    ASSERT_TRUE(IsOk(Register(base, 88)));
    EXPECT_TRUE(IsOk(conformance::AdvanceOneQuery(base)));
    conformance::ExpectAdvanced({values.begin(), values.end()});
    ASSERT_TRUE(IsOk(aclrtHostUnregister(base)));
    EXPECT_TRUE(IsError(ACLNN_ERR_RUNTIME_ERROR, conformance::AdvanceOneQuery(base), {"107000"}));
    const PinnedArray<char> pinned(88);
    EXPECT_TRUE(IsError(ACLNN_ERR_RUNTIME_ERROR, conformance::AdvanceOneQuery(pinned.Get())));
}

TEST_F(HostRegisterTest, FromHostToHostInAStreamIsRefused) {
    PageVector<char> from = All('f'), to = All('t');
    const Registration first = Registered(from.data(), kSize);
    const Registration second = Registered(to.data(), kSize);
    EXPECT_TRUE(IsCode(
        ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
        aclrtMemcpyAsync(to.data(), kSize, from.data(), kSize, ACL_MEMCPY_DEFAULT, nullptr)));
    EXPECT_EQ(to, All('t'));
}

}  // namespace
