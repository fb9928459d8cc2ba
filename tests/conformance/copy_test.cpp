// SPDX-License-Identifier: Apache-2.0
// Copies and fills: what both forms, synchronous and in stream order, take and refuse, and which
// wait, which return at once, and in what order they run.
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <thread>

#include "acl/acl.h"
#include "conformance/copy_batch.h"
#include "conformance/copy_form.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"

namespace {

using conformance::CopyBatch;
using conformance::Form;
using conformance::kDevice0;
using conformance::kHost;
using namespace support;

class FormTest : public support::DeviceTest, public testing::WithParamInterface<Form> {
 protected:
    static bool Now() { return GetParam() == Form::kNow; }
    static aclError Copy(void* dst, size_t destMax, const void* src, size_t count, int kind) {
        const auto copyKind = static_cast<aclrtMemcpyKind>(kind);
        return Now() ? aclrtMemcpy(dst, destMax, src, count, copyKind)
                     : aclrtMemcpyAsync(dst, destMax, src, count, copyKind, nullptr);
    }
    static aclError Fill(void* memory, size_t maxCount, int32_t value, size_t count) {
        return Now() ? aclrtMemset(memory, maxCount, value, count)
                     : aclrtMemsetAsync(memory, maxCount, value, count, nullptr);
    }
    static std::string CopyName() { return Now() ? "aclrtMemcpy: " : "aclrtMemcpyAsync: "; }
    static std::string FillName() { return Now() ? "aclrtMemset: " : "aclrtMemsetAsync: "; }
    static std::vector<char> Pattern(size_t size) {
        std::vector<char> values(size);
        std::iota(values.begin(), values.end(), '\1');
        return values;
    }
};

class CopyTest : public FormTest {};

TEST_P(CopyTest, EveryKindMovesTheBytes) {
    const std::vector<char> pattern = Pattern(1000);
    for (const int toDevice :
         {ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_DEFAULT, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE}) {
        for (const int inDevice :
             {ACL_MEMCPY_DEVICE_TO_DEVICE, ACL_MEMCPY_DEFAULT, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE}) {
            for (const int toHost : {ACL_MEMCPY_DEVICE_TO_HOST, ACL_MEMCPY_DEFAULT}) {
                const DeviceBuffer first(std::vector<char>(1000, 'a'));
                const DeviceBuffer second(std::vector<char>(1000, 'b'));
                std::vector<char> result(1000, 'c');
                ASSERT_TRUE(IsOk(Copy(first.Get(), 1000, pattern.data(), 1000, toDevice)));
                ASSERT_TRUE(IsOk(Copy(second.Get(), 1000, first.Get(), 1000, inDevice)));
                ASSERT_TRUE(IsOk(Copy(result.data(), 1000, second.Get(), 1000, toHost)));
                EXPECT_EQ(result, pattern) << toDevice << " " << inDevice << " " << toHost;
            }
        }
    }
}

TEST_P(CopyTest, BetweenDevices) {
    const std::vector<char> pattern = Pattern(500);
    const DeviceBuffer first(pattern);
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    const DeviceBuffer second(std::vector<char>(500, 'b'));
    ASSERT_TRUE(IsOk(Copy(second.Get(), 500, first.Get(), 500, ACL_MEMCPY_INTER_DEVICE_TO_DEVICE)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(second.Download<char>(), pattern);
}

TEST_P(CopyTest, WritesCountBytesOnly) {
    const DeviceBuffer device(std::vector<char>(100, 'd'));
    const std::vector<char> pattern = Pattern(100);
    ASSERT_TRUE(IsOk(Copy(device.At(10), 90, pattern.data(), 20, ACL_MEMCPY_HOST_TO_DEVICE)));
    std::vector<char> expected(100, 'd');
    std::copy(pattern.begin(), pattern.begin() + 20, expected.begin() + 10);
    EXPECT_EQ(device.Download<char>(), expected);
}

TEST_P(CopyTest, NothingIsCopiedForCountZero) {
    const DeviceBuffer device(std::vector<char>(16, 'd'));
    const std::vector<char> host(16, 'h');
    EXPECT_TRUE(IsOk(Copy(device.Get(), 16, host.data(), 0, ACL_MEMCPY_HOST_TO_DEVICE)));
    EXPECT_TRUE(IsOk(Copy(device.Get(), 0, host.data(), 0, ACL_MEMCPY_HOST_TO_DEVICE)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(device.Download<char>(), std::vector<char>(16, 'd'));
}

TEST_P(CopyTest, RefusesNull) {
    const DeviceBuffer device(16);
    std::vector<char> host(16, 'h');
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                        Copy(nullptr, 16, host.data(), 16, ACL_MEMCPY_HOST_TO_DEVICE),
                        {CopyName(), "dst"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                        Copy(host.data(), 16, nullptr, 16, ACL_MEMCPY_DEVICE_TO_HOST),
                        {CopyName(), "src"}));
    EXPECT_EQ(host, std::vector<char>(16, 'h'));
}

TEST_P(CopyTest, RefusesUnknownKinds) {
    const DeviceBuffer device(16);
    const std::vector<char> host(16, 'h');
    for (const int kind : {8, -1, 1000}) {
        EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, Copy(device.Get(), 16, host.data(), 16, kind),
                            {CopyName(), "kind"}));
    }
}

TEST_P(CopyTest, RefusesMoreThanTheDestinationTakes) {
    const DeviceBuffer device(std::vector<char>(64, 'd'));
    const std::vector<char> host(64, 'h');
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                        Copy(device.Get(), 31, host.data(), 32, ACL_MEMCPY_HOST_TO_DEVICE),
                        {CopyName(), "destMax"}, {32, 31}));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(device.Download<char>(), std::vector<char>(64, 'd'));
}

// A range that starts at byte of an allocation of 1024 bytes; the message has both sizes.
TEST_P(CopyTest, RefusesRangesOutsideTheirAllocation) {
    const DeviceBuffer device(std::vector<char>(1024, 'd'));
    const DeviceBuffer large(8192);
    const PinnedArray<char> pinned(1024, 'p');
    std::vector<char> host(8192, 'h');
    struct Range {
        size_t byte, count;
        int inside;  // bytes from there to the allocation's end
    };
    for (const Range& range : {Range{0, 4096, 1024}, Range{0, 1025, 1024}, Range{1000, 100, 24},
                               Range{1023, 2, 1}, Range{512, 8000, 512}}) {
        SCOPED_TRACE(testing::Message() << range.count << " bytes at " << range.byte);
        const auto expectRefused = [&](aclError status) {
            EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, status, {CopyName()},
                                {static_cast<int>(range.count), range.inside}));
        };
        char* const inDevice = device.At(range.byte);
        char* const inPinned = pinned.Get() + range.byte;
        expectRefused(Copy(inDevice, 8192, host.data(), range.count, ACL_MEMCPY_HOST_TO_DEVICE));
        expectRefused(Copy(host.data(), 8192, inDevice, range.count, ACL_MEMCPY_DEVICE_TO_HOST));
        expectRefused(Copy(inDevice, 8192, large.Get(), range.count, ACL_MEMCPY_DEVICE_TO_DEVICE));
        expectRefused(Copy(large.Get(), 8192, inDevice, range.count, ACL_MEMCPY_DEVICE_TO_DEVICE));
        expectRefused(Copy(inDevice, 8192, host.data(), range.count, ACL_MEMCPY_DEFAULT));
        expectRefused(Copy(large.Get(), 8192, inPinned, range.count, ACL_MEMCPY_HOST_TO_DEVICE));
        expectRefused(Copy(inPinned, 8192, large.Get(), range.count, ACL_MEMCPY_DEVICE_TO_HOST));
    }
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(device.Download<char>(), std::vector<char>(1024, 'd'));
    EXPECT_EQ(pinned.Values(), std::vector<char>(1024, 'p'));
    EXPECT_EQ(host, std::vector<char>(8192, 'h'));
}

TEST_P(CopyTest, RefusesHugeCounts) {
    const DeviceBuffer device(64);
    const std::vector<char> host(64, 'h');
    for (const size_t count : {SIZE_MAX, SIZE_MAX - 32, SIZE_MAX / 2}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, Copy(device.At(32), SIZE_MAX, host.data(),
                                                             count, ACL_MEMCPY_HOST_TO_DEVICE)));
    }
}

TEST_P(CopyTest, TheAddressesDecideWhateverTheKind) {
    const std::vector<char> pattern = Pattern(100);
    for (int kind = ACL_MEMCPY_HOST_TO_HOST; kind <= ACL_MEMCPY_INTER_DEVICE_TO_DEVICE; ++kind) {
        SCOPED_TRACE(kind);
        const DeviceBuffer device(std::vector<char>(100, 'd'));
        const PinnedArray<char> pinned(100, 'p');
        std::vector<char> host(100, 'h');
        ASSERT_TRUE(IsOk(Copy(device.Get(), 100, pattern.data(), 100, kind)));
        ASSERT_TRUE(IsOk(Copy(pinned.Get(), 100, device.Get(), 100, kind)));
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
        EXPECT_EQ(pinned.Values(), pattern);
        ASSERT_TRUE(IsOk(aclrtMemset(device.Get(), 100, 0, 100)));
        ASSERT_TRUE(IsOk(Copy(device.Get(), 100, pinned.Get(), 100, kind)));
        ASSERT_TRUE(IsOk(Copy(host.data(), 100, device.Get(), 100, kind)));
        EXPECT_EQ(host, pattern);
    }
}

TEST_P(CopyTest, RefusesDeviceSidesInsideNoAllocation) {
    DeviceBuffer gone(64);
    const DeviceBuffer device(64);
    std::vector<char> host(64, 'h'), other(64, 'o');
    void* const freed = gone.Get();
    ASSERT_TRUE(IsOk(aclrtFree(gone.Release())));
    for (void* const none : {static_cast<void*>(other.data()), freed}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                            Copy(none, 64, host.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE),
                            {CopyName()}));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                            Copy(host.data(), 64, none, 64, ACL_MEMCPY_DEVICE_TO_HOST)));
    }
    // With the other side on the device, host memory may be meant, but no freed or wild address.
    DeviceBuffer pages(4096);
    void* const freedPages = pages.Get();
    ASSERT_TRUE(IsOk(aclrtFree(pages.Release())));
    for (void* const none : {reinterpret_cast<void*>(uintptr_t{4096}), freedPages}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                            Copy(device.Get(), 64, none, 64, ACL_MEMCPY_DEVICE_TO_DEVICE)));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                            Copy(none, 64, device.Get(), 64, ACL_MEMCPY_DEVICE_TO_DEVICE)));
    }
    EXPECT_EQ(host, std::vector<char>(64, 'h'));
    EXPECT_EQ(other, std::vector<char>(64, 'o'));
}

INSTANTIATE_TEST_SUITE_P(Now, CopyTest, testing::Values(Form::kNow));
INSTANTIATE_TEST_SUITE_P(InStream, CopyTest, testing::Values(Form::kInStream));

class FillTest : public FormTest {};

TEST_P(FillTest, SetsTheLowByte) {
    const DeviceBuffer device(std::vector<char>(100, 'd'));
    for (const int32_t value : {0, 0x7f, 0x12345, -1}) {
        ASSERT_TRUE(IsOk(Fill(device.At(10), 90, value, 50)));
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
        std::vector<char> expected(100, 'd');
        std::fill_n(expected.begin() + 10, 50, static_cast<char>(value & 0xff));
        EXPECT_EQ(device.Download<char>(), expected) << value;
    }
}

TEST_P(FillTest, TakesPinnedMemory) {
    const PinnedArray<char> pinned(32, 'p');
    ASSERT_TRUE(IsOk(Fill(pinned.Get(), 32, 'q', 32)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(pinned.Values(), std::vector<char>(32, 'q'));
}

TEST_P(FillTest, RefusesWhatLiesOutside) {
    const DeviceBuffer device(std::vector<char>(64, 'd'));
    std::vector<char> host(64, 'h');
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, Fill(nullptr, 64, 0, 64), {FillName(), "devPtr"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, Fill(device.Get(), 31, 0, 32),
                        {FillName(), "maxCount"}, {32, 31}));
    EXPECT_TRUE(
        IsError(ACL_ERROR_RT_PARAM_INVALID, Fill(device.Get(), 65, 0, 65), {FillName()}, {65, 64}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, Fill(device.At(60), SIZE_MAX, 0, SIZE_MAX)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, Fill(host.data(), 64, 0, 64), {FillName()}));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(device.Download<char>(), std::vector<char>(64, 'd'));
    EXPECT_EQ(host, std::vector<char>(64, 'h'));
}

INSTANTIATE_TEST_SUITE_P(Now, FillTest, testing::Values(Form::kNow));
INSTANTIATE_TEST_SUITE_P(InStream, FillTest, testing::Values(Form::kInStream));

// Copies and fills in time: which wait, which return at once, and in what order they run.

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
    // A stream that stands at a gate, and memory on both sides of a copy on it.
    struct Held {
        explicit Held(size_t pinnedBytes = kSize) : pinned(pinnedBytes, 'p') {
            EXPECT_TRUE(gate.WaitEntered());
        }
        const Stream stream = MakeStream();
        const DeviceBuffer device = DeviceBuffer(All('d'));
        const PinnedArray<char> pinned;
        const HostGate gate{stream.Get()};
    };
};

TEST_F(CopyOrderTest, HostToHostInAStreamIsRefused) {
    const PinnedArray<char> first(kSize, 'a');
    const PinnedArray<char> second(kSize, 'b');
    for (int kind = ACL_MEMCPY_HOST_TO_HOST; kind <= ACL_MEMCPY_INTER_DEVICE_TO_DEVICE; ++kind) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                            aclrtMemcpyAsync(first.Get(), kSize, second.Get(), kSize,
                                             static_cast<aclrtMemcpyKind>(kind), nullptr),
                            {"aclrtMemcpyAsync: ", "kind"}));
    }
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
    const Held held;
    ASSERT_TRUE(IsOk(ToDevice(held.device, held.pinned.Get(), held.stream)));
    EXPECT_EQ(held.device.Download<char>(), All('d'));
    held.pinned.Fill('q');  // what the copy finds when it runs
    held.gate.Open();
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(held.stream.Get())));
    EXPECT_EQ(held.device.Download<char>(), All('q'));
}

TEST_F(CopyOrderTest, PinnedCopyToTheHostIsAsynchronous) {
    const Held held;
    ASSERT_TRUE(IsOk(ToHost(held.pinned.Get(), held.device, held.stream)));
    EXPECT_EQ(held.pinned.Values(), All('p'));
    held.gate.Open();
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(held.stream.Get())));
    EXPECT_EQ(held.pinned.Values(), All('d'));
}

TEST_F(CopyOrderTest, PartOfAPinnedBlockIsPinned) {
    const Held held(3 * kSize);
    ASSERT_TRUE(IsOk(ToDevice(held.device, held.pinned.Get() + kSize + 1, held.stream)));
    held.gate.Open();
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(held.stream.Get())));
    EXPECT_EQ(held.device.Download<char>(), All('p'));
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
