// Task groups: launches of a model that are replaced, and every code of the four calls.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "acl/acl.h"
#include "conformance/captures.h"
#include "conformance/task_group_fixture.h"
#include "support/advance_step_batch.h"
#include "support/batches.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "support/step_batch.h"
#include "support/table.h"

namespace {

using conformance::Begin;
using conformance::Data;
using conformance::End;
using conformance::kActive;
using conformance::kGroupStatus;
using conformance::kNone;
using conformance::Model;
using conformance::Order;
using conformance::Replay;
using conformance::StatusOf;
using conformance::TaskGroupTest;
using support::AdvanceStepBatch;
using support::HostGate;
using support::IsError;
using support::IsOk;
using support::MakeStream;
using support::Recorder;
using support::Stream;

TEST_F(TaskGroupTest, ReplaysLikeOtherWork) {
    const Stream stream = MakeStream();
    AdvanceStepBatch batch(Data(1));
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
    AdvanceStepBatch before(Data(1)), inside(Data(2)), next(Data(3)), last(Data(4)), after(Data(5));
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
    AdvanceStepBatch a(Data(1)), b(Data(2)), c(Data(3)), d(Data(4)), e(Data(5));
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
    AdvanceStepBatch a(Data(1)), b(Data(2)), c(Data(3));
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
    const support::Event event = conformance::MakeCaptureEvent();
    AdvanceStepBatch a(Data(1)), b(Data(2)), c(Data(3));
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
    AdvanceStepBatch batch(Data(1));
    Begin(stream.Get());
    GroupBegin(stream);
    const aclrtTaskGrp group = GroupEnd(stream);
    Launch(batch, stream);
    const Model model = End(stream.Get());
    UpdateBegin(stream, group);
    UpdateEnd(stream);
    ExpectAdvanced(model, stream, {&batch}, {true});
}

TEST_F(TaskGroupTest, QueuedReplaysUseTheOldLaunches) {
    const Stream stream = MakeStream();
    const Stream updates = MakeStream();
    AdvanceStepBatch a(Data(1)), b(Data(2));
    Begin(stream.Get());
    GroupBegin(stream);
    Launch(a, stream);
    const aclrtTaskGrp group = GroupEnd(stream);
    const Model model = End(stream.Get());
    {
        const HostGate gate(stream.Get());
        ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model.Get(), stream.Get())));
        UpdateBegin(updates, group);
        Launch(b, updates);
        UpdateEnd(updates);
    }
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_TRUE(a.Holds(support::Advanced(a.Data())));
    EXPECT_TRUE(b.IsUntouched());
    ExpectAdvanced(model, stream, {&a, &b}, {false, true});
}

// What the replaced launches used may go; what the new ones use may not.
TEST_F(TaskGroupTest, TheMemoryIsThatOfTheNewLaunches) {
    const Stream stream = MakeStream();
    AdvanceStepBatch a(Data(1)), b(Data(2));
    Begin(stream.Get());
    GroupBegin(stream);
    Launch(a, stream);
    const aclrtTaskGrp group = GroupEnd(stream);
    const Model model = End(stream.Get());
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
    AdvanceStepBatch batch(Data(1));
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
    AdvanceStepBatch a(Data(1)), b(Data(2));
    Begin(stream.Get());
    GroupBegin(stream);
    Launch(a, stream);
    const aclrtTaskGrp group = GroupEnd(stream);
    const Model model = End(stream.Get());
    UpdateBegin(stream, group);
    EXPECT_TRUE(IsError(kGroupStatus, aclmdlRICaptureTaskUpdateBegin(stream.Get(), group),
                        {"aclmdlRICaptureTaskUpdateBegin: "}));
    EXPECT_TRUE(IsError(kGroupStatus, aclmdlRICaptureBegin(stream.Get(), conformance::kGlobal),
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
