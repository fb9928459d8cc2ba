// SPDX-License-Identifier: Apache-2.0
// Objects that replays use: memory and notifies that are gone, flags and words in a capture.
#include <gtest/gtest.h>

#include <string>

#include "conformance/capture_fixture.h"
#include "support/page_vector.h"
#include "support/table.h"

namespace conformance {
namespace {

constexpr size_t kUseBytes = 64;

// A batch of one copy from the host to the device.
aclError CopyBatchOfOne(void* device, void* pinned, aclrtStream stream) {
    size_t bytes = kUseBytes, first = 0, failed = 0;
    aclrtMemcpyBatchAttr to{};
    to.dstLoc.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    to.srcLoc.type = ACL_MEM_LOCATION_TYPE_HOST;
    return aclrtMemcpyBatchAsync(&device, &bytes, &pinned, &bytes, 1, &to, &first, 1, &failed,
                                 stream);
}

// Work with memory that is gone before a replay.
struct Memory {
    DeviceBuffer device{std::vector<char>(kUseBytes, 'd')};
    DeviceBuffer second{std::vector<char>(kUseBytes, 's')};
    PinnedArray<char> pinned{kUseBytes, 'p'};
};

struct FreedCase {
    std::string name;
    aclError (*work)(const Memory& m, aclrtStream stream);
    void (*free)(Memory& m);
};

template <auto kTo, auto kFrom, aclrtMemcpyKind kKind>
aclError Copy(const Memory& m, aclrtStream stream) {
    return aclrtMemcpyAsync((m.*kTo).Get(), kUseBytes, (m.*kFrom).Get(), kUseBytes, kKind, stream);
}
void FreeDevice(Memory& m) { m.device = DeviceBuffer(); }
void FreePinned(Memory& m) { EXPECT_TRUE(IsOk(aclrtFreeHost(m.pinned.Release()))); }

class FreedMemoryTest : public CaptureTest, public testing::WithParamInterface<FreedCase> {};

TEST_P(FreedMemoryTest, IsRefusedAndHarmless) {
    Memory memory;
    const Stream stream = MakeStream();
    const Recorder recorder;
    const Model model = Capture(stream.Get(), [&] {
        EXPECT_TRUE(IsOk(recorder.Mark(stream.Get(), 1)));
        EXPECT_TRUE(IsOk(GetParam().work(memory, stream.Get())));
    });
    EXPECT_TRUE(IsOk(Replay(model, stream)));
    GetParam().free(memory);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclmdlRIExecuteAsync(model.Get(), stream.Get()),
                        {"aclmdlRIExecuteAsync: "}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclmdlRIExecute(model.Get(), -1),
                        {"aclmdlRIExecute: "}));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(recorder.Values(), std::vector<int>{1}) << "no part of the replay runs";
}

// A replay that is queued already is work that uses the memory.
TEST_P(FreedMemoryTest, AQueuedReplayStillHasIt) {
    Memory memory;
    const Stream stream = MakeStream();
    const Model model =
        Capture(stream.Get(), [&] { EXPECT_TRUE(IsOk(GetParam().work(memory, stream.Get()))); });
    {
        const HostGate gate(stream.Get());
        ASSERT_TRUE(gate.WaitEntered());
        ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model.Get(), stream.Get())));
        GetParam().free(memory);
    }
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
}

class ReplayAtAPlaceTest : public CaptureTest {
 protected:
    // Captures a fill with 'f'.
    static Model CaptureFill(const Stream& stream, void* address, size_t bytes) {
        return Capture(stream.Get(), [&] {
            EXPECT_TRUE(IsOk(aclrtMemsetAsync(address, bytes, 'f', bytes, stream.Get())));
        });
    }
};

// A model has addresses. A block is freed and allocated until its place comes again, which takes a
// few allocations.
TEST_F(ReplayAtAPlaceTest, RunsWhenTheMemoryIsAllocatedAgain) {
    constexpr size_t kPage = 4096;
    const Stream stream = MakeStream();
    void* const block = DeviceBuffer(kPage).Release();
    const Model model = CaptureFill(stream, block, kPage);
    EXPECT_TRUE(IsOk(aclrtFree(block)));
    std::vector<DeviceBuffer> others;
    for (int i = 0; i < 64; ++i) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                            aclmdlRIExecuteAsync(model.Get(), stream.Get()),
                            {"freed", "device 0"}));
        others.emplace_back(std::vector<char>(kPage, 'n'));
        if (others.back().Get() == block) {
            EXPECT_TRUE(IsOk(Replay(model, stream)));
            EXPECT_EQ(others.back().Download<char>(), std::vector<char>(kPage, 'f'));
            return;
        }
        EXPECT_EQ(others.back().Download<char>(), std::vector<char>(kPage, 'n'));
    }
    GTEST_SKIP() << "the host gave the place to nobody";
}

// The place is the same for sure, because the program chooses it.
TEST_F(ReplayAtAPlaceTest, RunsWhenTheMemoryIsRegisteredAgain) {
    support::PageVector<char> host(kUseBytes, 'h');
    const auto registered = [&] {
        void* device = nullptr;
        EXPECT_TRUE(
            IsOk(aclrtHostRegister(host.data(), kUseBytes, ACL_HOST_REGISTER_MAPPED, &device)));
        return device;
    };
    void* const first = registered();
    const Stream stream = MakeStream();
    const Model model = CaptureFill(stream, first, kUseBytes);
    EXPECT_TRUE(IsOk(Replay(model, stream)));
    EXPECT_EQ(host, support::PageVector<char>(kUseBytes, 'f'));
    host.assign(kUseBytes, 'h');
    EXPECT_TRUE(IsOk(aclrtHostUnregister(host.data())));
    EXPECT_TRUE(
        IsError(ACL_ERROR_RT_PARAM_INVALID, aclmdlRIExecuteAsync(model.Get(), stream.Get())));
    EXPECT_EQ(registered(), first);
    EXPECT_TRUE(IsOk(Replay(model, stream)));
    EXPECT_EQ(host, support::PageVector<char>(kUseBytes, 'f'));
    EXPECT_TRUE(IsOk(aclrtHostUnregister(host.data())));
}

INSTANTIATE_TEST_SUITE_P(
    Table, FreedMemoryTest,
    testing::Values(
        FreedCase{"Fill",
                  [](const Memory& m, aclrtStream stream) {
                      return aclrtMemsetAsync(m.device.Get(), kUseBytes, 'f', kUseBytes, stream);
                  },
                  &FreeDevice},
        FreedCase{"FillOfPinnedMemory",
                  [](const Memory& m, aclrtStream stream) {
                      return aclrtMemsetAsync(m.pinned.Get(), kUseBytes, 'f', kUseBytes, stream);
                  },
                  &FreePinned},
        FreedCase{"CopyFromTheHost",
                  &Copy<&Memory::device, &Memory::pinned, ACL_MEMCPY_HOST_TO_DEVICE>, &FreePinned},
        FreedCase{"CopyToTheHost",
                  &Copy<&Memory::pinned, &Memory::device, ACL_MEMCPY_DEVICE_TO_HOST>, &FreeDevice},
        FreedCase{"CopySource",
                  &Copy<&Memory::second, &Memory::device, ACL_MEMCPY_DEVICE_TO_DEVICE>,
                  &FreeDevice},
        FreedCase{"CopyDestination",
                  &Copy<&Memory::second, &Memory::device, ACL_MEMCPY_DEVICE_TO_DEVICE>,
                  [](Memory& m) { m.second = DeviceBuffer(); }},
        FreedCase{"BatchSource",
                  [](const Memory& m, aclrtStream stream) {
                      return CopyBatchOfOne(m.device.Get(), m.pinned.Get(), stream);
                  },
                  &FreePinned},
        FreedCase{"BatchDestination",
                  [](const Memory& m, aclrtStream stream) {
                      return CopyBatchOfOne(m.device.Get(), m.pinned.Get(), stream);
                  },
                  &FreeDevice},
        FreedCase{"ValueWrite",
                  [](const Memory& m, aclrtStream stream) {
                      return aclrtValueWrite(m.device.Get(), 1, 0, stream);
                  },
                  &FreeDevice},
        FreedCase{"ValueWait",
                  [](const Memory& m, aclrtStream stream) {
                      return aclrtValueWait(m.device.Get(), ~uint64_t{0}, ACL_STREAM_WAIT_VALUE_AND,
                                            stream);
                  },
                  &FreeDevice}),
    support::CaseName());

class ReplayUsesTest : public CaptureTest {};

TEST_F(ReplayUsesTest, ADestroyedNotifyIsRefused) {
    const Stream stream = MakeStream();
    const Recorder recorder;
    Notify notify = MakeNotify();
    const Model model = Capture(stream.Get(), [&] {
        EXPECT_TRUE(IsOk(recorder.Mark(stream.Get(), 1)));
        EXPECT_TRUE(IsOk(aclrtRecordNotify(notify.Get(), stream.Get())));
    });
    EXPECT_TRUE(IsOk(Replay(model, stream)));
    {
        const HostGate gate(stream.Get());
        ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model.Get(), stream.Get())));
        ASSERT_TRUE(IsOk(aclrtDestroyNotify(notify.Release())));
    }
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get()))) << "queued before";
    const Notify next = MakeNotify();
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE,
                        aclmdlRIExecuteAsync(model.Get(), stream.Get()),
                        {"aclmdlRIExecuteAsync: "}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRIExecute(model.Get(), -1)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(recorder.Values(), (std::vector<int>{1, 1}));
}

TEST_F(ReplayUsesTest, NotifiesWithinTheCapture) {
    const Stream stream = MakeStream();
    const Stream side = MakeStream();
    const Recorder recorder;
    const Notify notify = MakeNotify();
    const Model model = Capture(stream.Get(), [&] {
        Order(stream, side);
        EXPECT_TRUE(IsOk(aclrtWaitAndResetNotify(notify.Get(), stream.Get(), 0)));
        EXPECT_TRUE(IsOk(recorder.Mark(stream.Get(), 2)));
        EXPECT_TRUE(IsOk(recorder.Mark(side.Get(), 1)));
        EXPECT_TRUE(IsOk(aclrtRecordNotify(notify.Get(), side.Get())));
        Order(side, stream);
    });
    std::vector<int> expected;
    for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model.Get(), stream.Get())));
        expected.insert(expected.end(), {1, 2});
    }
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(recorder.Values(), expected);
}

TEST_F(ReplayUsesTest, NotifiesFromOutside) {
    const Stream stream = MakeStream();
    const Stream other = MakeStream();
    const Recorder recorder;
    const Notify notify = MakeNotify();
    const Model model = Capture(stream.Get(), [&] {
        EXPECT_TRUE(IsOk(aclrtWaitAndResetNotify(notify.Get(), stream.Get(), 0)));
        EXPECT_TRUE(IsOk(recorder.Mark(stream.Get(), 2)));
    });
    for (int i = 0; i < 5; ++i) {
        ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model.Get(), stream.Get())));
        ASSERT_TRUE(IsOk(recorder.Mark(other.Get(), 1)));
        ASSERT_TRUE(IsOk(aclrtRecordNotify(notify.Get(), other.Get())));
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    }
    EXPECT_EQ(recorder.Values(), (std::vector<int>{1, 2, 1, 2, 1, 2, 1, 2, 1, 2}));
}

TEST_F(ReplayUsesTest, AWaitThatExpiresFailsTheReplay) {
    const Stream stream = MakeStream();
    const Recorder recorder;
    const Notify notify = MakeNotify();
    const Model model = Capture(stream.Get(), [&] {
        EXPECT_TRUE(IsOk(aclrtWaitAndResetNotify(notify.Get(), stream.Get(), 1)));
        EXPECT_TRUE(IsOk(recorder.Mark(stream.Get(), 1)));
    });
    EXPECT_TRUE(IsError(ACL_ERROR_RT_WAIT_TIMEOUT, Replay(model, stream)));
    EXPECT_EQ(recorder.Values(), std::vector<int>{1}) << "later tasks run";
    ASSERT_TRUE(IsOk(aclrtRecordNotify(notify.Get(), stream.Get())));
    EXPECT_TRUE(IsOk(Replay(model, stream)));
}

TEST_F(ReplayUsesTest, ValuesWithinTheCapture) {
    const Stream stream = MakeStream();
    const Stream side = MakeStream();
    const Recorder recorder;
    const DeviceBuffer word(std::vector<uint64_t>{0});
    const Model model = Capture(stream.Get(), [&] {
        EXPECT_TRUE(IsOk(aclrtValueWrite(word.Get(), 0, 0, stream.Get())));
        Order(stream, side);
        EXPECT_TRUE(IsOk(aclrtValueWait(word.Get(), 7, ACL_STREAM_WAIT_VALUE_EQ, stream.Get())));
        EXPECT_TRUE(IsOk(recorder.Mark(stream.Get(), 2)));
        EXPECT_TRUE(IsOk(recorder.Mark(side.Get(), 1)));
        EXPECT_TRUE(IsOk(aclrtValueWrite(word.Get(), 7, 0, side.Get())));
        Order(side, stream);
    });
    EXPECT_EQ(word.Download<uint64_t>(), std::vector<uint64_t>{0});
    std::vector<int> expected;
    for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE(IsOk(Replay(model, stream)));
        expected.insert(expected.end(), {1, 2});
    }
    EXPECT_EQ(recorder.Values(), expected);
    EXPECT_EQ(word.Download<uint64_t>(), std::vector<uint64_t>{7});
}

}  // namespace
}  // namespace conformance
