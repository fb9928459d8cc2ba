// SPDX-License-Identifier: Apache-2.0
// Copies of the program's own memory are waited for to the end, also after an abort.
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "conformance/abort_call.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/page_vector.h"
#include "support/runtime_test.h"
#include "support/tensor.h"

namespace {

using namespace support;

class CopyAbortTest : public support::DeviceTest {
 protected:
    static constexpr size_t kBytes = 64;

    static int CopyTo(const support::DeviceBuffer& device, std::vector<char>& host,
                      const Stream& stream) {
        return aclrtMemcpyAsync(device.Get(), kBytes, host.data(), kBytes,
                                ACL_MEMCPY_HOST_TO_DEVICE, stream.Get());
    }
};

// The copy would otherwise run when the program has its memory back.
TEST_F(CopyAbortTest, APageableCopyThatMayNotBeWaitedForIsNotQueued) {
    const Stream stream = MakeStream();
    const support::DeviceBuffer device(std::vector<char>(kBytes, 'd'));
    ASSERT_TRUE(IsOk(aclrtSubscribeReport(static_cast<uint64_t>(pthread_self()), stream.Get())));
    int ran = 0;
    ASSERT_TRUE(IsOk(aclrtLaunchCallback([](void* count) { ++*static_cast<int*>(count); }, &ran,
                                         ACL_CALLBACK_BLOCK, stream.Get())));
    std::vector<char> host(kBytes, 'h');
    EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, CopyTo(device, host, stream),
                        {"aclrtMemcpyAsync: ", "aclrtProcessReport"}));
    host.assign(kBytes, 'x');
    EXPECT_TRUE(IsOk(aclrtProcessReport(-1)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(device.Download<char>(), std::vector<char>(kBytes, 'd'));
    EXPECT_TRUE(IsOk(CopyTo(device, host, stream)));
    EXPECT_EQ(device.Download<char>(), std::vector<char>(kBytes, 'x'));
}

// A refusal leaves the memory registered.
TEST_F(CopyAbortTest, UnregisteringThatMayNotWaitChangesNothing) {
    const Stream stream = MakeStream();
    ASSERT_TRUE(IsOk(aclrtSubscribeReport(static_cast<uint64_t>(pthread_self()), stream.Get())));
    support::PageVector<char> host(kBytes, 'h');
    void* address = nullptr;
    ASSERT_TRUE(IsOk(aclrtHostRegister(host.data(), kBytes, ACL_HOST_REGISTER_MAPPED, &address)));
    int ran = 0;
    ASSERT_TRUE(IsOk(aclrtLaunchCallback([](void* count) { ++*static_cast<int*>(count); }, &ran,
                                         ACL_CALLBACK_BLOCK, stream.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtHostUnregister(host.data())));
    EXPECT_TRUE(IsOk(aclrtProcessReport(-1)));
    EXPECT_TRUE(IsOk(aclrtHostUnregister(host.data())));
    EXPECT_TRUE(IsError(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, aclrtHostUnregister(host.data())));
}

// An abort of the stream does not end the wait for what is running there.
TEST_F(CopyAbortTest, UnregisteringWaitsForWhatRunsOnAnAbortedStream) {
    const Stream stream = MakeStream();
    support::PageVector<char> host(kBytes, 'h');
    void* address = nullptr;
    ASSERT_TRUE(IsOk(aclrtHostRegister(host.data(), kBytes, ACL_HOST_REGISTER_MAPPED, &address)));
    const support::Signal aborted;
    const auto over = std::make_shared<std::atomic<bool>>(false);
    const support::Signal entered;
    ASSERT_TRUE(IsOk(support::Enqueue(stream.Get(), [aborted, over, entered] {
        entered.Set();
        EXPECT_TRUE(aborted.Wait());
        *over = true;
    })));
    ASSERT_TRUE(entered.Wait());
    aclrtContext context = nullptr;
    ASSERT_TRUE(IsOk(aclrtGetCurrentContext(&context)));
    std::thread aborter([&] {
        EXPECT_TRUE(IsOk(aclrtSetCurrentContext(context)));
        EXPECT_TRUE(IsOk(aclrtStreamAbort(stream.Get())));
        aborted.Set();
    });
    EXPECT_TRUE(IsOk(aclrtHostUnregister(host.data())));
    EXPECT_TRUE(*over);
    aborter.join();
}

// A copy that returned an error has not run and will not run; one after the aborts is whole. Where
// an abort meets a copy that may have begun, tests/stress/copy_abort_stress_test.cpp looks.
TEST_F(CopyAbortTest, APageableCopyIsAnErrorBeforeTheAbortAndWholeAfterIt) {
    constexpr size_t kMany = size_t{1} << 20;
    const Stream stream = MakeStream();
    const support::DeviceBuffer device(std::vector<char>(kMany, '0'));
    const auto copy = [&](char value) {
        const std::vector<char> host(kMany, value);
        return aclrtMemcpyAsync(device.Get(), kMany, host.data(), kMany, ACL_MEMCPY_HOST_TO_DEVICE,
                                stream.Get());
    };
    for (const char value : {'a', 'b', 'c'}) {
        const support::HostGate gate(stream.Get());
        ASSERT_TRUE(gate.WaitEntered());
        conformance::ExpectAborted(stream, gate, [&] { return copy('x'); });
        ASSERT_TRUE(IsOk(copy(value)));
        ASSERT_EQ(device.Download<char>(), std::vector<char>(kMany, value));
    }
}

}  // namespace
