#include "op_host/common/tensor_check.h"

#include <gtest/gtest.h>

#include <limits>

#include "aclnn/acl_meta.h"
#include "op_host/common/error_codes.h"
#include "support/table.h"
#include "unit/op_host/params_bench.h"
#include "unit/status_check.h"

namespace advstep {
namespace {

using unit::FailsWith;
using unit::OwnedView;
using unit::Succeeds;

static_assert(kParamInvalid == ACLNN_ERR_PARAM_INVALID &&
              kTilingError == ACLNN_ERR_INNER_TILING_ERROR);

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

TEST(TensorCheckTest, DataTypeIsOneOfThese) {
    OwnedView tensor({4});
    EXPECT_TRUE(Succeeds(CheckDataType(tensor.View(), "seqLens", {ACL_INT64})));
    tensor.dataType = ACL_INT32;
    EXPECT_TRUE(Succeeds(CheckDataType(tensor.View(), "seqLens", {ACL_INT64, ACL_INT32})));
    EXPECT_TRUE(FailsWith(kParamInvalid, CheckDataType(tensor.View(), "seqLens", {ACL_INT64}),
                          {"seqLens has dtype ACL_INT32; expected ACL_INT64"}));
    tensor.dataType = ACL_BF16;
    EXPECT_TRUE(FailsWith(kParamInvalid,
                          CheckDataType(tensor.View(), "seqLens", {ACL_INT64, ACL_INT32}),
                          {"seqLens has dtype ACL_BF16; expected ACL_INT64 or ACL_INT32"}));
}

TEST(TensorCheckTest, FormatIsNd) {
    OwnedView tensor({4});
    EXPECT_TRUE(Succeeds(CheckFormat(tensor.View(), "seqLens")));
    tensor.format = ACL_FORMAT_NCHW;
    EXPECT_TRUE(FailsWith(kParamInvalid, CheckFormat(tensor.View(), "seqLens"),
                          {"seqLens has format ACL_FORMAT_NCHW; expected ACL_FORMAT_ND"}));
}

struct LayoutCase {
    const char* name;
    std::vector<int64_t> dims;
    std::vector<int64_t> strides;
    int64_t offset;
    bool contiguous;      // passes CheckContiguous
    bool contiguousRows;  // passes CheckContiguousRows
};

class LayoutCheckTest : public testing::TestWithParam<LayoutCase> {};

TEST_P(LayoutCheckTest, TellsGaps) {
    OwnedView tensor;
    tensor.dims = GetParam().dims;
    tensor.strides = GetParam().strides;
    tensor.offset = GetParam().offset;
    const Status whole = CheckContiguous(tensor.View(), "blockTables");
    EXPECT_EQ(whole.code(), GetParam().contiguous ? 0 : kParamInvalid) << whole.message();
    const Status rows = CheckContiguousRows(tensor.View(), "blockTables");
    EXPECT_EQ(rows.code(), GetParam().contiguousRows ? 0 : kParamInvalid) << rows.message();
}

INSTANTIATE_TEST_SUITE_P(
    Table, LayoutCheckTest,
    testing::Values(LayoutCase{"Row", {5}, {1}, 0, true, true},
                    LayoutCase{"RowWithOffset", {5}, {1}, 7, true, true},
                    LayoutCase{"RowWithGaps", {5}, {2}, 0, false, false},
                    LayoutCase{"NegativeOffset", {5}, {1}, -1, false, false},
                    LayoutCase{"OffsetBeyondMemory", {5}, {1}, kMost, false, false},
                    LayoutCase{"Matrix", {3, 4}, {4, 1}, 2, true, true},
                    LayoutCase{"MatrixRowsApart", {3, 4}, {9, 1}, 2, false, true},
                    LayoutCase{"MatrixNegativeOffset", {3, 4}, {4, 1}, -2, false, false},
                    LayoutCase{"MatrixRowsShared", {3, 4}, {3, 1}, 0, false, false},
                    LayoutCase{"MatrixRowsBackwards", {3, 4}, {-4, 1}, 0, false, false},
                    LayoutCase{"MatrixRowRepeated", {3, 4}, {0, 1}, 0, false, false},
                    LayoutCase{"MatrixInnerGaps", {3, 4}, {8, 2}, 0, false, false},
                    LayoutCase{"MatrixTransposed", {3, 4}, {1, 3}, 0, false, false},
                    LayoutCase{"OneRowAnyStride", {1, 4}, {-9, 1}, 0, true, true},
                    LayoutCase{"OneColumnAnyInnerStride", {3, 1}, {5, 77}, 0, false, true},
                    LayoutCase{"RowsTooFarApart", {3, 4}, {int64_t{1} << 58, 1}, 0, false, false},
                    LayoutCase{"CubeWithGaps", {2, 3, 4}, {100, 4, 1}, 0, false, false},
                    LayoutCase{"Cube", {2, 3, 4}, {12, 4, 1}, 0, true, true}),
    support::CaseName());

// More entries than any memory holds: their bytes do not fit 64 bits.
TEST(TensorCheckTest, OneRowOfTooManyEntriesIsRefused) {
    const OwnedView tensor({1, int64_t{1} << 61});
    EXPECT_TRUE(FailsWith(kParamInvalid, CheckContiguousRows(tensor.View(), "blockTables")));
}

TEST(TensorCheckTest, LayoutMessagesShowShapeAndStrides) {
    OwnedView tensor({3, 4});
    tensor.strides = {3, 1};
    EXPECT_TRUE(FailsWith(kParamInvalid, CheckContiguous(tensor.View(), "seqLens"),
                          {"seqLens has shape [3, 4] and strides [3, 1]; expected it contiguous"}));
    EXPECT_TRUE(FailsWith(kParamInvalid, CheckContiguousRows(tensor.View(), "blockTables"),
                          {"blockTables has shape [3, 4] and strides [3, 1]", "at least 4 apart"}));
    tensor.offset = -6;
    EXPECT_TRUE(FailsWith(kParamInvalid, CheckContiguous(tensor.View(), "seqLens"),
                          {"seqLens has view offset -6"}));
}

TEST(TensorCheckTest, ShapeIsOneOfThese) {
    const ExpectedShape row{"[numSeqs]", {4}};
    const ExpectedShape column{"[numSeqs, 1]", {4, 1}};
    for (const std::vector<int64_t>& dims : {std::vector<int64_t>{4}, {4, 1}}) {
        EXPECT_TRUE(Succeeds(CheckShape(OwnedView(dims).View(), "seqLens", {row, column})));
    }
    for (const std::vector<int64_t>& dims :
         {std::vector<int64_t>{}, {3}, {5}, {1, 4}, {4, 2}, {4, 1, 1}, {0}, {-4}}) {
        EXPECT_TRUE(
            FailsWith(kTilingError, CheckShape(OwnedView(dims).View(), "seqLens", {row, column}),
                      {"seqLens has shape " + ShapeText(dims) + "; expected [numSeqs] = [4]"}));
    }
}

TEST(TensorCheckTest, AnyDimIsAtLeastOne) {
    const ExpectedShape table{"[numSeqs, maxBlocks]", {4, ExpectedShape::kAny}};
    for (const int64_t maxBlocks : {int64_t{1}, int64_t{2}, int64_t{1} << 40}) {
        EXPECT_TRUE(Succeeds(CheckShape(OwnedView({4, maxBlocks}).View(), "blockTables", {table})));
    }
    for (const int64_t maxBlocks : {0, -1, -7}) {
        EXPECT_TRUE(FailsWith(kTilingError,
                              CheckShape(OwnedView({4, maxBlocks}).View(), "blockTables", {table}),
                              {"expected [numSeqs, maxBlocks] = [4, >= 1]"}));
    }
}

}  // namespace
}  // namespace advstep
