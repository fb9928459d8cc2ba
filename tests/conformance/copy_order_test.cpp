// SPDX-License-Identifier: Apache-2.0
// Copies and fills in time: which wait, which return at once, and in what order they run.
#include <gtest/gtest.h>

#include <thread>

#include "acl/acl.h"
#include "conformance/copy_batch.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"

namespace {

using conformance::CopyBatch;
using conformance::kDevice0;
using conformance::kHost;
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

class CopyBatchOrderTest : public support::DeviceTest {};

TEST_F(CopyBatchOrderTest, HostToHost) {
    std::vector<char> from(64, 'f'), to(64, 't');
    CopyBatch batch;
    batch.Govern(kHost, kHost);
    batch.Add(to.data(), from.data(), 64);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, batch.InStream(nullptr),
                        {"aclrtMemcpyBatchAsync: ", "batch 0", "kind"}));
    EXPECT_EQ(batch.failIndex, 0U);
    EXPECT_EQ(to, std::vector<char>(64, 't'));
    EXPECT_TRUE(IsOk(batch.Now()));
    EXPECT_EQ(to, from);
}

TEST_F(CopyBatchOrderTest, PinnedIsAsynchronousAndTheArraysMayGo) {
    const PinnedArray<char> pinned(64, 'p');
    const DeviceBuffer device(std::vector<char>(64, 'd'));
    const Stream stream = support::MakeStream();
    const HostGate gate(stream.Get());
    ASSERT_TRUE(gate.WaitEntered());
    {
        CopyBatch batch;
        batch.Govern(kDevice0, kHost);
        for (size_t i = 0; i < 64; ++i) {
            batch.Add(device.At(i), pinned.Get() + i, 1);
        }
        ASSERT_TRUE(IsOk(batch.InStream(stream.Get())));
    }
    EXPECT_EQ(device.Download<char>(), std::vector<char>(64, 'd'));
    gate.Open();
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(device.Download<char>(), std::vector<char>(64, 'p'));
}

TEST_F(CopyBatchOrderTest, OnePageableSideMakesItWait) {
    const PinnedArray<char> pinned(64, 'p');
    std::vector<char> host(64, 'h');
    const DeviceBuffer device(std::vector<char>(128, 'd'));
    CopyBatch batch;
    batch.Govern(kDevice0, kHost);
    batch.Add(device.Get(), pinned.Get(), 64);
    batch.Add(device.At(64), host.data(), 64);
    const support::Recorder recorder;
    ASSERT_TRUE(IsOk(recorder.Mark(nullptr, 1)));
    ASSERT_TRUE(IsOk(batch.InStream(nullptr)));
    EXPECT_EQ(recorder.Values(), std::vector<int>{1}) << "in stream order";
    std::vector<char> expected(64, 'p');
    expected.insert(expected.end(), 64, 'h');
    EXPECT_EQ(device.Download<char>(), expected);
    aclError inside = ACL_SUCCESS;
    ASSERT_TRUE(IsOk(support::Enqueue(nullptr, [&] { inside = batch.InStream(nullptr); })));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(inside, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT_EQ(batch.failIndex, SIZE_MAX);
}

TEST_F(CopyBatchOrderTest, ManyCopiesAreOneTask) {
    constexpr size_t kCount = 100000;
    const PinnedArray<char> pinned(kCount, 'p');
    const DeviceBuffer device(std::vector<char>(kCount, 'd'));
    CopyBatch batch;
    batch.Govern(kDevice0, kHost);
    for (size_t i = 0; i < kCount; ++i) {
        batch.Add(device.At(kCount - 1 - i), pinned.Get() + i, 1);
    }
    ASSERT_TRUE(IsOk(batch.InStream(nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(device.Download<char>(), std::vector<char>(kCount, 'p'));
}

TEST_F(CopyBatchOrderTest, StreamAndContextErrorsAreOfNoBatch) {
    std::vector<char> host(64);
    const DeviceBuffer device(64);
    CopyBatch batch;
    batch.Govern(kDevice0, kHost);
    batch.Add(device.Get(), host.data(), 64);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, batch.InStream(&batch), {"stream"}));
    EXPECT_EQ(batch.failIndex, SIZE_MAX);
}

}  // namespace
