// SPDX-License-Identifier: Apache-2.0
// What is said of a capture and its model before the end, and what ends a capture besides its end.
#include <gtest/gtest.h>

#include "conformance/capture_fixture.h"

namespace conformance {
namespace {

TEST_F(CaptureTest, InfoOfAStreamNotCaptured) {
    const Stream stream = MakeStream();
    int place = 0;
    aclmdlRICaptureStatus status = kActive;
    aclmdlRI model = &place;
    EXPECT_TRUE(IsOk(aclmdlRICaptureGetInfo(stream.Get(), &status, &model)));
    EXPECT_EQ(status, kNone);
    EXPECT_EQ(model, nullptr);
}

TEST_F(CaptureTest, InfoNamesTheModelThatEndReturns) {
    const Stream stream = MakeStream();
    Begin(stream.Get());
    aclmdlRICaptureStatus status = kNone;
    aclmdlRI model = nullptr;
    EXPECT_TRUE(IsOk(aclmdlRICaptureGetInfo(stream.Get(), &status, &model)));
    EXPECT_EQ(status, kActive);
    const Model ended = End(stream.Get());
    EXPECT_EQ(model, ended.Get());
    EXPECT_EQ(StatusOf(stream.Get()), kNone);
}

TEST_F(CaptureTest, InfoTakesOneOutput) {
    const Stream stream = MakeStream();
    Begin(stream.Get());
    aclmdlRI model = nullptr;
    EXPECT_TRUE(IsOk(aclmdlRICaptureGetInfo(stream.Get(), nullptr, &model)));
    EXPECT_NE(model, nullptr);
    EXPECT_EQ(StatusOf(stream.Get()), kActive) << "with the other output null";
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                        aclmdlRICaptureGetInfo(stream.Get(), nullptr, nullptr),
                        {"aclmdlRICaptureGetInfo: "}));
    End(stream.Get());
}

TEST_F(CaptureTest, InfoOnAnyThread) {
    const Stream stream = MakeStream();
    Begin(stream.Get(), kThreadLocal);
    OnAnotherThread([&] { EXPECT_EQ(StatusOf(stream.Get()), kActive); });
    End(stream.Get());
}

TEST_F(CaptureTest, TheModelIsOfNoUseBeforeTheEnd) {
    const Stream other = MakeStream();
    const OneMark capture;
    aclmdlRI model = nullptr;
    ASSERT_TRUE(IsOk(aclmdlRICaptureGetInfo(capture.stream.Get(), nullptr, &model)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_MODEL_CAPTURED, aclmdlRIExecuteAsync(model, other.Get()),
                        {"aclmdlRIExecuteAsync: "}));
    EXPECT_TRUE(
        IsError(ACL_ERROR_RT_MODEL_CAPTURED, aclmdlRIExecute(model, -1), {"aclmdlRIExecute: "}));
    EXPECT_TRUE(
        IsError(ACL_ERROR_RT_MODEL_CAPTURED, aclmdlRIDestroy(model), {"aclmdlRIDestroy: "}));
    capture.ExpectUnharmed();
}

// The end of what a capture belongs to is the end of the capture.
TEST_F(CaptureTest, GoesWithTheRuntime) {
    Stream stream = MakeStream();
    const Recorder recorder;
    Begin(stream.Get());
    ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 1)));
    const aclrtStream handle = stream.Release();
    aclmdlRI model = nullptr;
    ASSERT_TRUE(IsOk(aclmdlRICaptureGetInfo(handle, nullptr, &model)));
    EXPECT_TRUE(IsOk(aclFinalize()));
    ASSERT_NO_FATAL_FAILURE(Restart({}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, TryEnd(handle)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRIDestroy(model)));
    const Stream fresh = MakeStream();
    EXPECT_EQ(StatusOf(fresh.Get()), kNone);
    EXPECT_EQ(recorder.Values(), std::vector<int>{});
    const DeviceBuffer device(std::vector<char>(16, 'd'));
    EXPECT_EQ(device.Download<char>(), std::vector<char>(16, 'd')) << "no capture forbids copies";
}

TEST_F(CaptureTest, GoesWithItsContext) {
    const aclrtContext primary = support::CurrentContext();
    aclrtContext context = nullptr;
    ASSERT_TRUE(IsOk(aclrtCreateContext(&context, 0)));
    Stream stream = MakeStream();
    Begin(stream.Get());
    aclmdlRI model = nullptr;
    ASSERT_TRUE(IsOk(aclmdlRICaptureGetInfo(stream.Get(), nullptr, &model)));
    EXPECT_TRUE(IsOk(aclrtDestroyContext(context)));
    const aclrtStream handle = stream.Release();
    ASSERT_TRUE(IsOk(aclrtSetCurrentContext(primary)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, TryEnd(handle)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRIDestroy(model)));
    const DeviceBuffer device(std::vector<char>(16, 'd'));
    EXPECT_EQ(device.Download<char>(), std::vector<char>(16, 'd')) << "no capture forbids copies";
    EXPECT_TRUE(IsOk(aclrtSynchronizeDevice()));
}

}  // namespace
}  // namespace conformance
