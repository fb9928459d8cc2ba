// SPDX-License-Identifier: Apache-2.0
// Events: how each kind is made, what it answers, and time between two.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "acl/acl.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "support/table.h"

namespace {

using support::Event;
using support::HostGate;
using support::IsError;
using support::IsOk;
using support::MakeStream;
using support::Stream;

enum class Maker { kPlain, kWithFlag, kExWithFlag };

aclError Create(Maker maker, uint32_t flag, aclrtEvent* event) {
    switch (maker) {
        case Maker::kPlain:
            return aclrtCreateEvent(event);
        case Maker::kWithFlag:
            return aclrtCreateEventWithFlag(event, flag);
        default:
            return aclrtCreateEventExWithFlag(event, flag);
    }
}

aclrtEventRecordedStatus RecordedStatus(const Event& event) {
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    EXPECT_TRUE(IsOk(aclrtQueryEventStatus(event.Get(), &status)));
    return status;
}

class FlagTest : public support::DeviceTest, public testing::WithParamInterface<Maker> {};

TEST_P(FlagTest, TakesSyncProgressAndTimeLine) {
    for (uint32_t flag = 1; flag < 16; ++flag) {
        if ((flag & 4U) != 0) {
            continue;
        }
        aclrtEvent event = nullptr;
        ASSERT_TRUE(IsOk(Create(GetParam(), flag, &event))) << flag;
        EXPECT_TRUE(IsOk(aclrtDestroyEvent(event)));
    }
}

TEST_P(FlagTest, RefusesZeroAndUnknownBits) {
    for (const uint32_t flag :
         {0U, 4U, ACL_EVENT_SYNC | 4U, 0x80U, 0x80000000U, ACL_EVENT_SYNC | ACL_EVENT_EXTERNAL}) {
        aclrtEvent event = nullptr;
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, Create(GetParam(), flag, &event),
                            {"WithFlag: ", "flag"}))
            << flag;
        EXPECT_EQ(event, nullptr);
    }
}

TEST_P(FlagTest, RefusesWhatThisDeviceCannotDo) {
    for (const uint32_t flag :
         {ACL_EVENT_DEVICE_USE_ONLY, ACL_EVENT_SYNC | ACL_EVENT_DEVICE_USE_ONLY}) {
        aclrtEvent event = nullptr;
        EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, Create(GetParam(), flag, &event),
                            {"WithFlag: ", "flag"}))
            << flag;
        EXPECT_EQ(event, nullptr);
    }
}

INSTANTIATE_TEST_SUITE_P(WithFlag, FlagTest, testing::Values(Maker::kWithFlag));
INSTANTIATE_TEST_SUITE_P(ExWithFlag, FlagTest, testing::Values(Maker::kExWithFlag));

// What an event of each kind answers.
struct KindCase {
    const char* name;
    Maker maker;
    uint32_t flag;
    bool timing;
    int wait;            // code of aclrtStreamWaitEvent once recorded
    int waitUnrecorded;  // and before
    int reset;           // code of aclrtResetEvent
    int query;           // code of aclrtQueryEvent
};

constexpr uint32_t kSync = ACL_EVENT_SYNC;
constexpr uint32_t kTime = ACL_EVENT_TIME_LINE;
constexpr uint32_t kProgress = ACL_EVENT_CAPTURE_STREAM_PROGRESS;
constexpr int kRefused = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
constexpr int kUnrecorded = ACL_ERROR_RT_PARAM_INVALID;

class KindTest : public support::DeviceTest, public testing::WithParamInterface<KindCase> {
 protected:
    static Event Make() {
        aclrtEvent event = nullptr;
        EXPECT_TRUE(IsOk(Create(GetParam().maker, GetParam().flag, &event)));
        return Event(event);
    }
    static bool IsEx() { return GetParam().maker == Maker::kExWithFlag; }
    static void ExpectCode(int code, int status) {
        if (code == ACL_SUCCESS) {
            EXPECT_TRUE(IsOk(status));
        } else {
            EXPECT_TRUE(IsError(code, status, {"event"}));
        }
    }
};

TEST_P(KindTest, StatusBeforeTheFirstRecord) {
    const Event event = Make();
    EXPECT_EQ(RecordedStatus(event),
              IsEx() ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY);
    EXPECT_TRUE(IsOk(aclrtSynchronizeEvent(event.Get())));
}

TEST_P(KindTest, StatusWhilePendingAndAfter) {
    const Event event = Make();
    const Stream stream = MakeStream();
    const HostGate gate(stream.Get());
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
    EXPECT_EQ(RecordedStatus(event), ACL_EVENT_RECORDED_STATUS_NOT_READY);
    gate.Open();
    EXPECT_TRUE(IsOk(aclrtSynchronizeEvent(event.Get())));
    EXPECT_EQ(RecordedStatus(event), ACL_EVENT_RECORDED_STATUS_COMPLETE);
}

TEST_P(KindTest, OldQuery) {
    const Event event = Make();
    const Stream stream = MakeStream();
    aclrtEventStatus status = ACL_EVENT_STATUS_RESERVED;
    ExpectCode(GetParam().query, aclrtQueryEvent(event.Get(), &status));
    if (GetParam().query != ACL_SUCCESS) {
        EXPECT_EQ(status, ACL_EVENT_STATUS_RESERVED);
        return;
    }
    EXPECT_EQ(status, ACL_EVENT_STATUS_NOT_READY);
    const HostGate gate(stream.Get());
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
    EXPECT_TRUE(IsOk(aclrtQueryEvent(event.Get(), &status)));
    EXPECT_EQ(status, ACL_EVENT_STATUS_NOT_READY);
    gate.Open();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_TRUE(IsOk(aclrtQueryEvent(event.Get(), &status)));
    EXPECT_EQ(status, ACL_EVENT_STATUS_COMPLETE);
}

TEST_P(KindTest, Wait) {
    const Event event = Make();
    const Stream stream = MakeStream();
    ExpectCode(GetParam().waitUnrecorded, aclrtStreamWaitEvent(stream.Get(), event.Get()));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get()))) << "the wait is none";
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), nullptr)));
    ExpectCode(GetParam().wait, aclrtStreamWaitEvent(stream.Get(), event.Get()));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
}

TEST_P(KindTest, Reset) {
    const Event event = Make();
    const Stream stream = MakeStream();
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
    ExpectCode(GetParam().reset, aclrtResetEvent(event.Get(), stream.Get()));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(RecordedStatus(event), GetParam().reset == ACL_SUCCESS
                                         ? ACL_EVENT_RECORDED_STATUS_NOT_READY
                                         : ACL_EVENT_RECORDED_STATUS_COMPLETE);
}

TEST_P(KindTest, ElapsedTime) {
    const Event start = Make();
    const Event end = Make();
    const Stream stream = MakeStream();
    float ms = 77;
    ASSERT_TRUE(IsOk(aclrtRecordEvent(start.Get(), stream.Get())));
    ASSERT_TRUE(IsOk(aclrtRecordEvent(end.Get(), stream.Get())));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    ExpectCode(GetParam().timing ? ACL_SUCCESS : ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
               aclrtEventElapsedTime(&ms, start.Get(), end.Get()));
    if (GetParam().timing) {
        EXPECT_GE(ms, 0);
        EXPECT_LT(ms, 30000);
    } else {
        EXPECT_EQ(ms, 77);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Table, KindTest,
    testing::Values(
        // name, maker, flag, timing, wait, unrecorded, reset, query
        KindCase{"Plain", Maker::kPlain, 0, true, 0, kUnrecorded, 0, 0},
        KindCase{"Sync", Maker::kWithFlag, kSync, false, 0, kUnrecorded, 0, 0},
        KindCase{"Both", Maker::kWithFlag, kSync | kTime, true, 0, kUnrecorded, 0, 0},
        KindCase{"TimeOnly", Maker::kWithFlag, kTime, true, kRefused, kRefused, kRefused, 0},
        KindCase{"Progress", Maker::kWithFlag, kProgress, false, kRefused, kRefused, kRefused, 0},
        KindCase{"ExSync", Maker::kExWithFlag, kSync, false, 0, 0, kRefused, kRefused},
        KindCase{"ExBoth", Maker::kExWithFlag, kSync | kTime, true, 0, 0, kRefused, kRefused},
        KindCase{"ExTime", Maker::kExWithFlag, kTime, true, 0, 0, kRefused, kRefused},
        KindCase{"ExProgress", Maker::kExWithFlag, kProgress, false, 0, 0, kRefused, kRefused}),
    support::CaseName());

class ElapsedTimeTest : public support::DeviceTest {};

TEST_F(ElapsedTimeTest, NeedsTwoRecords) {
    const Event recorded = support::MakeEvent();
    const Event unrecorded = support::MakeEvent();
    float ms = 77;
    ASSERT_TRUE(IsOk(aclrtRecordEvent(recorded.Get(), nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INTERNAL_ERROR,
                        aclrtEventElapsedTime(&ms, recorded.Get(), unrecorded.Get()),
                        {"aclrtEventElapsedTime: ", "endEvent"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INTERNAL_ERROR,
                        aclrtEventElapsedTime(&ms, unrecorded.Get(), recorded.Get()),
                        {"aclrtEventElapsedTime: ", "startEvent"}));
    EXPECT_EQ(ms, 77);
}

TEST_F(ElapsedTimeTest, NeedsBothComplete) {
    const Stream stream = MakeStream();
    const Event start = support::MakeEvent();
    const Event end = support::MakeEvent();
    float ms = 77;
    ASSERT_TRUE(IsOk(aclrtRecordEvent(start.Get(), nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    const HostGate gate(stream.Get());
    ASSERT_TRUE(IsOk(aclrtRecordEvent(end.Get(), stream.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
                        aclrtEventElapsedTime(&ms, start.Get(), end.Get()), {"endEvent"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
                        aclrtEventElapsedTime(&ms, end.Get(), start.Get()), {"startEvent"}));
    EXPECT_EQ(ms, 77);
}

TEST_F(ElapsedTimeTest, IsNegativeWhenTheEndCameFirst) {
    const Stream stream = MakeStream();
    const Event first = support::MakeEvent();
    const Event second = support::MakeEvent();
    const auto ran = std::make_shared<std::atomic<double>>(0);
    ASSERT_TRUE(IsOk(aclrtRecordEvent(first.Get(), stream.Get())));
    ASSERT_TRUE(IsOk(support::Enqueue(stream.Get(), [ran] {
        using Milliseconds = std::chrono::duration<double, std::milli>;
        const auto start = std::chrono::steady_clock::now();
        while (*ran < 5) {
            *ran = Milliseconds(std::chrono::steady_clock::now() - start).count();
        }
    })));
    ASSERT_TRUE(IsOk(aclrtRecordEvent(second.Get(), stream.Get())));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    float forward = 0, backward = 0, none = 77;
    ASSERT_TRUE(IsOk(aclrtEventElapsedTime(&forward, first.Get(), second.Get())));
    ASSERT_TRUE(IsOk(aclrtEventElapsedTime(&backward, second.Get(), first.Get())));
    ASSERT_TRUE(IsOk(aclrtEventElapsedTime(&none, first.Get(), first.Get())));
    EXPECT_GE(forward, *ran - 0.01);
    EXPECT_LT(forward, 30000);
    EXPECT_FLOAT_EQ(backward, -forward);
    EXPECT_EQ(none, 0);
}

}  // namespace
