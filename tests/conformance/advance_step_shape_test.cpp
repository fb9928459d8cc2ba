// SPDX-License-Identifier: Apache-2.0
// Phase one of AdvanceStep: attributes, shapes, layouts and overlaps.
#include <gtest/gtest.h>

#include "conformance/plan_cases.h"
#include "support/runtime_test.h"
#include "support/table.h"

namespace {

using namespace conformance;

class ShapeTest : public support::DeviceTest, public testing::WithParamInterface<PlanCase> {};
class VllmShapeTest : public ShapeTest {};
class ExactShapeTest : public ShapeTest {};

TEST_P(ShapeTest, Standard) { Expect(GetParam()); }

TEST_P(VllmShapeTest, Vllm) {
    ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_CONFORMANCE", "vllm"}}));
    Expect(GetParam());
}

TEST_P(ExactShapeTest, Exact) {
    ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_CONFORMANCE", "exact"}}));
    Expect(GetParam());
}

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
    return {name, code, part, [=](Arguments& a) { a.Resize(seqs, queries); }};
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
INSTANTIATE_TEST_SUITE_P(Attribute, ShapeTest, testing::ValuesIn(AttributeCases()),
                         support::CaseName());
INSTANTIATE_TEST_SUITE_P(Attribute, VllmShapeTest, testing::ValuesIn(AttributeCases()),
                         support::CaseName());
INSTANTIATE_TEST_SUITE_P(Attribute, ExactShapeTest, testing::ValuesIn(AttributeCases()),
                         support::CaseName());
INSTANTIATE_TEST_SUITE_P(NoPadding, ShapeTest,
                         testing::Values(RowsCase("Refused", kTiling, "numQueries", 4, 4)),
                         support::CaseName());
INSTANTIATE_TEST_SUITE_P(NoPadding, ExactShapeTest,
                         testing::Values(RowsCase("Refused", kTiling, "numQueries", 4, 4)),
                         support::CaseName());
INSTANTIATE_TEST_SUITE_P(NoPadding, VllmShapeTest,
                         testing::Values(RowsCase("Taken", ACLNN_SUCCESS, "", 4, 4),
                                         RowsCase("TakenOne", ACLNN_SUCCESS, "", 1, 1)),
                         support::CaseName());
INSTANTIATE_TEST_SUITE_P(Shape, ShapeTest, testing::ValuesIn(ShapeCases()), support::CaseName());
INSTANTIATE_TEST_SUITE_P(Layout, ShapeTest, testing::ValuesIn(LayoutCases()), support::CaseName());
INSTANTIATE_TEST_SUITE_P(Layout, ExactShapeTest, testing::ValuesIn(LayoutCases()),
                         support::CaseName());
INSTANTIATE_TEST_SUITE_P(Overlap, ShapeTest, testing::ValuesIn(OverlapCases()),
                         support::CaseName());

}  // namespace
