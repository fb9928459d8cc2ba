// SPDX-License-Identifier: Apache-2.0
// What may not be done during a capture, and that it goes on after a refused call.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "conformance/capture_fixture.h"
#include "support/table.h"

namespace conformance {
namespace {

// A capture with one mark, and what a refused call may name.
struct Scene {
    Stream stream = MakeStream();
    Event captured = MakeCaptureEvent();                                // recorded in the capture
    Event timed = support::MakeEventExWithFlag(ACL_EVENT_TIME_LINE);    // so was this
    Event outside = support::MakeEventExWithFlag(ACL_EVENT_TIME_LINE);  // recorded, not in it
    Event plain = support::MakeEvent();                                 // recorded, not in it
    Event unrecorded = support::MakeEvent();
    Event resettable = support::MakeEventWithFlag(ACL_EVENT_SYNC);  // recorded, not in it
    Stream other = MakeStream();
    Model ready = Capture(other.Get(), [] {});
    Recorder recorder;
    float ms = -7;
    aclrtStreamStatus streamStatus = ACL_STREAM_STATUS_RESERVED;
    aclrtEventRecordedStatus recordedStatus = ACL_EVENT_RECORDED_STATUS_COMPLETE;

    Scene() {
        for (const Event* event : {&outside, &plain, &resettable}) {
            EXPECT_TRUE(IsOk(aclrtRecordEvent(event->Get(), other.Get())));
        }
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(other.Get())));
        Begin(stream.Get());
        EXPECT_TRUE(IsOk(recorder.Mark(stream.Get(), 1)));
        EXPECT_TRUE(IsOk(aclrtRecordEvent(captured.Get(), stream.Get())));
        EXPECT_TRUE(IsOk(aclrtRecordEvent(timed.Get(), stream.Get())));
    }
    ~Scene() { aclmdlRICaptureEnd(stream.Get(), &leftOver); }
    bool OutputsAreUntouched() const {
        return ms == -7 && streamStatus == ACL_STREAM_STATUS_RESERVED &&
               recordedStatus == ACL_EVENT_RECORDED_STATUS_COMPLETE;
    }
    aclmdlRI leftOver = nullptr;
};

struct RuleCase {
    std::string name;
    int code;
    std::string function;
    std::function<aclError(Scene&)> call;
};

class CaptureRuleTest : public CaptureTest, public testing::WithParamInterface<RuleCase> {};

TEST_P(CaptureRuleTest, IsRefusedAndTheCaptureGoesOn) {
    Scene scene;
    EXPECT_TRUE(IsError(GetParam().code, GetParam().call(scene), {GetParam().function + ": "}));
    EXPECT_TRUE(scene.OutputsAreUntouched());
    ASSERT_EQ(StatusOf(scene.stream.Get()), kActive);
    ASSERT_TRUE(IsOk(scene.recorder.Mark(scene.stream.Get(), 2)));
    const Model model = End(scene.stream.Get());
    EXPECT_EQ(scene.recorder.Values(), std::vector<int>{});
    EXPECT_TRUE(IsOk(Replay(model, scene.stream)));
    EXPECT_EQ(scene.recorder.Values(), (std::vector<int>{1, 2}));
    EXPECT_TRUE(IsOk(aclrtSynchronizeDevice()));
}

constexpr int kStreamCaptured = ACL_ERROR_RT_STREAM_CAPTURED;
constexpr int kEventCaptured = ACL_ERROR_RT_EVENT_CAPTURED;
constexpr int kNoFeature = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;

#define ADVSTEP_RULE(name, code, function, ...)                                           \
    RuleCase {                                                                            \
        name, code, #function, [](Scene& s) -> aclError { return function(__VA_ARGS__); } \
    }

INSTANTIATE_TEST_SUITE_P(
    Stream, CaptureRuleTest,
    testing::Values(
        ADVSTEP_RULE("Synchronize", kStreamCaptured, aclrtSynchronizeStream, s.stream.Get()),
        ADVSTEP_RULE("SynchronizeWithTimeout", kStreamCaptured, aclrtSynchronizeStreamWithTimeout,
                     s.stream.Get(), -1),
        ADVSTEP_RULE("Query", kStreamCaptured, aclrtStreamQuery, s.stream.Get(), &s.streamStatus),
        ADVSTEP_RULE("Abort", kStreamCaptured, aclrtStreamAbort, s.stream.Get()),
        ADVSTEP_RULE("Destroy", kStreamCaptured, aclrtDestroyStream, s.stream.Get()),
        ADVSTEP_RULE("DestroyForce", kStreamCaptured, aclrtDestroyStreamForce, s.stream.Get()),
        ADVSTEP_RULE("Replay", kStreamCaptured, aclmdlRIExecuteAsync, s.ready.Get(),
                     s.stream.Get()),
        RuleCase{"SynchronizeDevice", kStreamCaptured, "aclrtSynchronizeDevice",
                 [](Scene&) { return aclrtSynchronizeDevice(); }},
        RuleCase{"SynchronizeDeviceWithTimeout", kStreamCaptured,
                 "aclrtSynchronizeDeviceWithTimeout",
                 [](Scene&) { return aclrtSynchronizeDeviceWithTimeout(-1); }}),
    support::CaseName());

INSTANTIATE_TEST_SUITE_P(
    RecordedEvent, CaptureRuleTest,
    testing::Values(ADVSTEP_RULE("Synchronize", kEventCaptured, aclrtSynchronizeEvent,
                                 s.captured.Get()),
                    ADVSTEP_RULE("SynchronizeWithTimeout", kEventCaptured,
                                 aclrtSynchronizeEventWithTimeout, s.captured.Get(), -1),
                    ADVSTEP_RULE("Query", kEventCaptured, aclrtQueryEventStatus, s.captured.Get(),
                                 &s.recordedStatus),
                    ADVSTEP_RULE("MeasureFrom", kEventCaptured, aclrtEventElapsedTime, &s.ms,
                                 s.timed.Get(), s.outside.Get()),
                    ADVSTEP_RULE("MeasureTo", kEventCaptured, aclrtEventElapsedTime, &s.ms,
                                 s.outside.Get(), s.timed.Get())),
    support::CaseName());

INSTANTIATE_TEST_SUITE_P(
    WrongEvent, CaptureRuleTest,
    testing::Values(
        ADVSTEP_RULE("Record", kNoFeature, aclrtRecordEvent, s.plain.Get(), s.stream.Get()),
        ADVSTEP_RULE("RecordWithFlag", kNoFeature, aclrtRecordEvent, s.resettable.Get(),
                     s.stream.Get()),
        ADVSTEP_RULE("Wait", kNoFeature, aclrtStreamWaitEvent, s.stream.Get(), s.plain.Get()),
        ADVSTEP_RULE("WaitWithFlag", kNoFeature, aclrtStreamWaitEvent, s.stream.Get(),
                     s.resettable.Get()),
        ADVSTEP_RULE("WaitWithTimeout", kNoFeature, aclrtStreamWaitEventWithTimeout, s.stream.Get(),
                     s.plain.Get(), 1),
        ADVSTEP_RULE("Reset", kNoFeature, aclrtResetEvent, s.resettable.Get(), s.stream.Get()),
        ADVSTEP_RULE("ResetCaptured", kNoFeature, aclrtResetEvent, s.captured.Get(),
                     s.stream.Get())),
    support::CaseName());

INSTANTIATE_TEST_SUITE_P(
    Dependency, CaptureRuleTest,
    testing::Values(ADVSTEP_RULE("Wait", ACL_ERROR_RT_CAPTURE_DEPENDENCY, aclrtStreamWaitEvent,
                                 s.stream.Get(), s.outside.Get()),
                    ADVSTEP_RULE("WaitWithTimeout", ACL_ERROR_RT_CAPTURE_DEPENDENCY,
                                 aclrtStreamWaitEventWithTimeout, s.stream.Get(), s.outside.Get(),
                                 1),
                    ADVSTEP_RULE("DefaultStream", ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT,
                                 aclrtStreamWaitEvent, nullptr, s.captured.Get()),
                    ADVSTEP_RULE("DefaultStreamWithTimeout", ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT,
                                 aclrtStreamWaitEventWithTimeout, nullptr, s.captured.Get(), 1)),
    support::CaseName());

class CaptureRulesTest : public CaptureTest {};

TEST_F(CaptureRulesTest, AnUnrecordedEventIsNoWait) {
    const Stream stream = MakeStream();
    const Event event = MakeCaptureEvent();
    const Recorder recorder;
    const Model model = Capture(stream.Get(), [&] {
        EXPECT_TRUE(IsOk(aclrtStreamWaitEvent(stream.Get(), event.Get())));
        EXPECT_TRUE(IsOk(recorder.Mark(stream.Get(), 1)));
    });
    EXPECT_TRUE(IsOk(Replay(model, stream)));
    EXPECT_EQ(recorder.Values(), std::vector<int>{1});
}

// An event of another capture is an event recorded outside this one.
TEST_F(CaptureRulesTest, CapturesDoNotMix) {
    const Stream first = MakeStream();
    const Stream second = MakeStream();
    const Event event = MakeCaptureEvent();
    Begin(first.Get());
    Begin(second.Get());
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), first.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_CAPTURE_DEPENDENCY,
                        aclrtStreamWaitEvent(second.Get(), event.Get()),
                        {"aclrtStreamWaitEvent: "}));
    EXPECT_EQ(StatusOf(first.Get()), kActive);
    EXPECT_EQ(StatusOf(second.Get()), kActive);
    End(second.Get());
    End(first.Get());
}

TEST_F(CaptureRulesTest, AStreamOfTheCaptureFollowsItsRules) {
    const Stream stream = MakeStream();
    const Stream side = MakeStream();
    Begin(stream.Get());
    Order(stream, side);
    aclmdlRICaptureStatus status = kNone;
    aclmdlRI mine = nullptr;
    aclmdlRI joined = nullptr;
    EXPECT_TRUE(IsOk(aclmdlRICaptureGetInfo(stream.Get(), nullptr, &mine)));
    EXPECT_TRUE(IsOk(aclmdlRICaptureGetInfo(side.Get(), &status, &joined)));
    EXPECT_EQ(status, kActive);
    EXPECT_EQ(mine, joined);
    EXPECT_TRUE(IsError(kStreamCaptured, aclrtSynchronizeStream(side.Get())));
    EXPECT_TRUE(IsError(kStreamCaptured, aclrtStreamAbort(side.Get())));
    EXPECT_TRUE(IsError(kStreamCaptured, aclrtDestroyStream(side.Get())));
    EXPECT_TRUE(IsError(kStreamCaptured, aclrtDestroyStreamForce(side.Get())));
    EXPECT_TRUE(IsError(kStreamCaptured, aclmdlRICaptureBegin(side.Get(), kGlobal)));
    aclmdlRI model = nullptr;
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED,
                        aclmdlRICaptureEnd(side.Get(), &model), {"aclmdlRICaptureEnd: "}));
    EXPECT_EQ(model, nullptr);
    Order(side, stream);
    End(stream.Get());
    EXPECT_EQ(StatusOf(side.Get()), kNone);
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(side.Get())));
}

// The event of a capture is an ordinary one again when it is recorded elsewhere.
TEST_F(CaptureRulesTest, AnEventLeavesTheCaptureByARecord) {
    const Stream stream = MakeStream();
    const Stream other = MakeStream();
    const Event event = MakeCaptureEvent();
    Begin(stream.Get());
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), other.Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeEvent(event.Get())));
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    EXPECT_TRUE(IsOk(aclrtQueryEventStatus(event.Get(), &status)));
    EXPECT_EQ(status, ACL_EVENT_RECORDED_STATUS_COMPLETE);
    EXPECT_TRUE(
        IsError(ACL_ERROR_RT_CAPTURE_DEPENDENCY, aclrtStreamWaitEvent(stream.Get(), event.Get())));
    End(stream.Get());
}

TEST_F(CaptureRulesTest, AnEventOfAnEndedCaptureCanBeRecordedAgain) {
    const Stream stream = MakeStream();
    const Event event = MakeCaptureEvent();
    Begin(stream.Get());
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
    End(stream.Get());
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeEvent(event.Get())));
}

}  // namespace
}  // namespace conformance
