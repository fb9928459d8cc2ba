// SPDX-License-Identifier: Apache-2.0
// Phase one of AdvanceStepV2, and calls without spec tokens.
#include <gtest/gtest.h>

#include <thread>

#include "advance_step/counters.h"
#include "support/advance_step_batch.h"
#include "support/advance_step_v2_batch.h"
#include "support/batches.h"
#include "support/op_plan_cases.h"
#include "support/runtime_test.h"
#include "support/stderr_capture.h"
#include "support/table.h"

namespace v2_plan {
namespace {

using namespace support;

constexpr size_t kInputTokens = 0, kSampled = 1, kPositions = 2, kSeqLens = 3, kSlots = 4,
                 kTables = 5, kSpec = 6, kAccepted = 7;

// 4 queries with 2 spec tokens, block size 8, 3 blocks each.
OpArguments Valid() {
    OpArguments arguments;
    arguments.tensors = {{{12}}, {{4, 3}}, {{12}}, {{12}}, {{12}}, {{4, 3}}, {{4, 2}}, {{4}}};
    arguments.numSeqs = arguments.numQueries = 4;
    arguments.blockSize = 8;
    return arguments;
}

aclnnStatus PhaseOne(const OpBatch::Tensors& t, const OpArguments& a, uint64_t* workspaceSize,
                     aclOpExecutor** executor) {
    return aclnnAdvanceStepV2GetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7],
                                              a.numSeqs, a.numQueries, a.blockSize, workspaceSize,
                                              executor);
}

void Expect(const OpPlanCase& row, const OpArguments& arguments = Valid()) {
    support::ExpectPlan(row, arguments, "aclnnAdvanceStepV2GetWorkspaceSize: ", &PhaseOne);
}

class V2PlanTest : public support::DeviceTest, public testing::WithParamInterface<OpPlanCase> {};

TEST_P(V2PlanTest, InEveryConformance) {
    for (const char* conformance : {"standard", "vllm", "exact"}) {
        SCOPED_TRACE(conformance);
        ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_CONFORMANCE", conformance}}));
        Expect(GetParam());
    }
}

class V2PlanRulesTest : public support::DeviceTest {};

std::vector<OpPlanCase> OwnCases() {
    support::OpPlanCases cases;
    cases.Attributes("NoSeqs", kTiling, "numSeqs is 0; expected 1 <= numSeqs < 200000000", 0, 0, 8);
    cases.Attributes("NegativeSeqs", kTiling, "numSeqs is -4", -4, -4, 8);
    cases.Attributes("TooManySeqs", kTiling, "numSeqs is 200000000", 200000000, 200000000, 8);
    cases.Attributes("FewerQueries", kTiling, "numQueries is 3; expected numSeqs = 4", 4, 3, 8);
    cases.Attributes("MoreQueries", kTiling, "numQueries is 5; expected numSeqs = 4", 4, 5, 8);
    cases.Attributes("NoBlockSize", kTiling, "blockSize is 0; expected at least 1", 4, 4, 0);
    cases.Attributes("OtherSeqs", kTiling,
                     "specToken has shape [4, 2]; expected [numSeqs, k] = [5, >= 1]", 5, 5, 8);
    cases.Attributes("LargestBlockSize", ACLNN_SUCCESS, "", 4, 4, INT32_MAX);

    cases.Shape("NoSpecTokens", kTiling, kSpec,
                "specToken has shape [4, 0]; expected [numSeqs, k] = [4, >= 1]", {4, 0});
    cases.Shape("SpecOfRank1", kTiling, kSpec, "specToken has shape [8]", {8});
    cases.Shape("MoreSpecTokens", kTiling, kSpec,
                "inputTokens has shape [12]; expected [numSeqs * (k + 1)] = [16]", {4, 3});
    cases.Shape("SampledWithoutBonus", kTiling, kSampled,
                "sampledTokenIds has shape [4, 2]; expected [numSeqs, k + 1] = [4, 3]", {4, 2});
    cases.Shape("SampledFlat", kTiling, kSampled, "sampledTokenIds has shape [12]", {12});
    cases.Shape("AcceptedColumn", kTiling, kAccepted, "acceptedNum has shape [4, 1]", {4, 1});
    cases.Shape("NoColumns", kTiling, kTables, "blockTables has shape [4, 0]", {4, 0});
    for (const auto& [tensor, name] :
         std::vector<std::pair<size_t, std::string>>{{kInputTokens, "inputTokens"},
                                                     {kPositions, "inputPositions"},
                                                     {kSeqLens, "seqLens"},
                                                     {kSlots, "slotMapping"}}) {
        const std::string capital = support::CapitalOf(name);
        cases.Shape(capital + "Transposed", kTiling, tensor, name.c_str(), {3, 4});
        cases.Shape(capital + "Column", kTiling, tensor, name.c_str(), {12, 1});
        cases.Shape(capital + "PerQuery", kTiling, tensor, name.c_str(), {4});
    }
    for (size_t i = 0; i < 8; ++i) {
        cases.Dtype("Int32", i, ACL_INT32, i == kTables, "has dtype ACL_INT32; expected ACL_INT64");
    }
    cases.Add("RowStride", ACLNN_SUCCESS, "", [](OpArguments& a) { a[kTables].strides = {7, 1}; });
    cases.Add("RowStrideTooShort", kInvalid, "blockTables", [](OpArguments& a) {
        a[kTables].strides = {2, 1};
    });
    cases.Add("NullBeforeOutput", kNull, "acceptedNum is null", [](OpArguments& a) {
        a.isNull[kAccepted] = true;
        a.hasExecutor = false;
    });
    cases.Add("FirstNullIsNamed", kNull, "slotMapping is null",
              [](OpArguments& a) { a.isNull[kSlots] = a.isNull[kSpec] = true; });
    cases.Add("DtypeBeforeAttribute", kInvalid, "acceptedNum", [](OpArguments& a) {
        a[kAccepted].dtype = ACL_FLOAT;
        a.numSeqs = 0;
    });
    cases.Add("AttributeBeforeShape", kTiling, "numQueries", [](OpArguments& a) {
        a.numQueries = 2;
        a[kSpec].shape = {9, 9};
    });
    cases.Add("MostSpecTokens", ACLNN_SUCCESS, "", [](OpArguments& a) {
        a.numSeqs = a.numQueries = 1000000;
        a.tensors = {{{129000000}}, {{1000000, 129}}, {{129000000}},    {{129000000}},
                     {{129000000}}, {{1000000, 3}},   {{1000000, 128}}, {{1000000}}};
    });
    return cases.Get();
}

// What a real device refuses: device_shape_test.cpp has conformance exact.
TEST_F(V2PlanRulesTest, MatricesAndLargeBlocksAreTaken) {
    for (const char* conformance : {"standard", "vllm"}) {
        ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_CONFORMANCE", conformance}}));
        Expect({"LargestBlockSize", ACLNN_SUCCESS, "",
                [](OpArguments& a) { a.blockSize = INT64_MAX; }});
        for (const size_t tensor : {kInputTokens, kPositions, kSeqLens, kSlots}) {
            Expect({"Matrix", ACLNN_SUCCESS, "", [=](OpArguments& a) {
                        a[tensor].shape = {4, 3};
                    }});
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Common, V2PlanTest,
                         testing::ValuesIn(support::CommonPlanCases(
                             {"inputTokens", "sampledTokenIds", "inputPositions", "seqLens",
                              "slotMapping", "blockTables", "specToken", "acceptedNum"},
                             {true, false, true, true, true, false, false, false})),
                         support::CaseName());
INSTANTIATE_TEST_SUITE_P(Own, V2PlanTest, testing::ValuesIn(OwnCases()), support::CaseName());

class V2CallTest : public support::DeviceTest {
 protected:
    // AdvanceStep by way of V2's name.
    static aclnnStatus Plan(const support::AdvanceStepBatch& batch, aclOpExecutor** executor) {
        uint64_t workspaceSize = 77;
        const reference::AdvanceStepData& data = batch.Data();
        const aclnnStatus status = aclnnAdvanceStepV2GetWorkspaceSize(
            batch.TensorAt(0), batch.TensorAt(1), batch.TensorAt(2), batch.TensorAt(3),
            batch.TensorAt(4), batch.TensorAt(5), nullptr, nullptr, data.numSeqs, data.numQueries,
            data.blockSize, &workspaceSize, executor);
        EXPECT_EQ(workspaceSize, status == ACLNN_SUCCESS ? 0U : 77U);
        return status;
    }
};

TEST_F(V2CallTest, NeedsACurrentContext) {
    std::thread([] {
        Expect({"", ACLNN_ERR_RUNTIME_ERROR, "107002", [](OpArguments&) {}});
    }).join();
}

TEST_F(V2CallTest, WithoutSpecTokensIsAdvanceStep) {
    for (const std::string conformance : {"standard", "vllm", "exact"}) {
        SCOPED_TRACE(conformance);
        ASSERT_NO_FATAL_FAILURE(
            Restart({{"ADVANCE_STEP_CONFORMANCE", conformance}, {"ADVANCE_STEP_SOC", "sim:40"}}));
        const auto data = support::MakeBatch(90, 60, 16, 7, 4);
        support::AdvanceStepBatch batch(data);
        aclOpExecutor* executor = nullptr;
        ASSERT_TRUE(IsOk(Plan(batch, &executor)));
        ASSERT_TRUE(IsOk(aclnnAdvanceStepV2(nullptr, 0, executor, nullptr)));
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
        EXPECT_TRUE(batch.Holds(conformance == "exact" ? support::AdvancedExactly(data, 40)
                                                       : support::Advanced(data)));
    }
}

TEST_F(V2CallTest, WithoutSpecTokensTheRulesAreAdvanceSteps) {
    aclOpExecutor* executor = nullptr;
    support::AdvanceStepBatch noPadding(support::MakeBatch(3, 3, 16, 7, 4));
    EXPECT_TRUE(IsError(kTiling, Plan(noPadding, &executor),
                        {"aclnnAdvanceStepV2GetWorkspaceSize: numQueries is 3; expected 1 <= "
                         "numQueries < numSeqs = 3"}));
    EXPECT_EQ(executor, nullptr);
    auto data = support::MakeBatch(5, 3, 16, 7, 4);
    data.seqLens[1] = -3;
    support::AdvanceStepBatch bad(data);
    ASSERT_TRUE(IsOk(Plan(bad, &executor)));
    ASSERT_TRUE(IsOk(aclnnAdvanceStepV2(nullptr, 0, executor, nullptr)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, aclrtSynchronizeStream(nullptr),
                        {"aclnnAdvanceStepV2: query 1: seqLens is -3; expected at least 0"}));
    EXPECT_TRUE(bad.IsUntouched());
}

TEST_F(V2CallTest, QueriesAreCountedNotRows) {
    OpBatch batch = support::MakeV2Batch(support::MakeV2Data(9, 4, 8, 3, 1));
    ASSERT_TRUE(IsOk(batch.Run(nullptr)));
    reference::AdvanceStepV2Data data = support::MakeV2Data(9, 4, 8, 3, 1);
    data.sampledTokenIds[0] = -1;
    OpBatch bad = support::MakeV2Batch(data);
    EXPECT_TRUE(support::IsDataError(bad.Run(nullptr), 0));
    AdvStepCounters counters{};
    ASSERT_TRUE(IsOk(advstepReadCounters(0, &counters)));
    EXPECT_EQ(counters.launches, 2U);
    EXPECT_EQ(counters.advanced, 9U);
    EXPECT_EQ(counters.padded, 0U);
    EXPECT_EQ(counters.dataErrors, 1U);
}

// Tensors are counted in signature order, the two of V2 last.
TEST_F(V2CallTest, AddressesCanBeSet) {
    reference::AdvanceStepV2Data data = support::MakeV2Data(9, 4, 8, 3, 1);
    OpBatch batch = support::MakeV2Batch(data);
    const support::DeviceBuffer accepted(std::vector<int64_t>(9, 0));
    data.acceptedNum.assign(9, 0);
    for (int64_t& position : data.inputPositions) {
        position = 3;
    }
    const support::DeviceBuffer positions(data.inputPositions);
    ASSERT_TRUE(IsOk(batch.Plan()));
    ASSERT_TRUE(IsOk(aclSetAclOpExecutorRepeatable(batch.Executor())));
    const support::Tensor any(support::TensorSpec{{1}});
    ASSERT_TRUE(IsOk(aclSetTensorAddr(batch.Executor(), 7, any.Get(), accepted.Get())));
    ASSERT_TRUE(IsOk(aclSetTensorAddr(batch.Executor(), 2, any.Get(), positions.Get())));
    ASSERT_TRUE(IsOk(batch.Launch(nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(positions.Download<int64_t>(), std::vector<int64_t>(45, 4));
    EXPECT_TRUE(IsOk(aclDestroyAclOpExecutor(batch.Executor())));
}

TEST_F(V2CallTest, ExecutorsAreOfOneOperator) {
    support::AdvanceStepBatch batch(support::MakeBatch(5, 3, 16, 7, 4));
    aclOpExecutor* executor = nullptr;
    ASSERT_TRUE(IsOk(Plan(batch, &executor)));
    EXPECT_TRUE(IsError(kInvalid, aclnnAdvanceStep(nullptr, 0, executor, nullptr),
                        {"planned for aclnnAdvanceStepV2"}));
    ASSERT_TRUE(IsOk(batch.Plan()));
    EXPECT_TRUE(IsError(kInvalid, aclnnAdvanceStepV2(nullptr, 0, batch.Executor(), nullptr),
                        {"planned for aclnnAdvanceStep;"}));
    OpBatch v2 = support::MakeV2Batch(support::MakeV2Data(4, 2, 8, 3, 1));
    ASSERT_TRUE(IsOk(v2.Plan()));
    EXPECT_TRUE(IsError(kInvalid, aclnnAdvanceStep(nullptr, 0, v2.Executor(), nullptr),
                        {"planned for aclnnAdvanceStepV2"}));
    EXPECT_TRUE(IsError(kNull, aclnnAdvanceStepV2(nullptr, 0, nullptr, nullptr), {"executor"}));
    EXPECT_TRUE(batch.IsUntouched());
    EXPECT_TRUE(v2.IsUntouched());
}

}  // namespace
}  // namespace v2_plan
