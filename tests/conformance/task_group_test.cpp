// SPDX-License-Identifier: Apache-2.0
// Task groups: launches of a model that are replaced, every code, and updates that do not fit.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "conformance/task_group_fixture.h"
#include "support/advance_step_batch.h"
#include "support/batches.h"
#include "support/step_batch.h"
#include "support/table.h"

namespace conformance {
namespace {

using support::AdvanceStepBatch;

TEST_F(TaskGroupTest, ReplaysLikeOtherWork) {
    const Stream stream = MakeStream();
    AdvanceStepBatch batch(GroupData(1));
    Begin(stream.Get());
    GroupBegin(stream);
    Launch(batch, stream);
    GroupEnd(stream);
    const Model model = End(stream.Get());
    EXPECT_TRUE(batch.IsUntouched());
    ExpectAdvanced(model, stream, {&batch}, {true});
}

TEST_F(TaskGroupTest, AnUpdateReplacesTheLaunch) {
    const Stream stream = MakeStream();
    const Stream updates = MakeStream();
    AdvanceStepBatch before(GroupData(1)), inside(GroupData(2)), next(GroupData(3)),
        last(GroupData(4)), after(GroupData(5));
    const std::vector<AdvanceStepBatch*> all = {&before, &inside, &next, &last, &after};
    Begin(stream.Get());
    Launch(before, stream);
    GroupBegin(stream);
    Launch(inside, stream);
    const aclrtTaskGrp group = GroupEnd(stream);
    Launch(after, stream);
    const Model model = End(stream.Get());
    ExpectAdvanced(model, stream, all, {true, true, false, false, true});
    Update(updates, group, {&next});
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(updates.Get())));
    EXPECT_TRUE(next.IsUntouched()) << "the launches of an update are not run";
    ExpectAdvanced(model, stream, all, {true, false, true, false, true});
    Update(stream, group, {&last});  // on the stream that was captured, and again
    ExpectAdvanced(model, stream, all, {true, false, false, true, true});
}

TEST_F(TaskGroupTest, SeveralGroupsAndLaunches) {
    const Stream stream = MakeStream();
    AdvanceStepBatch a(GroupData(1)), b(GroupData(2)), c(GroupData(3)), d(GroupData(4)),
        e(GroupData(5));
    const std::vector<AdvanceStepBatch*> all = {&a, &b, &c, &d, &e};
    Begin(stream.Get());
    GroupBegin(stream);
    Launch(a, stream);
    Launch(b, stream);
    const aclrtTaskGrp two = GroupEnd(stream);
    GroupBegin(stream);
    Launch(c, stream);
    const aclrtTaskGrp one = GroupEnd(stream);
    EXPECT_NE(one, two);
    const Model model = End(stream.Get());
    ExpectAdvanced(model, stream, all, {true, true, true, false, false});
    Update(stream, two, {&d, &e});
    ExpectAdvanced(model, stream, all, {false, false, true, true, true});
    Update(stream, one, {&b});
    ExpectAdvanced(model, stream, all, {false, true, false, true, true});
}

TEST_F(TaskGroupTest, OfASideStream) {
    const Stream stream = MakeStream();
    const Stream side = MakeStream();
    AdvanceStepBatch a(GroupData(1)), b(GroupData(2)), c(GroupData(3));
    Begin(stream.Get());
    Launch(a, stream);
    Order(stream, side);
    GroupBegin(side);
    Launch(b, side);
    const aclrtTaskGrp group = GroupEnd(side);
    Order(side, stream);
    const Model model = End(stream.Get());
    ExpectAdvanced(model, stream, {&a, &b, &c}, {true, true, false});
    Update(stream, group, {&c});
    ExpectAdvanced(model, stream, {&a, &b, &c}, {true, false, true});
}

TEST_F(TaskGroupTest, TakesEventRecords) {
    const Stream stream = MakeStream();
    const Stream side = MakeStream();
    const Event event = MakeCaptureEvent();
    AdvanceStepBatch a(GroupData(1)), b(GroupData(2)), c(GroupData(3));
    Begin(stream.Get());
    GroupBegin(stream);
    Launch(a, stream);
    EXPECT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
    const aclrtTaskGrp group = GroupEnd(stream);
    EXPECT_TRUE(IsOk(aclrtStreamWaitEvent(side.Get(), event.Get())));
    Launch(b, side);
    Order(side, stream);
    const Model model = End(stream.Get());
    ExpectAdvanced(model, stream, {&a, &b, &c}, {true, true, false});
    Update(stream, group, {&c});
    ExpectAdvanced(model, stream, {&a, &b, &c}, {false, true, true});
}

TEST_F(TaskGroupTest, MayBeEmpty) {
    const Stream stream = MakeStream();
    AdvanceStepBatch batch(GroupData(1));
    Begin(stream.Get());
    GroupBegin(stream);
    const aclrtTaskGrp group = GroupEnd(stream);
    Launch(batch, stream);
    const Model model = End(stream.Get());
    UpdateBegin(stream, group);
    UpdateEnd(stream);
    ExpectAdvanced(model, stream, {&batch}, {true});
}

TEST_F(TaskGroupTest, QueuedReplaysUseTheNewLaunches) {
    const Stream stream = MakeStream();
    const Stream updates = MakeStream();
    AdvanceStepBatch a(GroupData(1)), b(GroupData(2));
    const auto [group, model] = CaptureGroup(stream, a);
    {
        const HostGate gate(stream.Get());
        ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model.Get(), stream.Get())));
        Update(updates, group, {&b});
    }
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_TRUE(a.IsUntouched());
    EXPECT_TRUE(b.Holds(support::Advanced(b.Data())));
    ExpectAdvanced(model, stream, {&a, &b}, {false, true});
}

// A replay that is queued does not look again whether memory is still there.
TEST_F(TaskGroupTest, MemoryThatWasFreedBeforeTheEndOfAnUpdate) {
    const Stream stream = MakeStream();
    const Stream updates = MakeStream();
    AdvanceStepBatch a(GroupData(1)), b(GroupData(2));
    const auto [group, model] = CaptureGroup(stream, a);
    {
        const HostGate gate(stream.Get());
        ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model.Get(), stream.Get())));
        UpdateBegin(updates, group);
        Launch(b, updates);
        b.FreeMemory(support::kSeqLens);
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclmdlRICaptureTaskUpdateEnd(updates.Get()),
                            {"seqLens", "freed"}));
    }
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_TRUE(a.Holds(support::Advanced(a.Data())));
}

// After the update it stays until the replay has ended.
TEST_F(TaskGroupTest, MemoryThatIsFreedAfterAnUpdate) {
    const Stream stream = MakeStream();
    const Stream updates = MakeStream();
    AdvanceStepBatch a(GroupData(1)), b(GroupData(2));
    const auto [group, model] = CaptureGroup(stream, a);
    const reference::AdvanceStepData advanced = support::Advanced(b.Data());
    {
        const HostGate gate(stream.Get());
        ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model.Get(), stream.Get())));
        Update(updates, group, {&b});
        b.FreeMemory(support::kBlockTables);
    }
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_TRUE(a.IsUntouched());
    EXPECT_TRUE(b.HoldsAt(support::kSeqLens, advanced));
    EXPECT_TRUE(b.HoldsAt(support::kSlotMapping, advanced));
}

// What the replaced launches used may go; what the new ones use may not.
TEST_F(TaskGroupTest, TheMemoryIsThatOfTheNewLaunches) {
    const Stream stream = MakeStream();
    AdvanceStepBatch a(GroupData(1)), b(GroupData(2));
    const auto [group, model] = CaptureGroup(stream, a);
    Update(stream, group, {&b});
    a.FreeMemory(support::kSeqLens);
    EXPECT_TRUE(IsOk(Replay(model, stream)));
    EXPECT_TRUE(b.Holds(support::Advanced(b.Data())));
    b.FreeMemory(support::kSeqLens);
    EXPECT_TRUE(
        IsError(ACL_ERROR_RT_PARAM_INVALID, aclmdlRIExecuteAsync(model.Get(), stream.Get())));
}

// Task groups: every code of the four calls, updates that do not fit, and work that is none of a
// group.

// Another number or kind of launches: the update is over, the model as before.
struct MismatchCase {
    std::string name;
    int advanceSteps;
    bool step;
};

class MismatchTest : public TaskGroupTest, public testing::WithParamInterface<MismatchCase> {};

TEST_P(MismatchTest, ChangesNothing) {
    const Stream stream = MakeStream();
    AdvanceStepBatch a(GroupData(1)), b(GroupData(2));
    support::StepBatch step(reference::IdleStepData({2, 2, 4, 8, 16, 16, 4}));
    const auto [group, model] = CaptureGroup(stream, a);
    UpdateBegin(stream, group);
    for (int i = 0; i < GetParam().advanceSteps; ++i) {
        Launch(b, stream);
    }
    if (GetParam().step) {
        ASSERT_TRUE(IsOk(step.Plan()));
        ASSERT_TRUE(IsOk(step.Launch(stream.Get())));
    }
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INTERNAL_ERROR, aclmdlRICaptureTaskUpdateEnd(stream.Get()),
                        {"aclmdlRICaptureTaskUpdateEnd: "}));
    EXPECT_TRUE(IsError(kGroupStatus, aclmdlRICaptureTaskUpdateEnd(stream.Get())))
        << "the update is over";
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_TRUE(b.IsUntouched());
    EXPECT_TRUE(step.IsUntouched());
    ExpectAdvanced(model, stream, {&a, &b}, {true, false});
    Update(stream, group, {&b});
    ExpectAdvanced(model, stream, {&a, &b}, {false, true});
}

INSTANTIATE_TEST_SUITE_P(Table, MismatchTest,
                         testing::Values(MismatchCase{"None", 0, false},
                                         MismatchCase{"Two", 2, false},
                                         MismatchCase{"OneMoreKind", 1, true},
                                         MismatchCase{"OtherKind", 0, true}),
                         support::CaseName());

// Work that cannot be grouped, in a group and in an update.
struct Others {
    DeviceBuffer device{64};
    PinnedArray<char> pinned{64};
    Notify notify = MakeNotify();
    Event event = MakeCaptureEvent();  // recorded where the work goes
    Recorder recorder;
};

struct IntruderCase {
    std::string name;
    std::function<aclError(const Others& o, aclrtStream stream)> work;
};

class IntruderTest : public TaskGroupTest, public testing::WithParamInterface<IntruderCase> {};

TEST_P(IntruderTest, IsRefusedInAGroup) {
    const Stream stream = MakeStream();
    const Stream side = MakeStream();
    const Others others;
    AdvanceStepBatch batch(GroupData(1));
    Begin(stream.Get());
    Order(stream, side);
    ASSERT_TRUE(IsOk(aclrtRecordEvent(others.event.Get(), side.Get())));
    GroupBegin(stream);
    Launch(batch, stream);
    EXPECT_TRUE(IsError(ACL_ERROR_STREAM_TASK_GROUP_INTR, GetParam().work(others, stream.Get())));
    EXPECT_EQ(StatusOf(stream.Get()), kActive);
    GroupEnd(stream);
    Order(side, stream);
    EXPECT_TRUE(IsOk(GetParam().work(others, stream.Get()))) << "behind the group";
    const Model model = End(stream.Get());
    ASSERT_TRUE(IsOk(aclrtRecordNotify(others.notify.Get(), stream.Get())));
    ExpectAdvanced(model, stream, {&batch}, {true});
}

TEST_P(IntruderTest, IsRefusedInAnUpdate) {
    const Stream stream = MakeStream();
    const Others others;
    AdvanceStepBatch a(GroupData(1)), b(GroupData(2));
    const auto [group, model] = CaptureGroup(stream, a);
    ASSERT_TRUE(IsOk(aclrtRecordEvent(others.event.Get(), MakeStream().Get())));
    UpdateBegin(stream, group);
    EXPECT_TRUE(IsError(ACL_ERROR_STREAM_TASK_GROUP_INTR, GetParam().work(others, stream.Get())));
    Launch(b, stream);
    EXPECT_TRUE(IsError(ACL_ERROR_STREAM_TASK_GROUP_INTR, GetParam().work(others, stream.Get())));
    UpdateEnd(stream);
    EXPECT_EQ(others.recorder.Values(), std::vector<int>{});
    ExpectAdvanced(model, stream, {&a, &b}, {false, true});
}

INSTANTIATE_TEST_SUITE_P(
    Table, IntruderTest,
    testing::Values(IntruderCase{"HostFunction",
                                 [](const Others& o, aclrtStream stream) {
                                     return o.recorder.Mark(stream, 1);
                                 }},
                    IntruderCase{"Fill",
                                 [](const Others& o, aclrtStream stream) {
                                     return aclrtMemsetAsync(o.device.Get(), 64, 1, 64, stream);
                                 }},
                    IntruderCase{"Copy",
                                 [](const Others& o, aclrtStream stream) {
                                     return aclrtMemcpyAsync(o.device.Get(), 64, o.pinned.Get(), 64,
                                                             ACL_MEMCPY_HOST_TO_DEVICE, stream);
                                 }},
                    IntruderCase{"EventWait",
                                 [](const Others& o, aclrtStream stream) {
                                     return aclrtStreamWaitEvent(stream, o.event.Get());
                                 }},
                    IntruderCase{"RecordNotify",
                                 [](const Others& o, aclrtStream stream) {
                                     return aclrtRecordNotify(o.notify.Get(), stream);
                                 }},
                    IntruderCase{"WaitNotify",
                                 [](const Others& o, aclrtStream stream) {
                                     return aclrtWaitAndResetNotify(o.notify.Get(), stream, 0);
                                 }},
                    IntruderCase{"ValueWrite",
                                 [](const Others& o, aclrtStream stream) {
                                     return aclrtValueWrite(o.device.Get(), 1, 0, stream);
                                 }},
                    IntruderCase{"ValueWait",
                                 [](const Others& o, aclrtStream stream) {
                                     return aclrtValueWait(o.device.Get(), 0,
                                                           ACL_STREAM_WAIT_VALUE_NOR, stream);
                                 }}),
    support::CaseName());

// Codes of the capture's half.
TEST_F(TaskGroupTest, GroupCallsNeedACapture) {
    const Stream stream = MakeStream();
    aclrtTaskGrp group = nullptr;
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_NOT_CAPTURED, aclmdlRICaptureTaskGrpBegin(stream.Get()),
                        {"aclmdlRICaptureTaskGrpBegin: "}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_NOT_CAPTURED,
                        aclmdlRICaptureTaskGrpEnd(stream.Get(), &group),
                        {"aclmdlRICaptureTaskGrpEnd: "}));
    EXPECT_EQ(group, nullptr);
}

TEST_F(TaskGroupTest, GroupCallsComeInPairs) {
    const Stream stream = MakeStream();
    AdvanceStepBatch batch(GroupData(1));
    aclrtTaskGrp none = nullptr;
    aclmdlRI model = nullptr;
    Begin(stream.Get());
    EXPECT_TRUE(IsError(kGroupStatus, aclmdlRICaptureTaskGrpEnd(stream.Get(), &none),
                        {"aclmdlRICaptureTaskGrpEnd: "}));
    GroupBegin(stream);
    EXPECT_TRUE(IsError(kGroupStatus, aclmdlRICaptureTaskGrpBegin(stream.Get()),
                        {"aclmdlRICaptureTaskGrpBegin: "}));
    EXPECT_TRUE(
        IsError(kGroupStatus, aclmdlRICaptureEnd(stream.Get(), &model), {"aclmdlRICaptureEnd: "}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclmdlRICaptureTaskGrpEnd(stream.Get(), nullptr),
                        {"handle"}));
    EXPECT_EQ(none, nullptr);
    EXPECT_EQ(model, nullptr);
    EXPECT_EQ(StatusOf(stream.Get()), kActive);
    Launch(batch, stream);
    const aclrtTaskGrp group = GroupEnd(stream);
    EXPECT_TRUE(IsError(kGroupStatus, aclmdlRICaptureTaskGrpEnd(stream.Get(), &none)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_MODEL_CAPTURED,
                        aclmdlRICaptureTaskUpdateBegin(MakeStream().Get(), group),
                        {"aclmdlRICaptureTaskUpdateBegin: "}));
    const Model ended = End(stream.Get());
    ExpectAdvanced(ended, stream, {&batch}, {true});
}

TEST_F(TaskGroupTest, AnOpenGroupOfASideStreamKeepsTheCaptureOpen) {
    const Stream stream = MakeStream();
    const Stream side = MakeStream();
    aclmdlRI model = nullptr;
    Begin(stream.Get());
    Order(stream, side);
    Order(side, stream);
    GroupBegin(side);
    EXPECT_TRUE(IsError(kGroupStatus, aclmdlRICaptureEnd(stream.Get(), &model)));
    EXPECT_EQ(StatusOf(stream.Get()), kActive);
    GroupEnd(side);
    End(stream.Get());
}

// Codes of the update's half.
TEST_F(TaskGroupTest, UpdateRefusesWhatIsNoGroup) {
    const Stream stream = MakeStream();
    Begin(stream.Get());
    GroupBegin(stream);
    const aclrtTaskGrp group = GroupEnd(stream);
    Model model = End(stream.Get());
    int local = 0;
    for (void* const bad : {model.Get(), stream.Get(), static_cast<void*>(&local),
                            reinterpret_cast<void*>(uintptr_t{8})}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE,
                            aclmdlRICaptureTaskUpdateBegin(stream.Get(), bad),
                            {"aclmdlRICaptureTaskUpdateBegin: "}));
    }
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                        aclmdlRICaptureTaskUpdateBegin(stream.Get(), nullptr), {"handle"}));
    EXPECT_TRUE(IsError(kGroupStatus, aclmdlRICaptureTaskUpdateEnd(stream.Get()),
                        {"aclmdlRICaptureTaskUpdateEnd: "}))
        << "a refused begin begins nothing";
    ASSERT_TRUE(IsOk(aclmdlRIDestroy(model.Release())));
    EXPECT_TRUE(
        IsError(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRICaptureTaskUpdateBegin(stream.Get(), group)));
}

TEST_F(TaskGroupTest, UpdateCallsComeInPairs) {
    const Stream stream = MakeStream();
    AdvanceStepBatch a(GroupData(1)), b(GroupData(2));
    const auto [group, model] = CaptureGroup(stream, a);
    UpdateBegin(stream, group);
    EXPECT_TRUE(IsError(kGroupStatus, aclmdlRICaptureTaskUpdateBegin(stream.Get(), group),
                        {"aclmdlRICaptureTaskUpdateBegin: "}));
    EXPECT_TRUE(IsError(kGroupStatus, aclmdlRICaptureBegin(stream.Get(), kGlobal),
                        {"aclmdlRICaptureBegin: "}));
    EXPECT_EQ(StatusOf(stream.Get()), kNone) << "an update is no capture";
    Launch(b, stream);
    UpdateEnd(stream);
    EXPECT_TRUE(IsError(kGroupStatus, aclmdlRICaptureTaskUpdateEnd(stream.Get())));
    ExpectAdvanced(model, stream, {&a, &b}, {false, true});
}

TEST_F(TaskGroupTest, UpdateRefusesACapturingStream) {
    const Stream stream = MakeStream();
    const Stream other = MakeStream();
    Begin(stream.Get());
    GroupBegin(stream);
    const aclrtTaskGrp group = GroupEnd(stream);
    const Model model = End(stream.Get());
    Begin(other.Get());
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_CAPTURED,
                        aclmdlRICaptureTaskUpdateBegin(other.Get(), group),
                        {"aclmdlRICaptureTaskUpdateBegin: "}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_CAPTURED, aclmdlRICaptureTaskUpdateEnd(other.Get()),
                        {"aclmdlRICaptureTaskUpdateEnd: "}));
    EXPECT_EQ(StatusOf(other.Get()), kActive);
    End(other.Get());
}

}  // namespace
}  // namespace conformance
