// SPDX-License-Identifier: Apache-2.0
// Copies and fills during captures: recorded, or refused by mode and thread.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "conformance/capture_fixture.h"

namespace conformance {
namespace {

constexpr size_t kBytes = 64;

// Who is forbidden what: the mode of the capture, whether the caller began it, the caller's mode.
struct ModeCase {
    aclmdlRICaptureMode capture;
    bool sameThread;
    aclmdlRICaptureMode thread;
};

bool IsForbidden(const ModeCase& row) {
    if (row.capture == kRelaxed || row.thread == kRelaxed) {
        return false;
    }
    return row.sameThread || (row.capture == kGlobal && row.thread == kGlobal);
}

std::vector<ModeCase> ModeCases() {
    std::vector<ModeCase> rows;
    for (const auto capture : {kGlobal, kThreadLocal, kRelaxed}) {
        for (const bool sameThread : {true, false}) {
            for (const auto thread : {kGlobal, kThreadLocal, kRelaxed}) {
                rows.push_back({capture, sameThread, thread});
            }
        }
    }
    return rows;
}

std::string ModeCaseName(const testing::TestParamInfo<ModeCase>& row) {
    static const char* const names[] = {"Global", "ThreadLocal", "Relaxed"};
    return std::string(names[row.param.capture]) + (row.param.sameThread ? "Own" : "Other") +
           "Thread" + names[row.param.thread];
}

class UnsafeCopyTest : public CaptureTest, public testing::WithParamInterface<ModeCase> {
 protected:
    // Makes call during the capture, in the row's thread with the row's mode.
    template <class Call>
    void DuringTheCapture(Call call) {
        const Stream stream = MakeStream();
        const auto withMode = [&] {
            aclmdlRICaptureMode mode = GetParam().thread;
            EXPECT_TRUE(IsOk(aclmdlRICaptureThreadExchangeMode(&mode)));
            call();
            EXPECT_TRUE(IsOk(aclmdlRICaptureThreadExchangeMode(&mode)));
        };
        Begin(stream.Get(), GetParam().capture);
        if (GetParam().sameThread) {
            withMode();
        } else {
            OnAnotherThread(withMode);
        }
        EXPECT_EQ(StatusOf(stream.Get()), kActive);
        End(stream.Get());
    }
    static void Expect(int code, int status, const char* function) {
        if (IsForbidden(GetParam())) {
            EXPECT_TRUE(IsError(code, status, {function}));
        } else {
            EXPECT_TRUE(IsOk(status)) << function;
        }
    }
    // The device's bytes are new ones if the call was to be made, else the old ones.
    void ExpectDevice(char whenMade) const {
        EXPECT_EQ(device_.Download<char>(),
                  std::vector<char>(kBytes, IsForbidden(GetParam()) ? 'd' : whenMade));
    }
    void SetUp() override {
        ASSERT_NO_FATAL_FAILURE(CaptureTest::SetUp());
        device_ = DeviceBuffer(std::vector<char>(kBytes, 'd'));
    }
    void TearDown() override { device_ = DeviceBuffer(); }

    DeviceBuffer device_;
    std::vector<char> host_ = std::vector<char>(kBytes, 'h');
};

TEST_P(UnsafeCopyTest, SynchronousCopy) {
    DuringTheCapture([&] {
        Expect(ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT,
               aclrtMemcpy(device_.Get(), kBytes, host_.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE),
               "aclrtMemcpy: ");
    });
    ExpectDevice('h');
}

TEST_P(UnsafeCopyTest, SynchronousCopyOfPinnedMemory) {
    const PinnedArray<char> pinned(kBytes, 'p');
    DuringTheCapture([&] {
        Expect(ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT,
               aclrtMemcpy(device_.Get(), kBytes, pinned.Get(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE),
               "aclrtMemcpy: ");
    });
    ExpectDevice('p');
}

TEST_P(UnsafeCopyTest, SynchronousFill) {
    DuringTheCapture([&] {
        Expect(ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT,
               aclrtMemset(device_.Get(), kBytes, 'f', kBytes), "aclrtMemset: ");
    });
    ExpectDevice('f');
}

TEST_P(UnsafeCopyTest, PageableCopyOnAnotherStream) {
    const Stream other = MakeStream();
    DuringTheCapture([&] {
        Expect(ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC,
               aclrtMemcpyAsync(device_.Get(), kBytes, host_.data(), kBytes,
                                ACL_MEMCPY_HOST_TO_DEVICE, other.Get()),
               "aclrtMemcpyAsync: ");
    });
    ExpectDevice('h');
}

TEST_P(UnsafeCopyTest, PageableCopyFromTheDeviceOnTheDefaultStream) {
    DuringTheCapture([&] {
        Expect(ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC,
               aclrtMemcpyAsync(host_.data(), kBytes, device_.Get(), kBytes,
                                ACL_MEMCPY_DEVICE_TO_HOST, nullptr),
               "aclrtMemcpyAsync: ");
    });
    EXPECT_EQ(host_, std::vector<char>(kBytes, IsForbidden(GetParam()) ? 'h' : 'd'));
}

// Pinned memory and fills are asynchronous, and forbidden to nobody.
TEST_P(UnsafeCopyTest, AsynchronousWorkOnAnotherStreamIsSafe) {
    const Stream other = MakeStream();
    const PinnedArray<char> pinned(kBytes, 'p');
    DuringTheCapture([&] {
        EXPECT_TRUE(IsOk(aclrtMemsetAsync(device_.Get(), kBytes, 'f', kBytes, other.Get())));
        EXPECT_TRUE(IsOk(aclrtMemcpyAsync(pinned.Get(), kBytes, device_.Get(), kBytes,
                                          ACL_MEMCPY_DEVICE_TO_HOST, other.Get())));
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(other.Get())));
        EXPECT_EQ(pinned.Values(), std::vector<char>(kBytes, 'f'));
    });
}

INSTANTIATE_TEST_SUITE_P(Modes, UnsafeCopyTest, testing::ValuesIn(ModeCases()), ModeCaseName);

class CapturedCopyTest : public CaptureTest {};

TEST_F(CapturedCopyTest, PageableMemoryIsRefusedInEveryMode) {
    const DeviceBuffer device(std::vector<char>(kBytes, 'd'));
    std::vector<char> host(kBytes, 'h');
    for (const auto mode : {kGlobal, kThreadLocal, kRelaxed}) {
        SCOPED_TRACE(mode);
        const Stream stream = MakeStream();
        Begin(stream.Get(), mode);
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                            aclrtMemcpyAsync(device.Get(), kBytes, host.data(), kBytes,
                                             ACL_MEMCPY_HOST_TO_DEVICE, stream.Get()),
                            {"aclrtMemcpyAsync: ", "src", "pageable"}));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                            aclrtMemcpyAsync(host.data(), kBytes, device.Get(), kBytes,
                                             ACL_MEMCPY_DEVICE_TO_HOST, stream.Get()),
                            {"aclrtMemcpyAsync: ", "dst", "pageable"}));
        EXPECT_EQ(StatusOf(stream.Get()), kActive);
        const Model model = End(stream.Get());
        EXPECT_TRUE(IsOk(Replay(model, stream)));
    }
    EXPECT_EQ(device.Download<char>(), std::vector<char>(kBytes, 'd'));
    EXPECT_EQ(host, std::vector<char>(kBytes, 'h'));
}

TEST_F(CapturedCopyTest, PinnedAndDeviceCopiesAndFillsReplay) {
    const Stream stream = MakeStream();
    const PinnedArray<char> in(kBytes, 'a');
    const PinnedArray<char> out(kBytes, '-');
    const DeviceBuffer first(std::vector<char>(kBytes, '1'));
    const DeviceBuffer second(std::vector<char>(kBytes, '2'));
    const Model model = Capture(stream.Get(), [&] {
        EXPECT_TRUE(IsOk(aclrtMemcpyAsync(first.Get(), kBytes, in.Get(), kBytes,
                                          ACL_MEMCPY_HOST_TO_DEVICE, stream.Get())));
        EXPECT_TRUE(IsOk(aclrtMemcpyAsync(second.Get(), kBytes, first.Get(), kBytes,
                                          ACL_MEMCPY_DEVICE_TO_DEVICE, stream.Get())));
        EXPECT_TRUE(IsOk(aclrtMemsetAsync(second.Get(), kBytes, 'f', kBytes / 2, stream.Get())));
        EXPECT_TRUE(IsOk(aclrtMemcpyAsync(out.Get(), kBytes, second.Get(), kBytes,
                                          ACL_MEMCPY_DEVICE_TO_HOST, stream.Get())));
    });
    EXPECT_EQ(out.Values(), std::vector<char>(kBytes, '-'));
    EXPECT_EQ(first.Download<char>(), std::vector<char>(kBytes, '1'));
    for (const char value : {'a', 'b', 'c'}) {  // the addresses are captured, not the contents
        in.Fill(value);
        ASSERT_TRUE(IsOk(Replay(model, stream)));
        std::vector<char> expected(kBytes, value);
        std::fill(expected.begin(), expected.begin() + kBytes / 2, 'f');
        EXPECT_EQ(out.Values(), expected);
        EXPECT_EQ(first.Download<char>(), std::vector<char>(kBytes, value));
    }
}

// Neither side has a byte more than its rows, so a replay may ask for no more memory than that.
TEST_F(CapturedCopyTest, RowsOfDifferentPitchesReplay) {
    constexpr size_t kWidth = 8, kRows = 5;
    for (const auto& [spitch, dpitch] :
         {std::pair<size_t, size_t>{8, 24}, {24, 8}, {9, 16}, {16, 9}}) {
        SCOPED_TRACE(testing::Message() << "spitch " << spitch << ", dpitch " << dpitch);
        const Stream stream = MakeStream();
        const size_t from = spitch * (kRows - 1) + kWidth, to = dpitch * (kRows - 1) + kWidth;
        const DeviceBuffer source(std::vector<char>(from, 's'));
        const DeviceBuffer target(std::vector<char>(to, '-'));
        const Model model = Capture(stream.Get(), [&, spitch = spitch, dpitch = dpitch] {
            EXPECT_TRUE(IsOk(aclrtMemcpy2dAsync(target.Get(), dpitch, source.Get(), spitch, kWidth,
                                                kRows, ACL_MEMCPY_DEVICE_TO_DEVICE, stream.Get())));
        });
        ASSERT_TRUE(IsOk(Replay(model, stream)));
        std::vector<char> expected(to, '-');
        for (size_t row = 0; row < kRows; ++row) {
            std::fill_n(expected.begin() + static_cast<ptrdiff_t>(row * dpitch), kWidth, 's');
        }
        EXPECT_EQ(target.Download<char>(), expected);
    }
}

// A refused copy has no effect on later replays.
TEST_F(CapturedCopyTest, BadArgumentsAreRefusedAsElsewhere) {
    const Stream stream = MakeStream();
    const DeviceBuffer device(kBytes);
    const PinnedArray<char> pinned(kBytes, 'p');
    Begin(stream.Get());
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                        aclrtMemcpyAsync(device.Get(), kBytes, pinned.Get(), kBytes + 1,
                                         ACL_MEMCPY_HOST_TO_DEVICE, stream.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                        aclrtMemsetAsync(device.Get(), kBytes + 1, 0, kBytes + 1, stream.Get())));
    EXPECT_EQ(StatusOf(stream.Get()), kActive);
    const Model model = End(stream.Get());
    EXPECT_TRUE(IsOk(Replay(model, stream)));
}

// Only the captures of the thread's own context count.
TEST_F(CapturedCopyTest, ACaptureOfAnotherContextForbidsNothing) {
    const Stream stream = MakeStream();
    const DeviceBuffer device(kBytes);
    const std::vector<char> host(kBytes, 'h');
    const auto copy = [&] {
        return aclrtMemcpy(device.Get(), kBytes, host.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE);
    };
    aclrtContext own = nullptr;
    ASSERT_TRUE(IsOk(aclrtGetCurrentContext(&own)));
    Begin(stream.Get());
    EXPECT_TRUE(IsError(ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT, copy(),
                        {fmt::format("stream {}", stream.Get()), "this thread"}));
    std::thread([&] {
        aclrtContext other = nullptr;
        ASSERT_TRUE(IsOk(aclrtCreateContext(&other, 0)));
        EXPECT_TRUE(IsOk(copy()));
        ASSERT_TRUE(IsOk(aclrtSetCurrentContext(own)));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT, copy(),
                            {fmt::format("stream {}", stream.Get()), "by thread "}));
        EXPECT_TRUE(IsOk(aclrtDestroyContext(other)));
    }).join();
    aclrtContext second = nullptr;
    ASSERT_TRUE(IsOk(aclrtCreateContext(&second, 0)));
    EXPECT_TRUE(IsOk(copy())) << "also in the thread that captures elsewhere";
    EXPECT_TRUE(IsOk(aclrtDestroyContext(second)));
    ASSERT_TRUE(IsOk(aclrtSetCurrentContext(own)));
    End(stream.Get());
    EXPECT_TRUE(IsOk(copy()));
}

// What a capture forbids ends with it.
TEST_F(CapturedCopyTest, EverythingIsAllowedAfterTheEnd) {
    const Stream stream = MakeStream();
    const Stream second = MakeStream();
    const DeviceBuffer device(kBytes);
    Begin(stream.Get());
    Begin(second.Get());
    End(stream.Get());
    EXPECT_TRUE(IsError(ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT,
                        aclrtMemset(device.Get(), kBytes, 'x', kBytes)))
        << "the second capture is under way";
    End(second.Get());
    EXPECT_TRUE(IsOk(aclrtMemset(device.Get(), kBytes, 'x', kBytes)));
    EXPECT_EQ(device.Download<char>(), std::vector<char>(kBytes, 'x'));
}

}  // namespace
}  // namespace conformance
