// SPDX-License-Identifier: Apache-2.0
// Both operators in captures: the golden cases replayed, and what may be gone by then.
#include <gtest/gtest.h>

#include "conformance/capture_fixture.h"
#include "conformance/machines.h"
#include "support/advance_step_batch.h"
#include "support/batches.h"
#include "support/golden.h"
#include "support/step_batch.h"
#include "support/step_golden.h"

namespace conformance {
namespace {

using reference::StepOutcome;
using namespace support;

struct ReplayRun {
    std::string conformance;
    Machine machine;
};

std::vector<ReplayRun> Runs() {
    const std::vector<Machine> machines = {{"Default", "Ascend910B3", "2", "ascending"},
                                           {"OneThread", "Ascend910B3", "1", "ascending"},
                                           {"Shuffled", "Ascend910B4", "3", "5"}};
    std::vector<ReplayRun> runs;
    for (const char* conformance : {"standard", "vllm", "exact"}) {
        for (const Machine& machine : machines) {
            runs.push_back({conformance, machine});
        }
    }
    return runs;
}

class OperatorReplayTest : public CaptureTest, public testing::WithParamInterface<ReplayRun> {
 protected:
    static constexpr int kReplays = 3;

    void SetUp() override {
        ASSERT_NO_FATAL_FAILURE(Restart(GetParam().machine.With(GetParam().conformance)));
    }
};

void ExpectAdvanceStep(int status, const GoldenCase& golden, const AdvanceStepBatch& batch) {
    support::ExpectGoldenStatus(status, golden.expect == "ok", golden.reason);
    EXPECT_TRUE(batch.Holds(golden.out));
}

TEST_P(OperatorReplayTest, AdvanceStepGoldenCases) {
    static const std::vector<GoldenCase> cases =
        support::LoadGolden(ADVANCE_STEP_TEST_DATA "/advance_step.jsonl");
    const Stream stream = MakeStream();
    int checked = 0;
    for (const GoldenCase& golden : cases) {
        if (golden.conformance != GetParam().conformance || golden.cores != 40 ||
            golden.expect == "plan_error") {
            continue;
        }
        SCOPED_TRACE(golden.name);
        AdvanceStepBatch batch(golden.in);
        const Model model = Capture(stream.Get(), [&] {
            EXPECT_TRUE(IsOk(batch.Plan()));
            EXPECT_TRUE(IsOk(batch.Launch(stream.Get())));
        });
        batch.DestroyTensors();
        EXPECT_TRUE(batch.IsUntouched()) << "a capture runs nothing";
        for (int i = 0; i < kReplays; ++i) {
            ExpectAdvanceStep(Replay(model, stream), golden, batch);
            batch.Upload();
        }
        ExpectAdvanceStep(aclmdlRIExecute(model.Get(), -1), golden, batch);
        ++checked;
    }
    EXPECT_GE(checked, 10);
}

TEST_P(OperatorReplayTest, StepGoldenCases) {
    static const std::vector<StepGoldenCase> standard =
        support::LoadStepGolden(ADVANCE_STEP_TEST_DATA "/step_standard.jsonl");
    static const std::vector<StepGoldenCase> exact =
        support::LoadStepGolden(ADVANCE_STEP_TEST_DATA "/step_exact.jsonl");
    const Stream stream = MakeStream();
    const auto expect = [](int status, const StepGoldenCase& golden, const StepBatch& batch) {
        EXPECT_TRUE(golden.outcome == StepOutcome::kOk ? IsOk(status)
                    : golden.outcome == StepOutcome::kNoProgress
                        ? IsError(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, status, {"aclnnStep"})
                        : IsError(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, status, {"aclnnStep"}));
        EXPECT_TRUE(batch.Holds(golden.out));
    };
    for (const StepGoldenCase& golden : GetParam().conformance == "exact" ? exact : standard) {
        SCOPED_TRACE(golden.name);
        StepBatch batch(golden.in);
        const Model model = Capture(stream.Get(), [&] {
            EXPECT_TRUE(IsOk(batch.Plan()));
            EXPECT_TRUE(IsOk(batch.Launch(stream.Get())));
        });
        EXPECT_TRUE(batch.IsUntouched()) << "a capture runs nothing";
        for (int i = 0; i < kReplays; ++i) {
            expect(Replay(model, stream), golden, batch);
            batch.Upload(golden.in);
        }
        expect(aclmdlRIExecute(model.Get(), -1), golden, batch);
    }
}

INSTANTIATE_TEST_SUITE_P(Machines, OperatorReplayTest, testing::ValuesIn(Runs()),
                         [](const testing::TestParamInfo<ReplayRun>& row) {
                             return row.param.conformance + row.param.machine.name;
                         });

class DecodeReplayTest : public CaptureTest {};

reference::AdvanceStepData Data() { return support::MakeBatch(6, 5, 4, 64, 11); }

// A decode loop: one capture of one step, replayed for every token.
TEST_F(DecodeReplayTest, StepsFollowEachOther) {
    const Stream stream = MakeStream();
    reference::AdvanceStepData expected = Data();
    expected.seqLens = {0, 1, 2, 3, 4, 5};
    AdvanceStepBatch batch(expected);
    const Model model = Capture(stream.Get(), [&] {
        EXPECT_TRUE(IsOk(batch.Plan()));
        EXPECT_TRUE(IsOk(batch.Launch(stream.Get())));
    });
    for (int i = 0; i < 50; ++i) {
        ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model.Get(), stream.Get())));
        expected = support::Advanced(expected);
    }
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_TRUE(batch.Holds(expected));
}

TEST_F(DecodeReplayTest, ExecutorsMayBeGone) {
    const Stream stream = MakeStream();
    AdvanceStepBatch batch(Data());
    ASSERT_TRUE(IsOk(batch.Plan()));
    ASSERT_TRUE(IsOk(aclSetAclOpExecutorRepeatable(batch.Executor())));
    const Model model =
        Capture(stream.Get(), [&] { EXPECT_TRUE(IsOk(batch.Launch(stream.Get()))); });
    ASSERT_TRUE(IsOk(aclDestroyAclOpExecutor(batch.Executor())));
    batch.DestroyTensors();
    // Their records are handed out again, and used for something else.
    AdvanceStepBatch other(support::MakeBatch(4, 3, 2, 8, 12));
    ASSERT_TRUE(IsOk(other.Plan()));
    EXPECT_TRUE(IsOk(Replay(model, stream)));
    EXPECT_TRUE(batch.Holds(support::Advanced(batch.Data())));
    EXPECT_TRUE(other.IsUntouched());
    ASSERT_TRUE(IsOk(other.Launch(stream.Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
}

// The addresses are those of the capture, whatever the executor is given later.
TEST_F(DecodeReplayTest, AddressesAreThoseOfTheCapture) {
    const Stream stream = MakeStream();
    AdvanceStepBatch batch(Data());
    AdvanceStepBatch other(Data());
    ASSERT_TRUE(IsOk(batch.Plan()));
    ASSERT_TRUE(IsOk(aclSetAclOpExecutorRepeatable(batch.Executor())));
    const Model model =
        Capture(stream.Get(), [&] { EXPECT_TRUE(IsOk(batch.Launch(stream.Get()))); });
    for (size_t i = 0; i < 6; ++i) {
        ASSERT_TRUE(
            IsOk(aclSetTensorAddr(batch.Executor(), i, batch.TensorAt(i), other.Address(i))));
    }
    EXPECT_TRUE(IsOk(Replay(model, stream)));
    EXPECT_TRUE(batch.Holds(support::Advanced(batch.Data())));
    EXPECT_TRUE(other.IsUntouched());
    EXPECT_TRUE(IsOk(aclDestroyAclOpExecutor(batch.Executor())));
}

TEST_F(DecodeReplayTest, EveryFreedTensorIsNoticed) {
    for (size_t i = 0; i < 6; ++i) {
        SCOPED_TRACE(support::kTensorNames[i]);
        const Stream stream = MakeStream();
        AdvanceStepBatch batch(Data());
        const Model model = Capture(stream.Get(), [&] {
            EXPECT_TRUE(IsOk(batch.Plan()));
            EXPECT_TRUE(IsOk(batch.Launch(stream.Get())));
        });
        EXPECT_TRUE(IsOk(Replay(model, stream)));
        batch.FreeMemory(i);
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                            aclmdlRIExecuteAsync(model.Get(), stream.Get()),
                            {"aclmdlRIExecuteAsync: ", support::kTensorNames[i]}));
    }
}

// A launch that phase two refuses is no part of the capture.
TEST_F(DecodeReplayTest, ARefusedLaunchChangesNothing) {
    const Stream stream = MakeStream();
    AdvanceStepBatch good(Data());
    AdvanceStepBatch bad(Data());
    Begin(stream.Get());
    ASSERT_TRUE(IsOk(good.Plan()));
    ASSERT_TRUE(IsOk(good.Launch(stream.Get())));
    ASSERT_TRUE(IsOk(bad.Plan()));
    bad.FreeMemory(support::kSeqLens);
    EXPECT_TRUE(IsError(ACLNN_ERR_RUNTIME_ERROR, bad.Launch(stream.Get()), {"seqLens"}));
    EXPECT_EQ(StatusOf(stream.Get()), kActive);
    const Model model = End(stream.Get());
    EXPECT_TRUE(IsOk(Replay(model, stream)));
    EXPECT_TRUE(good.Holds(support::Advanced(good.Data())));
}

TEST_F(DecodeReplayTest, LargeBatchesReplayToo) {
    const Stream stream = MakeStream();
    AdvanceStepBatch batch(support::MakeBatch(40000, 39000, 16, 8, 13));
    const Model model = Capture(stream.Get(), [&] {
        EXPECT_TRUE(IsOk(batch.Plan()));
        EXPECT_TRUE(IsOk(batch.Launch(stream.Get())));
    });
    EXPECT_TRUE(IsOk(Replay(model, stream)));
    EXPECT_TRUE(batch.Holds(support::Advanced(batch.Data())));
    batch.Upload();
    EXPECT_TRUE(IsOk(aclmdlRIExecute(model.Get(), 60000)));
    EXPECT_TRUE(batch.Holds(support::Advanced(batch.Data())));
}

}  // namespace
}  // namespace conformance
