// SPDX-License-Identifier: Apache-2.0
// Begin and end of a capture: every code, what is said of it before the end, and what else ends it.
#include <gtest/gtest.h>

#include "conformance/capture_fixture.h"

namespace conformance {
namespace {

TEST_F(CaptureTest, RecordsAndDoesNotRun) {
    const Stream stream = MakeStream();
    const Recorder recorder;
    Begin(stream.Get());
    ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 1)));
    ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 2)));
    const Model model = End(stream.Get());
    EXPECT_TRUE(IsOk(aclrtSynchronizeDevice()));
    EXPECT_EQ(recorder.Values(), std::vector<int>{});
    EXPECT_TRUE(IsOk(Replay(model, stream)));
    EXPECT_EQ(recorder.Values(), (std::vector<int>{1, 2}));
}

TEST_F(CaptureTest, EveryModeRecords) {
    for (const aclmdlRICaptureMode mode : {kGlobal, kThreadLocal, kRelaxed}) {
        SCOPED_TRACE(mode);
        OneMark(mode).ExpectUnharmed();
    }
}

TEST_F(CaptureTest, MayBeEmpty) {
    const Stream stream = MakeStream();
    Begin(stream.Get());
    const Model model = End(stream.Get());
    EXPECT_TRUE(IsOk(Replay(model, stream)));
    EXPECT_TRUE(IsOk(aclmdlRIExecute(model.Get(), -1)));
}

TEST_F(CaptureTest, WorkBeforeAndAfterIsNoPartOfIt) {
    const Stream stream = MakeStream();
    const Recorder recorder;
    {
        const HostGate gate(stream.Get());
        ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 1)));
        Begin(stream.Get());
        ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 2)));
    }
    EXPECT_TRUE(recorder.WaitFor(1)) << "work of before runs during the capture";
    const Model model = End(stream.Get());
    ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 3)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(recorder.Values(), (std::vector<int>{1, 3}));
    EXPECT_TRUE(IsOk(Replay(model, stream)));
    EXPECT_EQ(recorder.Values(), (std::vector<int>{1, 3, 2}));
}

TEST_F(CaptureTest, AStreamIsCapturedAgainAndAgain) {
    const Stream stream = MakeStream();
    const Recorder recorder;
    std::vector<Model> models;
    for (int i = 0; i < 10; ++i) {
        models.push_back(
            Capture(stream.Get(), [&] { EXPECT_TRUE(IsOk(recorder.Mark(stream.Get(), i))); }));
    }
    for (int i = 9; i >= 0; --i) {
        EXPECT_TRUE(IsOk(Replay(models[static_cast<size_t>(i)], stream)));
    }
    EXPECT_EQ(recorder.Values(), (std::vector<int>{9, 8, 7, 6, 5, 4, 3, 2, 1, 0}));
}

TEST_F(CaptureTest, TwoAtOnceAreTwoModels) {
    const Stream first = MakeStream();
    const Stream second = MakeStream();
    const Recorder recorder;
    Begin(first.Get());
    Begin(second.Get());
    ASSERT_TRUE(IsOk(recorder.Mark(second.Get(), 2)));
    ASSERT_TRUE(IsOk(recorder.Mark(first.Get(), 1)));
    const Model one = End(first.Get());
    EXPECT_EQ(StatusOf(second.Get()), kActive);
    const Model two = End(second.Get());
    EXPECT_TRUE(IsOk(Replay(one, first)));
    EXPECT_TRUE(IsOk(Replay(two, first)));
    EXPECT_EQ(recorder.Values(), (std::vector<int>{1, 2}));
}

TEST_F(CaptureTest, OtherStreamsGoOn) {
    const Stream stream = MakeStream();
    const Stream other = MakeStream();
    const Recorder recorder;
    Begin(stream.Get());
    ASSERT_TRUE(IsOk(recorder.Mark(other.Get(), 7)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(other.Get())));
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    EXPECT_TRUE(IsOk(aclrtStreamQuery(other.Get(), &status)));
    EXPECT_EQ(status, ACL_STREAM_STATUS_COMPLETE);
    EXPECT_EQ(recorder.Values(), std::vector<int>{7});
    End(stream.Get());
}

TEST_F(CaptureTest, WorkOfOtherThreadsIsRecordedToo) {
    for (const aclmdlRICaptureMode mode : {kGlobal, kThreadLocal, kRelaxed}) {
        SCOPED_TRACE(mode);
        const OneMark capture(mode);
        OnAnotherThread([&] { EXPECT_TRUE(IsOk(capture.recorder.Mark(capture.stream.Get(), 2))); });
        const Model model = End(capture.stream.Get());
        EXPECT_EQ(capture.recorder.Values(), std::vector<int>{});
        EXPECT_TRUE(IsOk(Replay(model, capture.stream)));
        EXPECT_EQ(capture.recorder.Values(), (std::vector<int>{1, 2}));
    }
}

TEST_F(CaptureTest, NullStreamIsRefused) {
    aclmdlRICaptureStatus status = kNone;
    aclmdlRI model = nullptr;
    aclrtTaskGrp group = nullptr;
    int place = 0;
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclmdlRICaptureBegin(nullptr, kGlobal),
                        {"aclmdlRICaptureBegin: ", "stream"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclmdlRICaptureEnd(nullptr, &model),
                        {"aclmdlRICaptureEnd: ", "stream"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclmdlRICaptureGetInfo(nullptr, &status, &model),
                        {"aclmdlRICaptureGetInfo: ", "stream"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclmdlRICaptureTaskGrpBegin(nullptr),
                        {"aclmdlRICaptureTaskGrpBegin: ", "stream"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclmdlRICaptureTaskGrpEnd(nullptr, &group),
                        {"aclmdlRICaptureTaskGrpEnd: ", "stream"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclmdlRICaptureTaskUpdateBegin(nullptr, &place),
                        {"aclmdlRICaptureTaskUpdateBegin: ", "stream"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclmdlRICaptureTaskUpdateEnd(nullptr),
                        {"aclmdlRICaptureTaskUpdateEnd: ", "stream"}));
    EXPECT_EQ(model, nullptr);
    EXPECT_EQ(group, nullptr);
}

TEST_F(CaptureTest, BeginRefusesABadMode) {
    const Stream stream = MakeStream();
    for (const int mode : {-1, 3, 1 << 20}) {
        EXPECT_TRUE(
            IsError(ACL_ERROR_RT_PARAM_INVALID,
                    aclmdlRICaptureBegin(stream.Get(), static_cast<aclmdlRICaptureMode>(mode)),
                    {"aclmdlRICaptureBegin: ", "mode"}, {mode}));
    }
    EXPECT_EQ(StatusOf(stream.Get()), kNone);
}

TEST_F(CaptureTest, BeginRefusesTheDefaultStream) {
    aclrtStream stream = nullptr;
    ASSERT_TRUE(IsOk(aclrtCtxGetCurrentDefaultStream(&stream)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclmdlRICaptureBegin(stream, kGlobal),
                        {"aclmdlRICaptureBegin: ", "default"}));
    EXPECT_EQ(StatusOf(stream), kNone);
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream)));
}

TEST_F(CaptureTest, BeginRefusesAStreamBeingCaptured) {
    const OneMark capture;
    for (const aclmdlRICaptureMode mode : {kGlobal, kThreadLocal, kRelaxed}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_CAPTURED,
                            aclmdlRICaptureBegin(capture.stream.Get(), mode),
                            {"aclmdlRICaptureBegin: "}));
    }
    OnAnotherThread([&] {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_CAPTURED,
                            aclmdlRICaptureBegin(capture.stream.Get(), kRelaxed)));
    });
    capture.ExpectUnharmed();
}

TEST_F(CaptureTest, EndRefusesAStreamNotCaptured) {
    const Stream stream = MakeStream();
    EXPECT_TRUE(
        IsError(ACL_ERROR_RT_STREAM_NOT_CAPTURED, TryEnd(stream.Get()), {"aclmdlRICaptureEnd: "}));
    Begin(stream.Get());
    End(stream.Get());
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_NOT_CAPTURED, TryEnd(stream.Get())));
}

TEST_F(CaptureTest, EndRefusesANullModel) {
    const OneMark capture;
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclmdlRICaptureEnd(capture.stream.Get(), nullptr),
                        {"modelRI"}));
    capture.ExpectUnharmed();
}

TEST_F(CaptureTest, EndRefusesAnotherThreadUnlessRelaxed) {
    for (const aclmdlRICaptureMode mode : {kGlobal, kThreadLocal}) {
        SCOPED_TRACE(mode);
        const OneMark capture(mode);
        OnAnotherThread([&] {
            EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD,
                                TryEnd(capture.stream.Get()), {"aclmdlRICaptureEnd: "}));
        });
        capture.ExpectUnharmed();
    }
}

TEST_F(CaptureTest, RelaxedEndsOnAnyThread) {
    const OneMark capture(kRelaxed);
    OnAnotherThread([&] { capture.ExpectUnharmed(); });
}

// What the thread may do during captures does not change who may end one.
TEST_F(CaptureTest, ThreadModeDoesNotLetOthersEnd) {
    const OneMark capture;
    OnAnotherThread([&] {
        aclmdlRICaptureMode mode = kRelaxed;
        ASSERT_TRUE(IsOk(aclmdlRICaptureThreadExchangeMode(&mode)));
        EXPECT_TRUE(
            IsError(ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD, TryEnd(capture.stream.Get())));
    });
    capture.ExpectUnharmed();
}

// What is said of a capture and its model before the end, and what ends a capture besides its end.

TEST_F(CaptureTest, InfoOfAStreamNotCaptured) {
    const Stream stream = MakeStream();
    ExpectNoModel(stream, kNone);
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
