// SPDX-License-Identifier: Apache-2.0
// Phase one of AdvanceStepFlashInfer, and its workspace.
#include <gtest/gtest.h>

#include <thread>

#include "aclnnop/aclnn_advance_step.h"
#include "advance_step/counters.h"
#include "support/advance_step_flashinfer_batch.h"
#include "support/op_plan_cases.h"
#include "support/runtime_test.h"
#include "support/table.h"

namespace flashinfer_plan {
namespace {

using namespace support;

constexpr size_t kSampled = 1, kSeqLens = 3, kSlots = 4, kTables = 5, kIndices = 6, kIndptr = 7,
                 kLastPageLen = 8, kBound = 9;

// 4 sequences, 3 queries, block size 8, 3 blocks each, room for 20 entries.
OpArguments Valid() {
    OpArguments arguments;
    arguments.tensors = {{{4}},    {{3, 1}}, {{4}}, {{4}}, {{4}},
                         {{4, 3}}, {{20}},   {{5}}, {{4}}, {{4}}};
    for (const size_t i : {kIndices, kIndptr, kLastPageLen, kBound}) {
        arguments[i].dtype = ACL_INT32;
    }
    arguments.numSeqs = 4;
    arguments.numQueries = 3;
    arguments.blockSize = 8;
    return arguments;
}

aclnnStatus PhaseOne(const OpBatch::Tensors& t, const OpArguments& a, uint64_t* workspaceSize,
                     aclOpExecutor** executor) {
    return aclnnAdvanceStepFlashInferGetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], t[5], t[6],
                                                      t[7], t[8], t[9], a.numSeqs, a.numQueries,
                                                      a.blockSize, workspaceSize, executor);
}

void Expect(const OpPlanCase& row) {
    support::ExpectPlan(row, Valid(), "aclnnAdvanceStepFlashInferGetWorkspaceSize: ", &PhaseOne);
}

class FlashInferPlanTest : public support::DeviceTest,
                           public testing::WithParamInterface<OpPlanCase> {};

TEST_P(FlashInferPlanTest, InEveryConformance) {
    for (const char* conformance : {"standard", "vllm", "exact"}) {
        SCOPED_TRACE(conformance);
        ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_CONFORMANCE", conformance}}));
        Expect(GetParam());
    }
}

// A capacity is any number, so there is no shape of one too many.
std::vector<OpPlanCase> CommonCases() {
    std::vector<OpPlanCase> cases = support::CommonPlanCases(
        {"inputTokens", "sampledTokenIds", "inputPositions", "seqLens", "slotMapping",
         "blockTables", "pagedKvIndices", "pagedKvIndptr", "pagedKvLastPageLen", "blockTableBound"},
        {true, false, true, true, true, false, true, true, true, true});
    for (OpPlanCase& row : cases) {
        row.code = row.name == "OneMorePagedKvIndices" ? ACLNN_SUCCESS : row.code;
    }
    return cases;
}

std::vector<OpPlanCase> OwnCases() {
    support::OpPlanCases cases;
    cases.Attributes("NoSeqs", kTiling, "numSeqs is 0", 0, 3, 8);
    cases.Attributes("TooManySeqs", kTiling, "numSeqs is 200000000", 200000000, 3, 8);
    cases.Attributes("NoQueries", kTiling,
                     "numQueries is 0; expected 1 <= numQueries <= numSeqs = 4", 4, 0, 8);
    cases.Attributes("TooManyQueries", kTiling, "numQueries is 5", 4, 5, 8);
    cases.Attributes("NoBlockSize", kTiling, "blockSize is 0", 4, 3, 0);
    cases.Shape("IndptrPerSequence", kTiling, kIndptr,
                "pagedKvIndptr has shape [4]; expected [numSeqs + 1] = [5]", {4});
    cases.Shape("IndptrColumn", kTiling, kIndptr, "pagedKvIndptr has shape [5, 1]", {5, 1});
    cases.Shape("IndicesMatrix", kTiling, kIndices,
                "pagedKvIndices has shape [4, 5]; expected [capacity] = [>= 0]", {4, 5});
    cases.Shape("LastPageLenColumn", ACLNN_SUCCESS, kLastPageLen, "", {4, 1});
    cases.Shape("BoundColumn", ACLNN_SUCCESS, kBound, "", {4, 1});
    cases.Shape("BoundPerQuery", kTiling, kBound,
                "blockTableBound has shape [3]; expected [numSeqs] = [4]", {3});
    cases.Shape("NoCapacity", ACLNN_SUCCESS, kIndices, "", {0});
    cases.Add("NoPadding", ACLNN_SUCCESS, "", [](OpArguments& a) {
        a.numQueries = 4;
        a[kSampled].shape = {4, 1};
    });
    cases.Add("FirstNullIsNamed", kNull, "pagedKvIndptr is null",
              [](OpArguments& a) { a.isNull[kIndptr] = a.isNull[kBound] = true; });
    for (size_t i = 0; i < 10; ++i) {
        const bool narrow = i == kSeqLens || i == kSlots || i == kTables || i >= kIndices;
        cases.Dtype("Int32", i, ACL_INT32, narrow, "has dtype ACL_INT32; expected ACL_INT64");
        cases.Dtype("Int64", i, ACL_INT64, i < kIndices, "has dtype ACL_INT64; expected ACL_INT32");
    }
    return cases.Get();
}

INSTANTIATE_TEST_SUITE_P(Common, FlashInferPlanTest, testing::ValuesIn(CommonCases()),
                         support::CaseName());
INSTANTIATE_TEST_SUITE_P(Own, FlashInferPlanTest, testing::ValuesIn(OwnCases()),
                         support::CaseName());

class FlashInferCallTest : public support::DeviceTest {
 protected:
    static OpBatch MakeBatch() {
        return support::MakeFlashInferBatch(
            support::MakeFlashInferData(support::MakeBatch(100, 90, 16, 7, 4), 3));
    }
};

TEST_F(FlashInferCallTest, NeedsACurrentContext) {
    std::thread([] {
        Expect({"", ACLNN_ERR_RUNTIME_ERROR, "107002", [](OpArguments&) {}});
    }).join();
}

// A number of 8 bytes per core, whatever the batch.
TEST_F(FlashInferCallTest, TheWorkspaceIsPerCore) {
    for (const auto& [soc, bytes] : std::vector<std::pair<std::string, uint64_t>>{
             {"sim:1", 64}, {"sim:8", 64}, {"sim:16", 128}, {"sim:48", 384}}) {
        ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_SOC", soc}}));
        OpBatch batch = support::MakeFlashInferBatch(
            support::MakeFlashInferData(support::MakeBatch(48, 48, 16, 7, 4), 3));
        ASSERT_TRUE(IsOk(batch.Plan()));
        EXPECT_EQ(batch.WorkspaceSize(), bytes + 63) << soc;
        EXPECT_TRUE(IsOk(aclDestroyAclOpExecutor(batch.Executor())));
    }
}

TEST_F(FlashInferCallTest, TheWorkspaceIsChecked) {
    OpBatch batch = MakeBatch();
    const support::DeviceBuffer workspace(4096);
    ASSERT_TRUE(IsOk(batch.Plan()));
    EXPECT_TRUE(IsError(kInvalid,
                        aclnnAdvanceStepFlashInfer(workspace.Get(), batch.WorkspaceSize() - 1,
                                                   batch.Executor(), nullptr),
                        {"workspaceSize"}));
    ASSERT_TRUE(IsOk(batch.Plan()));
    EXPECT_TRUE(IsError(ACLNN_ERR_RUNTIME_ERROR,
                        aclnnAdvanceStepFlashInfer(workspace.At(4000), batch.WorkspaceSize(),
                                                   batch.Executor(), nullptr),
                        {"workspace", "107000"}));
    EXPECT_TRUE(batch.IsUntouched());
}

TEST_F(FlashInferCallTest, QueriesAndPaddingAreCounted) {
    OpBatch batch = MakeBatch();
    ASSERT_TRUE(IsOk(batch.Run(nullptr)));
    AdvStepCounters counters{};
    ASSERT_TRUE(IsOk(advstepReadCounters(0, &counters)));
    EXPECT_EQ(counters.advanced, 90U);
    EXPECT_EQ(counters.padded, 10U);
}

TEST_F(FlashInferCallTest, ExecutorsAreOfOneOperator) {
    OpBatch batch = MakeBatch();
    ASSERT_TRUE(IsOk(batch.Plan()));
    EXPECT_TRUE(IsError(kInvalid, aclnnAdvanceStep(nullptr, 0, batch.Executor(), nullptr),
                        {"planned for aclnnAdvanceStepFlashInfer"}));
    EXPECT_TRUE(
        IsError(kNull, aclnnAdvanceStepFlashInfer(nullptr, 0, nullptr, nullptr), {"executor"}));
}

}  // namespace
}  // namespace flashinfer_plan
