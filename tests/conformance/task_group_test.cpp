// SPDX-License-Identifier: Apache-2.0
// Task groups: launches of a model that are replaced.
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
    UpdateBegin(updates, group);
    Launch(next, updates);
    UpdateEnd(updates);
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(updates.Get())));
    EXPECT_TRUE(next.IsUntouched()) << "the launches of an update are not run";
    ExpectAdvanced(model, stream, all, {true, false, true, false, true});
    UpdateBegin(stream, group);  // on the stream that was captured, and again
    Launch(last, stream);
    UpdateEnd(stream);
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
    UpdateBegin(stream, two);
    Launch(d, stream);
    Launch(e, stream);
    UpdateEnd(stream);
    ExpectAdvanced(model, stream, all, {false, false, true, true, true});
    UpdateBegin(stream, one);
    Launch(b, stream);
    UpdateEnd(stream);
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
    UpdateBegin(stream, group);
    Launch(c, stream);
    UpdateEnd(stream);
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
    UpdateBegin(stream, group);
    Launch(c, stream);
    UpdateEnd(stream);
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
        UpdateBegin(updates, group);
        Launch(b, updates);
        UpdateEnd(updates);
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
        UpdateBegin(updates, group);
        Launch(b, updates);
        UpdateEnd(updates);
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
    UpdateBegin(stream, group);
    Launch(b, stream);
    UpdateEnd(stream);
    a.FreeMemory(support::kSeqLens);
    EXPECT_TRUE(IsOk(Replay(model, stream)));
    EXPECT_TRUE(b.Holds(support::Advanced(b.Data())));
    b.FreeMemory(support::kSeqLens);
    EXPECT_TRUE(
        IsError(ACL_ERROR_RT_PARAM_INVALID, aclmdlRIExecuteAsync(model.Get(), stream.Get())));
}

}  // namespace
}  // namespace conformance
