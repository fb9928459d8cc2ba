// SPDX-License-Identifier: Apache-2.0
// Phase one of AdvanceStepMulti.
#include <gtest/gtest.h>

#include <thread>

#include "aclnnop/aclnn_advance_step.h"
#include "support/advance_step_multi_batch.h"
#include "support/op_plan_cases.h"
#include "support/runtime_test.h"
#include "support/table.h"

namespace multi_plan {
namespace {

using namespace support;

constexpr size_t kSampled = 1, kSeqLens = 3, kSlots = 4, kTables = 5;

// 2 steps of 4 sequences, 3 queries, block size 8, 3 blocks each.
OpArguments Valid() {
    OpArguments arguments;
    arguments.tensors = {{{4}}, {{2, 3}}, {{4}}, {{4}}, {{2, 4}}, {{4, 3}}};
    arguments.numSeqs = 4;
    arguments.numQueries = 3;
    arguments.blockSize = 8;
    return arguments;
}

aclnnStatus PhaseOne(const OpBatch::Tensors& t, const OpArguments& a, uint64_t* workspaceSize,
                     aclOpExecutor** executor) {
    return aclnnAdvanceStepMultiGetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], t[5], a.numSeqs,
                                                 a.numQueries, a.blockSize, workspaceSize,
                                                 executor);
}

void Expect(const OpPlanCase& row) {
    support::ExpectPlan(row, Valid(), "aclnnAdvanceStepMultiGetWorkspaceSize: ", &PhaseOne);
}

class MultiPlanTest : public support::DeviceTest, public testing::WithParamInterface<OpPlanCase> {};
class MultiVllmPlanTest : public MultiPlanTest {};

TEST_P(MultiPlanTest, StandardAndExact) {
    for (const char* conformance : {"standard", "exact"}) {
        SCOPED_TRACE(conformance);
        ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_CONFORMANCE", conformance}}));
        Expect(GetParam());
    }
}

TEST_P(MultiVllmPlanTest, Vllm) {
    ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_CONFORMANCE", "vllm"}}));
    Expect(GetParam());
}

// One step more for sampledTokenIds is one too few for slotMapping.
std::vector<OpPlanCase> CommonCases() {
    std::vector<OpPlanCase> cases =
        support::CommonPlanCases({"inputTokens", "sampledTokenIds", "inputPositions", "seqLens",
                                  "slotMapping", "blockTables"},
                                 {true, false, true, true, true, false});
    for (OpPlanCase& row : cases) {
        row.part = row.name == "OneMoreSampledTokenIds"
                       ? "slotMapping has shape [2, 4]; expected [steps, numSeqs] = [3, 4]"
                       : row.part;
    }
    return cases;
}

std::vector<OpPlanCase> OwnCases(bool vllm) {
    support::OpPlanCases cases;
    cases.Attributes("NoSeqs", kTiling, "numSeqs is 0", 0, 3, 8);
    cases.Attributes("TooManySeqs", kTiling, "numSeqs is 200000000", 200000000, 3, 8);
    cases.Attributes("NoQueries", kTiling, "numQueries is 0", 4, 0, 8);
    cases.Attributes("TooManyQueries", kTiling, "numQueries is 5", 4, 5, 8);
    cases.Attributes("NoBlockSize", kTiling, "blockSize is 0", 4, 3, 0);
    cases.Attributes("OtherQueries", kTiling,
                     "sampledTokenIds has shape [2, 3]; expected [steps, numQueries] = [>= 1, 2]",
                     4, 2, 8);
    cases.Add("NoPadding", vllm ? ACLNN_SUCCESS : kTiling, "numQueries is 4", [](OpArguments& a) {
        a.numQueries = 4;
        a[kSampled].shape = {2, 4};
    });
    cases.Shape("NoSteps", kTiling, kSampled, "sampledTokenIds has shape [0, 3]", {0, 3});
    cases.Shape("SampledFlat", kTiling, kSampled, "sampledTokenIds has shape [3]", {3});
    cases.Shape("SampledOfOneCall", kTiling, kSampled, "sampledTokenIds has shape [3, 1]", {3, 1});
    cases.Shape("SampledColumns", ACLNN_SUCCESS, kSampled, "", {2, 3, 1});
    cases.Shape("SampledRank3", kTiling, kSampled, "sampledTokenIds has shape [2, 3, 2]",
                {2, 3, 2});
    cases.Shape("SlotsColumns", ACLNN_SUCCESS, kSlots, "", {2, 4, 1});
    cases.Shape("SlotsOfOneCall", kTiling, kSlots, "slotMapping has shape [4]", {4});
    cases.Shape("SlotsFlat", kTiling, kSlots, "slotMapping has shape [8]", {8});
    cases.Shape("SlotsOfOneStep", kTiling, kSlots, "slotMapping has shape [1, 4]", {1, 4});
    for (const size_t i : {0, 2, 3}) {
        cases.Shape("Column" + std::to_string(i), ACLNN_SUCCESS, i, "", {4, 1});
        cases.Shape("PerStep" + std::to_string(i), kTiling, i, "has shape [2, 4]", {2, 4});
    }
    cases.Add("OneStep", ACLNN_SUCCESS, "", [](OpArguments& a) {
        a[kSampled].shape = {1, 3};
        a[kSlots].shape = {1, 4};
    });
    cases.Add("FirstNullIsNamed", kNull, "inputPositions is null",
              [](OpArguments& a) { a.isNull[2] = a.isNull[kTables] = true; });
    for (size_t i = 0; i < 6; ++i) {
        const bool taken = i == kTables || (vllm && (i == kSeqLens || i == kSlots));
        cases.Dtype("Int32", i, ACL_INT32, taken, "has dtype ACL_INT32; expected ACL_INT64");
    }
    return cases.Get();
}

INSTANTIATE_TEST_SUITE_P(Common, MultiPlanTest, testing::ValuesIn(CommonCases()),
                         support::CaseName());
INSTANTIATE_TEST_SUITE_P(Common, MultiVllmPlanTest, testing::ValuesIn(CommonCases()),
                         support::CaseName());
INSTANTIATE_TEST_SUITE_P(Own, MultiPlanTest, testing::ValuesIn(OwnCases(false)),
                         support::CaseName());
INSTANTIATE_TEST_SUITE_P(Own, MultiVllmPlanTest, testing::ValuesIn(OwnCases(true)),
                         support::CaseName());

class MultiCallTest : public support::DeviceTest {};

TEST_F(MultiCallTest, NeedsACurrentContext) {
    std::thread([] {
        Expect({"", ACLNN_ERR_RUNTIME_ERROR, "107002", [](OpArguments&) {}});
    }).join();
}

TEST_F(MultiCallTest, ExecutorsAreOfOneOperator) {
    OpBatch batch =
        support::MakeMultiBatch(support::MakeMultiData(support::MakeBatch(5, 4, 16, 7, 4), 2, 1));
    ASSERT_TRUE(IsOk(batch.Plan()));
    EXPECT_TRUE(IsError(kInvalid, aclnnAdvanceStep(nullptr, 0, batch.Executor(), nullptr),
                        {"planned for aclnnAdvanceStepMulti"}));
    EXPECT_TRUE(IsError(kNull, aclnnAdvanceStepMulti(nullptr, 0, nullptr, nullptr), {"executor"}));
    EXPECT_TRUE(batch.IsUntouched());
}

}  // namespace
}  // namespace multi_plan
