// SPDX-License-Identifier: Apache-2.0
// Tests of Step's fault messages.

#include "op_host/step/step.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "acl/acl_base.h"
#include "op_kernel/step/step_rules.h"
#include "op_kernel/step/step_tiling_data.h"

namespace advstep {
namespace {

struct StepFaultCase {
    const char* name;
    StepFault kind;
    int64_t values[3];
    const char* text;
};

class StepFaultTest : public testing::TestWithParam<StepFaultCase> {};

TEST_P(StepFaultTest, NamesSlotAndValues) {
    StepPayload payload{};
    payload.tiling.batch = 9;
    payload.tiling.tableWidth = 5;
    payload.tiling.freeCapacity = 40;
    payload.tiling.inputWidth = 64;
    payload.tiling.preWidth = 32;
    payload.tiling.blockSize = 4;
    Fault fault;
    fault.row = 7;
    fault.kind = static_cast<int32_t>(GetParam().kind);
    std::copy_n(GetParam().values, 3, fault.values);
    const FaultReport report = DescribeStepFault(fault, &payload);
    EXPECT_EQ(report.message, GetParam().text);
    EXPECT_EQ(report.code, GetParam().kind == StepFault::kNoProgress
                               ? ACL_ERROR_RT_RESOURCE_ALLOC_FAIL
                               : ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, StepFaultTest,
    testing::Values(
        StepFaultCase{"FreeListLen",
                      StepFault::kFreeListLen,
                      {41},
                      "freeListLen is 41; expected 0 <= freeListLen <= F = 40"},
        StepFaultCase{"StepLens",
                      StepFault::kStepLens,
                      {10},
                      "stepLens is 10; expected 0 <= stepLens <= B = 9"},
        StepFaultCase{"NeedBlockLen",
                      StepFault::kNeedBlockLen,
                      {2},
                      "needBlockLen is 2; expected 0 on entry"},
        StepFaultCase{
            "RecoverLens", StepFault::kRecoverLens, {3}, "recoverLens is 3; expected 0 on entry"},
        StepFaultCase{"EntryRange",
                      StepFault::kStackEntryRange,
                      {9},
                      "stepBlockList[7] is slot 9; expected 0 <= slot < B = 9"},
        StepFaultCase{"EntryTwice",
                      StepFault::kStackEntryTwice,
                      {4},
                      "stepBlockList[7] is slot 4, which stands there before; expected every "
                      "slot once"},
        StepFaultCase{"EntryFlag",
                      StepFault::kStackEntryFlag,
                      {4},
                      "stepBlockList[7] is slot 4, whose isBlockStep is false; expected a "
                      "preempted slot"},
        StepFaultCase{"Used",
                      StepFault::kNegativeUsed,
                      {-1},
                      "slot 7: usedListLen is -1; expected at least 0"},
        StepFaultCase{"Columns",
                      StepFault::kDynamicColumns,
                      {3, 4},
                      "slot 7: dynamic columns begin at encoderBlockLens 3 and are "
                      "usedListLen 4; expected them inside the 5 columns of blockTables"},
        StepFaultCase{"Decoder",
                      StepFault::kNegativeDecoder,
                      {-6},
                      "slot 7: seqLensDecoder is -6; expected at least 0"},
        StepFaultCase{"Needed",
                      StepFault::kNeededColumn,
                      {20, 5},
                      "slot 7: seqLensDecoder 20 with blockSize 4 needs column 5 of "
                      "blockTables; expected column < W = 5"},
        StepFaultCase{"Overflow",
                      StepFault::kFreeListOverflow,
                      {30, 11},
                      "freeListLen is 30 with 11 dynamic blocks in use; expected no more than "
                      "F = 40 together"},
        StepFaultCase{"NoProgress",
                      StepFault::kNoProgress,
                      {5, 3, 12},
                      "no progress: 5 blocks are needed, 3 are free of a pool of 12, and no "
                      "slot is left to preempt; expected less load"},
        StepFaultCase{"Grant",
                      StepFault::kGrantOutside,
                      {4, 2},
                      "slot 7: recovery grants 2 blocks from column encoderBlockLens 4; "
                      "expected them inside the 5 columns of blockTables"},
        StepFaultCase{"Prompt",
                      StepFault::kRecoveredPrompt,
                      {-2},
                      "slot 7: oriSeqLensEncoder is -2; expected at least 0"},
        StepFaultCase{"Generated",
                      StepFault::kRecoveredStep,
                      {33},
                      "slot 7: stepIdx is 33; expected 0 <= stepIdx <= P = 32"},
        StepFaultCase{"Total",
                      StepFault::kRecoveredTotal,
                      {60, 5},
                      "slot 7: oriSeqLensEncoder 60 and stepIdx 5 are to be replayed; "
                      "expected 1 <= their sum <= L = 64"},
        StepFaultCase{"Unknown", static_cast<StepFault>(99), {}, "slot 7: fault 99"}),
    [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace advstep
