// SPDX-License-Identifier: Apache-2.0
// Phase one of AdvanceStep: null, dtypes and formats, and which refusal comes first.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "conformance/plan_cases.h"
#include "support/runtime_test.h"
#include "support/table.h"

namespace {

using namespace conformance;
using support::IsOk;

class PlanTest : public support::DeviceTest, public testing::WithParamInterface<PlanCase> {};
class VllmPlanTest : public PlanTest {};
class ExactPlanTest : public PlanTest {};

TEST_P(PlanTest, Standard) { Expect(GetParam()); }

TEST_P(VllmPlanTest, Vllm) {
    ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_CONFORMANCE", "vllm"}}));
    Expect(GetParam());
}

TEST_P(ExactPlanTest, Exact) {
    ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_CONFORMANCE", "exact"}}));
    Expect(GetParam());
}

std::vector<PlanCase> NullCases() {
    std::vector<PlanCase> cases;
    for (size_t i = 0; i < 6; ++i) {
        const std::string name = support::kTensorNames[i];
        cases.push_back(
            {"No" + Capital(i), kNull, name, [i](Arguments& a) { a.isNull[i] = true; }});
        cases.push_back({"NoneFrom" + Capital(i), kNull, name, [i](Arguments& a) {
                             for (size_t later = i; later < 6; ++later) {
                                 a.isNull[later] = true;
                             }
                         }});
    }
    cases.push_back({"NoWorkspaceSize", kNull, "workspaceSize",
                     [](Arguments& a) { a.hasWorkspaceSize = false; }});
    cases.push_back({"NoExecutor", kNull, "executor", [](Arguments& a) { a.hasExecutor = false; }});
    return cases;
}

// Each line of the table of errors before the next one.
std::vector<PlanCase> OrderCases() {
    return {
        {"TensorBeforeOutput", kNull, "blockTables",
         [](Arguments& a) {
             a.isNull[kBlockTables] = true;
             a.hasWorkspaceSize = a.hasExecutor = false;
         }},
        {"OutputBeforeDtype", kNull, "executor",
         [](Arguments& a) {
             a.hasExecutor = false;
             a[kInputTokens].dtype = ACL_FLOAT;
         }},
        {"TensorBeforeAll", kNull, "slotMapping",
         [](Arguments& a) {
             a.isNull[kSlotMapping] = true;
             a[kInputTokens].dtype = ACL_FLOAT;
             a.numSeqs = 0;
         }},
        {"DtypeBeforeAttribute", kInvalid, "inputTokens",
         [](Arguments& a) {
             a[kInputTokens].dtype = ACL_FLOAT;
             a.numSeqs = 0;
         }},
        {"DtypeOfTheLastBeforeShapeOfTheFirst", kInvalid, "blockTables",
         [](Arguments& a) {
             a[kBlockTables].dtype = ACL_DOUBLE;
             a[kInputTokens].shape = {5};
         }},
        {"FormatBeforeShape", kInvalid, "slotMapping",
         [](Arguments& a) {
             a[kSlotMapping].format = ACL_FORMAT_NCHW;
             a[kInputTokens].shape = {5};
         }},
        {"LayoutBeforeShape", kInvalid, "slotMapping",
         [](Arguments& a) {
             a[kSlotMapping].strides = {2};
             a[kInputTokens].shape = {5};
         }},
        {"LayoutBeforeAttribute", kInvalid, "blockTables",
         [](Arguments& a) {
             a[kBlockTables].strides = {3, 2};
             a.blockSize = 0;
         }},
        {"ShapeBeforeOverlap", kTiling, "inputPositions",
         [](Arguments& a) {
             a.PlaceApart();
             a[kSeqLens].data = a[kInputTokens].data;
             a[kInputPositions].shape = {5};
         }},
        {"AttributeBeforeOverlap", kTiling, "blockSize",
         [](Arguments& a) {
             a.PlaceApart();
             a[kSeqLens].data = a[kInputTokens].data;
             a.blockSize = 0;
         }},
    };
}

std::vector<PlanCase> DtypeCases() {
    std::vector<PlanCase> cases;
    for (size_t i = 0; i < 6; ++i) {
        const std::string name = support::kTensorNames[i];
        for (const aclDataType dtype : {ACL_FLOAT, ACL_INT16, ACL_UINT64, ACL_DT_UNDEFINED}) {
            cases.push_back({"Dtype" + std::to_string(dtype + 1) + Capital(i), kInvalid, name,
                             [i, dtype](Arguments& a) { a[i].dtype = dtype; }});
        }
        for (const aclFormat format : {ACL_FORMAT_NCHW, ACL_FORMAT_NCL, ACL_FORMAT_UNDEFINED}) {
            cases.push_back({"Format" + std::to_string(format + 1) + Capital(i), kInvalid, name,
                             [i, format](Arguments& a) { a[i].format = format; }});
        }
    }
    return cases;
}

// INT32 for one tensor: which conformance takes it.
std::vector<PlanCase> Int32Cases(const std::vector<size_t>& taken) {
    std::vector<PlanCase> cases;
    for (size_t i = 0; i < 6; ++i) {
        const bool isTaken = std::find(taken.begin(), taken.end(), i) != taken.end();
        cases.push_back({"Int32" + Capital(i), isTaken ? ACLNN_SUCCESS : kInvalid,
                         support::kTensorNames[i], [i](Arguments& a) { a[i].dtype = ACL_INT32; }});
    }
    return cases;
}

INSTANTIATE_TEST_SUITE_P(Null, PlanTest, testing::ValuesIn(NullCases()), support::CaseName());
INSTANTIATE_TEST_SUITE_P(Order, PlanTest, testing::ValuesIn(OrderCases()), support::CaseName());
INSTANTIATE_TEST_SUITE_P(Dtype, PlanTest, testing::ValuesIn(DtypeCases()), support::CaseName());
INSTANTIATE_TEST_SUITE_P(Int32, PlanTest, testing::ValuesIn(Int32Cases({kBlockTables})),
                         support::CaseName());
INSTANTIATE_TEST_SUITE_P(Int32, ExactPlanTest, testing::ValuesIn(Int32Cases({kBlockTables})),
                         support::CaseName());
INSTANTIATE_TEST_SUITE_P(Int32, VllmPlanTest,
                         testing::ValuesIn(Int32Cases({kSeqLens, kSlotMapping, kBlockTables})),
                         support::CaseName());

class PlanContextTest : public support::DeviceTest {};

TEST_F(PlanContextTest, NeedsACurrentContext) {
    std::thread([] { Expect({"", ACLNN_ERR_RUNTIME_ERROR, "107002", [](Arguments&) {}}); }).join();
}

TEST_F(PlanContextTest, WorksInEveryContext) {
    aclrtContext context = nullptr;
    ASSERT_TRUE(IsOk(aclrtCreateContext(&context, 1)));
    Expect({"", ACLNN_SUCCESS, "", [](Arguments&) {}});
    EXPECT_TRUE(IsOk(aclrtDestroyContext(context)));
}

}  // namespace
