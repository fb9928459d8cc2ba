// Copies and fills in time: which wait, which return at once, and in what order they run.
#include <gtest/gtest.h>

#include <thread>

#include "acl/acl.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"

namespace {

using support::DeviceBuffer;
using support::HostGate;
using support::IsError;
using support::IsOk;
using support::MakeStream;
using support::PinnedArray;
using support::Stream;

constexpr size_t kSize = 4096;

class CopyOrderTest : public support::DeviceTest {
 protected:
    static aclError ToDevice(const DeviceBuffer& device, const void* host, const Stream& stream) {
        return aclrtMemcpyAsync(device.Get(), kSize, host, kSize, ACL_MEMCPY_HOST_TO_DEVICE,
                                stream.Get());
    }
    static aclError ToHost(void* host, const DeviceBuffer& device, const Stream& stream) {
        return aclrtMemcpyAsync(host, kSize, device.Get(), kSize, ACL_MEMCPY_DEVICE_TO_HOST,
                                stream.Get());
    }
    static std::vector<char> All(char value) { return std::vector<char>(kSize, value); }
};

TEST_F(CopyOrderTest, HostToHostInAStreamIsRefused) {
    const PinnedArray<char> first(kSize, 'a');
    const PinnedArray<char> second(kSize, 'b');
    EXPECT_TRUE(IsError(
        ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
        aclrtMemcpyAsync(first.Get(), kSize, second.Get(), kSize, ACL_MEMCPY_HOST_TO_HOST, nullptr),
        {"aclrtMemcpyAsync: ", "kind"}));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(first.Values(), All('a'));
}

TEST_F(CopyOrderTest, HostToHostNow) {
    std::vector<char> first = All('a');
    const std::vector<char> second = All('b');
    EXPECT_TRUE(
        IsOk(aclrtMemcpy(first.data(), kSize, second.data(), kSize, ACL_MEMCPY_HOST_TO_HOST)));
    EXPECT_EQ(first, second);
}

TEST_F(CopyOrderTest, SynchronousCopyIsInNoOrderWithStreams) {
    const Stream stream = MakeStream();
    const HostGate gate(stream.Get());
    const HostGate defaultGate(nullptr);
    const DeviceBuffer device(All('a'));  // uploads
    EXPECT_EQ(device.Download<char>(), All('a'));
    EXPECT_TRUE(IsOk(aclrtMemset(device.Get(), kSize, 'b', kSize)));
    EXPECT_EQ(device.Download<char>(), All('b'));
}

TEST_F(CopyOrderTest, PinnedCopyToTheDeviceIsAsynchronous) {
    const Stream stream = MakeStream();
    const DeviceBuffer device(All('d'));
    const PinnedArray<char> pinned(kSize, 'p');
    const HostGate gate(stream.Get());
    ASSERT_TRUE(gate.WaitEntered());
    ASSERT_TRUE(IsOk(ToDevice(device, pinned.Get(), stream)));
    EXPECT_EQ(device.Download<char>(), All('d'));
    pinned.Fill('q');  // what the copy finds when it runs
    gate.Open();
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(device.Download<char>(), All('q'));
}

TEST_F(CopyOrderTest, PinnedCopyToTheHostIsAsynchronous) {
    const Stream stream = MakeStream();
    const DeviceBuffer device(All('d'));
    const PinnedArray<char> pinned(kSize, 'p');
    const HostGate gate(stream.Get());
    ASSERT_TRUE(gate.WaitEntered());
    ASSERT_TRUE(IsOk(ToHost(pinned.Get(), device, stream)));
    EXPECT_EQ(pinned.Values(), All('p'));
    gate.Open();
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(pinned.Values(), All('d'));
}

TEST_F(CopyOrderTest, PartOfAPinnedBlockIsPinned) {
    const Stream stream = MakeStream();
    const DeviceBuffer device(All('d'));
    const PinnedArray<char> pinned(3 * kSize, 'p');
    const HostGate gate(stream.Get());
    ASSERT_TRUE(gate.WaitEntered());
    ASSERT_TRUE(IsOk(ToDevice(device, pinned.Get() + kSize + 1, stream)));
    gate.Open();
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(device.Download<char>(), All('p'));
}

TEST_F(CopyOrderTest, DeviceCopiesAndFillsAreAsynchronous) {
    const Stream stream = MakeStream();
    const DeviceBuffer first(All('a'));
    const DeviceBuffer second(All('b'));
    const HostGate gate(stream.Get());
    ASSERT_TRUE(gate.WaitEntered());
    ASSERT_TRUE(IsOk(aclrtMemsetAsync(first.Get(), kSize, 'c', kSize, stream.Get())));
    ASSERT_TRUE(IsOk(aclrtMemcpyAsync(second.Get(), kSize, first.Get(), kSize,
                                      ACL_MEMCPY_DEVICE_TO_DEVICE, stream.Get())));
    EXPECT_EQ(first.Download<char>(), All('a'));
    EXPECT_EQ(second.Download<char>(), All('b'));
    gate.Open();
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(second.Download<char>(), All('c'));
}

TEST_F(CopyOrderTest, PageableCopyToTheHostIsDoneOnReturn) {
    const Stream stream = MakeStream();
    const DeviceBuffer device(All('d'));
    std::vector<char> host = All('h');
    for (const char value : {'x', 'y', 'z'}) {
        ASSERT_TRUE(IsOk(aclrtMemsetAsync(device.Get(), kSize, value, kSize, stream.Get())));
        ASSERT_TRUE(IsOk(ToHost(host.data(), device, stream)));
        EXPECT_EQ(host, All(value));
    }
}

TEST_F(CopyOrderTest, PageableCopyToTheDeviceHasReadItsSourceOnReturn) {
    const Stream stream = MakeStream();
    const DeviceBuffer device(All('d'));
    {
        std::vector<char> host = All('h');
        ASSERT_TRUE(IsOk(aclrtMemsetAsync(device.Get(), kSize, 'm', kSize, stream.Get())));
        ASSERT_TRUE(IsOk(ToDevice(device, host.data(), stream)));
        host.assign(kSize, 'i');
    }
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(device.Download<char>(), All('h'));
}

TEST_F(CopyOrderTest, PageableCopyWaitsForItsTurn) {
    const Stream stream = MakeStream();
    const DeviceBuffer device(All('d'));
    const support::Recorder recorder;
    std::vector<char> host = All('h');
    const HostGate gate(stream.Get());
    ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 1)));
    std::thread opener([&gate] {
        EXPECT_TRUE(gate.WaitEntered());
        gate.Open();
    });
    EXPECT_TRUE(IsOk(ToHost(host.data(), device, stream)));
    EXPECT_EQ(recorder.Values(), std::vector<int>{1}) << "work queued before has run";
    EXPECT_EQ(host, All('d'));
    opener.join();
}

TEST_F(CopyOrderTest, CopiesRunInOrder) {
    const Stream stream = MakeStream();
    const DeviceBuffer device(All('d'));
    std::vector<PinnedArray<char>> results;
    for (int i = 0; i < 50; ++i) {
        results.emplace_back(kSize, 'p');
        ASSERT_TRUE(IsOk(aclrtMemsetAsync(device.Get(), kSize, i, kSize, stream.Get())));
        ASSERT_TRUE(IsOk(ToHost(results.back().Get(), device, stream)));
    }
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    for (int i = 0; i < 50; ++i) {
        EXPECT_EQ(results[i].Values(), All(static_cast<char>(i)));
    }
}

TEST_F(CopyOrderTest, ErrorsShowAtTheCallNotLater) {
    const Stream stream = MakeStream();
    const DeviceBuffer device(64);
    const PinnedArray<char> pinned(kSize, 'p');
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, ToDevice(device, pinned.Get(), stream)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
}

}  // namespace
