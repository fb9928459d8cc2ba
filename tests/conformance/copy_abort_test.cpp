// What waits for the program's own memory does so to the end, whatever happens to the stream.
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "support/tensor.h"

namespace {

using support::IsError;
using support::IsOk;
using support::MakeStream;
using support::Stream;

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
    std::vector<char> host(kBytes, 'h');
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
    std::vector<char> host(kBytes, 'h');
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

// Whatever the moment of the abort: a copy that returned an error has not run and will not run.
TEST_F(CopyAbortTest, APageableCopyIsWholeOrAnError) {
    constexpr size_t kMany = size_t{1} << 20;
    const Stream stream = MakeStream();
    const support::DeviceBuffer device(std::vector<char>(kMany, '0'));
    aclrtContext context = nullptr;
    ASSERT_TRUE(IsOk(aclrtGetCurrentContext(&context)));
    std::atomic<bool> over{false};
    std::thread aborter([&] {
        EXPECT_TRUE(IsOk(aclrtSetCurrentContext(context)));
        while (!over) {
            EXPECT_TRUE(IsOk(aclrtStreamAbort(stream.Get())));
        }
    });
    char before = '0';
    int dropped = 0;
    for (int round = 0; round < 300; ++round) {
        const char now = before == 'a' ? 'b' : 'a';
        const std::vector<char> host(kMany, now);
        const int code = aclrtMemcpyAsync(device.Get(), kMany, host.data(), kMany,
                                          ACL_MEMCPY_HOST_TO_DEVICE, stream.Get());
        ASSERT_TRUE(code == ACL_SUCCESS || code == ACL_ERROR_RT_STREAM_ABORT) << code;
        dropped += code == ACL_SUCCESS ? 0 : 1;
        before = code == ACL_SUCCESS ? now : before;
        ASSERT_EQ(device.Download<char>(), std::vector<char>(kMany, before)) << round;
    }
    over = true;
    aborter.join();
    EXPECT_LT(dropped, 300);
}

}  // namespace
