// SPDX-License-Identifier: Apache-2.0
// Phase one of AdvanceStep: what it refuses, with which code, and which refusal comes first.
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

// Attributes, shapes, layouts and overlaps.

constexpr size_t kVectors[] = {kInputTokens, kInputPositions, kSeqLens, kSlotMapping};

PlanCase AttributeCase(const std::string& name, int code, const std::string& part, int64_t seqs,
                       int64_t queries, int64_t blockSize) {
    return {name, code, part, [=](Arguments& a) {
                a.numSeqs = seqs;
                a.numQueries = queries;
                a.blockSize = blockSize;
            }};
}

PlanCase RowsCase(const std::string& name, int code, const std::string& part, int64_t seqs,
                  int64_t queries) {
    return {name, code, part, [=](Arguments& a) { Resize(a, seqs, queries); }};
}

std::vector<PlanCase> AttributeCases() {
    return {AttributeCase("NoSeqs", kTiling, "numSeqs", 0, 2, 8),
            AttributeCase("NegativeSeqs", kTiling, "numSeqs", -4, 2, 8),
            AttributeCase("LeastSeqs", kTiling, "numSeqs", INT64_MIN, 2, 8),
            AttributeCase("MostSeqs", kTiling, "numSeqs", INT64_MAX, 2, 8),
            AttributeCase("NoQueries", kTiling, "numQueries", 4, 0, 8),
            AttributeCase("NegativeQueries", kTiling, "numQueries", 4, -1, 8),
            AttributeCase("NoBlockSize", kTiling, "blockSize", 4, 2, 0),
            AttributeCase("NegativeBlockSize", kTiling, "blockSize", 4, 2, -8),
            AttributeCase("LargestBlockSize", ACLNN_SUCCESS, "", 4, 2, INT64_MAX),
            AttributeCase("BlockSizeOne", ACLNN_SUCCESS, "", 4, 2, 1),
            AttributeCase("SeqsOfOtherShapes", kTiling, "inputTokens", 5, 2, 8),
            AttributeCase("QueriesOfOtherShapes", kTiling, "sampledTokenIds", 4, 3, 8),
            RowsCase("MoreQueriesThanSeqs", kTiling, "numQueries", 4, 5),
            RowsCase("OneQuery", ACLNN_SUCCESS, "", 2, 1),
            RowsCase("AllButOne", ACLNN_SUCCESS, "", 1000, 999),
            RowsCase("MostRows", ACLNN_SUCCESS, "", 199999999, 5),
            RowsCase("TooManyRows", kTiling, "numSeqs", 200000000, 5),
            RowsCase("FarTooManyRows", kTiling, "numSeqs", 4000000000, 5)};
}

// [numSeqs] or [numSeqs, 1] for vectors, [numQueries, 1] and [numSeqs, maxBlocks] for the others.
std::vector<PlanCase> ShapeCases() {
    std::vector<PlanCase> cases;
    const auto add = [&cases](const std::string& name, int code, size_t tensor,
                              std::vector<int64_t> shape) {
        const std::string tensorName = support::kTensorNames[tensor];
        cases.push_back({name + Capital(tensor), code, tensorName,
                         [=](Arguments& a) { a[tensor].shape = shape; }});
    };
    for (const size_t i : kVectors) {
        add("Scalar", kTiling, i, {});
        add("OneMore", kTiling, i, {5});
        add("OneLess", kTiling, i, {3});
        add("Queries", kTiling, i, {2});
        add("Row", kTiling, i, {1, 4});
        add("TwoColumns", kTiling, i, {4, 2});
        add("ShortColumn", kTiling, i, {3, 1});
        add("Rank3", kTiling, i, {4, 1, 1});
        add("Column", ACLNN_SUCCESS, i, {4, 1});
    }
    add("Rank1", kTiling, kSampledTokenIds, {2});
    add("Scalar", kTiling, kSampledTokenIds, {});
    add("Row", kTiling, kSampledTokenIds, {1, 2});
    add("OneMore", kTiling, kSampledTokenIds, {3, 1});
    add("OneLess", kTiling, kSampledTokenIds, {1, 1});
    add("Seqs", kTiling, kSampledTokenIds, {4, 1});
    add("TwoColumns", kTiling, kSampledTokenIds, {2, 2});
    add("Rank3", kTiling, kSampledTokenIds, {2, 1, 1});
    add("Rank1", kTiling, kBlockTables, {12});
    add("Scalar", kTiling, kBlockTables, {});
    add("OneMore", kTiling, kBlockTables, {5, 3});
    add("OneLess", kTiling, kBlockTables, {3, 3});
    add("Queries", kTiling, kBlockTables, {2, 3});
    add("Rank3", kTiling, kBlockTables, {4, 3, 1});
    add("OneColumn", ACLNN_SUCCESS, kBlockTables, {4, 1});
    add("ManyColumns", ACLNN_SUCCESS, kBlockTables, {4, 10000});
    return cases;
}

std::vector<PlanCase> LayoutCases() {
    std::vector<PlanCase> cases;
    const auto add = [&cases](const std::string& name, int code, size_t tensor,
                              std::vector<int64_t> shape, std::vector<int64_t> strides) {
        const std::string tensorName = support::kTensorNames[tensor];
        cases.push_back({name + Capital(tensor), code, tensorName, [=](Arguments& a) {
                             a[tensor].shape = shape;
                             a[tensor].strides = strides;
                         }});
    };
    for (const size_t i : kVectors) {
        add("Strided", kInvalid, i, {4}, {2});
        add("Repeated", kInvalid, i, {4}, {0});
        add("Backwards", kInvalid, i, {4}, {-1});
        add("StridedColumn", kInvalid, i, {4, 1}, {2, 1});
        add("Plain", ACLNN_SUCCESS, i, {4}, {1});
        add("PlainColumn", ACLNN_SUCCESS, i, {4, 1}, {1, 1});
    }
    add("Strided", kInvalid, kSampledTokenIds, {2, 1}, {2, 1});
    add("Plain", ACLNN_SUCCESS, kSampledTokenIds, {2, 1}, {1, 1});
    add("RowTooShort", kInvalid, kBlockTables, {4, 3}, {2, 1});
    add("RowRepeated", kInvalid, kBlockTables, {4, 3}, {0, 1});
    add("RowBackwards", kInvalid, kBlockTables, {4, 3}, {-3, 1});
    add("InnerStrided", kInvalid, kBlockTables, {4, 3}, {6, 2});
    add("Transposed", kInvalid, kBlockTables, {4, 3}, {1, 4});
    add("RowExact", ACLNN_SUCCESS, kBlockTables, {4, 3}, {3, 1});
    add("RowLonger", ACLNN_SUCCESS, kBlockTables, {4, 3}, {100, 1});
    return cases;
}

// In/out tensors of 32 bytes, sampledTokenIds of 16, blockTables of 96.
std::vector<PlanCase> OverlapCases() {
    std::vector<PlanCase> cases;
    const auto add = [&cases](const std::string& name, int code, size_t moved, size_t onto,
                              int64_t byte) {
        cases.push_back(
            {name + Capital(moved) + "Onto" + Capital(onto), code, "overlap", [=](Arguments& a) {
                 a.PlaceApart();
                 a[moved].data = Arguments::Place(onto, byte);
             }});
    };
    constexpr int64_t bytes[] = {32, 16, 32, 32, 32, 96};
    for (const size_t moved : kVectors) {
        for (size_t onto = 0; onto < 6; ++onto) {
            if (moved == onto) {
                continue;
            }
            add("Same", kInvalid, moved, onto, 0);
            add("LastElement", kInvalid, moved, onto, bytes[onto] - 8);
            add("FirstElement", kInvalid, moved, onto, -24);
            add("Behind", ACLNN_SUCCESS, moved, onto, bytes[onto]);
            add("InFront", ACLNN_SUCCESS, moved, onto, -32);
        }
    }
    add("Inputs", ACLNN_SUCCESS, kSampledTokenIds, kBlockTables, 0);
    cases.push_back({"OffsetsApart", ACLNN_SUCCESS, "", [](Arguments& a) {
                         for (size_t i = 0; i < 6; ++i) {
                             a[i].data = Arguments::Place(0, 0);
                             a[i].offset = static_cast<int64_t>(16 * i);
                         }
                     }});
    cases.push_back({"OffsetsTogether", kInvalid, "overlap", [](Arguments& a) {
                         a.PlaceApart();
                         a[kSeqLens].data = Arguments::Place(kInputTokens, -800);
                         a[kSeqLens].offset = 100;
                     }});
    cases.push_back({"OneAddressUnknown", ACLNN_SUCCESS, "", [](Arguments& a) {
                         a.PlaceApart();
                         a[kSeqLens].data = nullptr;
                     }});
    cases.push_back({"StridedTable", kInvalid, "overlap", [](Arguments& a) {
                         a.PlaceApart();
                         a[kBlockTables].strides = {10, 1};
                         a[kSeqLens].data = Arguments::Place(kBlockTables, 30 * 8);
                     }});
    return cases;
}

// The same rows where the conformances agree; then where they do not.
INSTANTIATE_TEST_SUITE_P(Attribute, PlanTest, testing::ValuesIn(AttributeCases()),
                         support::CaseName());
INSTANTIATE_TEST_SUITE_P(Attribute, VllmPlanTest, testing::ValuesIn(AttributeCases()),
                         support::CaseName());
INSTANTIATE_TEST_SUITE_P(Attribute, ExactPlanTest, testing::ValuesIn(AttributeCases()),
                         support::CaseName());
INSTANTIATE_TEST_SUITE_P(NoPadding, PlanTest,
                         testing::Values(RowsCase("Refused", kTiling, "numQueries", 4, 4)),
                         support::CaseName());
INSTANTIATE_TEST_SUITE_P(NoPadding, ExactPlanTest,
                         testing::Values(RowsCase("Refused", kTiling, "numQueries", 4, 4)),
                         support::CaseName());
INSTANTIATE_TEST_SUITE_P(NoPadding, VllmPlanTest,
                         testing::Values(RowsCase("Taken", ACLNN_SUCCESS, "", 4, 4),
                                         RowsCase("TakenOne", ACLNN_SUCCESS, "", 1, 1)),
                         support::CaseName());
INSTANTIATE_TEST_SUITE_P(Shape, PlanTest, testing::ValuesIn(ShapeCases()), support::CaseName());
INSTANTIATE_TEST_SUITE_P(Layout, PlanTest, testing::ValuesIn(LayoutCases()), support::CaseName());
INSTANTIATE_TEST_SUITE_P(Layout, ExactPlanTest, testing::ValuesIn(LayoutCases()),
                         support::CaseName());
INSTANTIATE_TEST_SUITE_P(Overlap, PlanTest, testing::ValuesIn(OverlapCases()), support::CaseName());

}  // namespace
