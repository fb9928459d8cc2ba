// SPDX-License-Identifier: Apache-2.0
// Events of ACL_EVENT_EXTERNAL: set or not set, and tasks of a capture.
#include <gtest/gtest.h>

#include "conformance/task_group_fixture.h"
#include "support/advance_step_batch.h"

namespace conformance {
namespace {

Event MakeExternal() {
    aclrtEvent event = nullptr;
    EXPECT_TRUE(IsOk(aclrtCreateEventWithFlag(&event, ACL_EVENT_EXTERNAL)));
    return Event(event);
}
bool IsSet(const Event& event) {
    auto status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    EXPECT_TRUE(IsOk(aclrtQueryEventStatus(event.Get(), &status)));
    return status == ACL_EVENT_RECORDED_STATUS_COMPLETE;
}
void Wait(const Stream& stream, const Event& event) {
    EXPECT_TRUE(IsOk(aclrtStreamWaitEvent(stream.Get(), event.Get())));
}
void Record(const Stream& stream, const Event& event) {
    EXPECT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
}
void Reset(const Stream& stream, const Event& event) {
    EXPECT_TRUE(IsOk(aclrtResetEvent(event.Get(), stream.Get())));
}

class ExternalEventTest : public TaskGroupTest {};

// The scheme of torch_npu: each replay waits for its update.
TEST_F(ExternalEventTest, EachReplayWaitsForItsUpdate) {
    const Stream stream = MakeStream();
    const Stream updates = MakeStream();
    const Event updated = MakeExternal();
    AdvanceStepBatch a(GroupData(1)), b(GroupData(2));
    Begin(stream.Get());
    Wait(stream, updated);  // never recorded
    Reset(stream, updated);
    GroupBegin(stream);
    Launch(a, stream);
    const aclrtTaskGrp group = GroupEnd(stream);
    const Model model = End(stream.Get());
    for (int step = 0; step < 20; ++step) {
        SCOPED_TRACE(step);
        AdvanceStepBatch& now = step % 2 == 0 ? b : a;
        a.Upload();
        b.Upload();
        ASSERT_TRUE(IsOk(Queue(model, stream)));
        EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream.Get(), 1),
                  ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
        UpdateBegin(updates, group);
        Launch(now, updates);
        UpdateEnd(updates);
        Record(updates, updated);
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
        EXPECT_TRUE(now.Holds(support::Advanced(now.Data())));
        EXPECT_TRUE((step % 2 == 0 ? a : b).IsUntouched());
        EXPECT_FALSE(IsSet(updated)) << "the replay resets it";
    }
}

TEST_F(ExternalEventTest, IsSetAndResetInStreamOrder) {
    const Stream stream = MakeStream();
    const Event event = MakeExternal();
    EXPECT_FALSE(IsSet(event));
    {
        const HostGate gate(stream.Get());
        Record(stream, event);
        EXPECT_FALSE(IsSet(event));
    }
    EXPECT_TRUE(IsOk(aclrtSynchronizeEvent(event.Get())));
    EXPECT_TRUE(IsSet(event));
    {
        const HostGate gate(stream.Get());
        Reset(stream, event);
        EXPECT_TRUE(IsSet(event));
    }
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_FALSE(IsSet(event));
}

// A replay sets the event, and work outside waits for it.
TEST_F(ExternalEventTest, AReplayRecordsAndAStreamWaits) {
    const Stream stream = MakeStream();
    const Stream other = MakeStream();
    const Event event = MakeExternal();
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtStreamWaitEvent(other.Get(), event.Get()),
                        {"event", "not recorded"}));
    Begin(stream.Get());
    Mark(stream, 1);
    Record(stream, event);
    // The other stream does not join the capture.
    ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(other.Get(), event.Get())));
    EXPECT_EQ(StatusOf(other.Get()), ACL_MODEL_RI_CAPTURE_STATUS_NONE);
    const Model model = End(stream.Get());
    Mark(other, 2);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(other.Get(), 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    EXPECT_FALSE(IsSet(event));
    ASSERT_TRUE(IsOk(Queue(model, stream)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(other.Get())));
    EXPECT_EQ(recorder_.Values(), (std::vector<int>{1, 2}));
}

TEST_F(ExternalEventTest, AWaitOfAReplayMayExpire) {
    const Stream stream = MakeStream();
    const Event event = MakeExternal();
    Begin(stream.Get());
    EXPECT_TRUE(IsOk(aclrtStreamWaitEventWithTimeout(stream.Get(), event.Get(), 1)));
    const Model model = End(stream.Get());
    EXPECT_EQ(Replay(model, stream), ACL_ERROR_RT_WAIT_TIMEOUT);
}

TEST_F(ExternalEventTest, MustLiveAsLongAsTheModel) {
    const Stream stream = MakeStream();
    Event event = MakeExternal();
    Begin(stream.Get());
    Wait(stream, event);
    const Model model = End(stream.Get());
    Record(stream, event);
    EXPECT_TRUE(IsOk(Replay(model, stream)));
    event = Event();
    std::vector<Event> others;  // one of which has the place of the destroyed one
    for (int i = 0; i < 4; ++i) {
        others.push_back(MakeExternal());
    }
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, Queue(model, stream), {"event"}));
}

// Queued records and waits go on when the event is destroyed, and are none of a later event's.
TEST_F(ExternalEventTest, DestroyedWhileItIsUsed) {
    const Stream stream = MakeStream();
    const Stream other = MakeStream();
    Event event = MakeExternal();
    const HostGate gate(stream.Get());
    Record(stream, event);
    Wait(other, event);
    event = Event();
    const Event later = MakeExternal();
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(other.Get(), 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    gate.Open();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(other.Get())));
    EXPECT_FALSE(IsSet(later));
}

TEST_F(ExternalEventTest, FlagsAndRefusals) {
    aclrtEvent event = nullptr;
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                        aclrtCreateEventWithFlag(&event, ACL_EVENT_EXTERNAL | ACL_EVENT_SYNC),
                        {"0x21", "ACL_EVENT_EXTERNAL", "alone"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                        aclrtCreateEventExWithFlag(&event, ACL_EVENT_EXTERNAL), {"0x20"}));
    EXPECT_EQ(event, nullptr);
    const Event external = MakeExternal();
    const Stream stream = MakeStream();
    Begin(stream.Get());
    GroupBegin(stream);
    for (const int code : {aclrtRecordEvent(external.Get(), stream.Get()),
                           aclrtResetEvent(external.Get(), stream.Get()),
                           aclrtStreamWaitEvent(stream.Get(), external.Get())}) {
        EXPECT_EQ(code, ACL_ERROR_STREAM_TASK_GROUP_INTR);
    }
    GroupEnd(stream);
    End(stream.Get());
    aclrtIpcEventHandle handle{};
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcGetEventHandle(external.Get(), &handle),
                        {"ACL_EVENT_IPC"}));
    float milliseconds = 0;
    Record(stream, external);
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
                        aclrtEventElapsedTime(&milliseconds, external.Get(), external.Get()),
                        {"timing"}));
}

}  // namespace
}  // namespace conformance
