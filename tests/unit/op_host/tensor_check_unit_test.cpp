// SPDX-License-Identifier: Apache-2.0
// Tests of the standard tensor checks and their messages.

#include "advance_step/operator/tensor_check.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "aclnn/acl_meta.h"
#include "src/base/tensor_view.h"
#include "support/table.h"
#include "unit/op_host/params_bench.h"
#include "unit/status_check.h"

namespace advstep {
namespace {

using namespace ::advance_step::op;

using unit::FailsWith;
using unit::OwnedView;
using unit::Succeeds;

static_assert(kParamInvalid == ACLNN_ERR_PARAM_INVALID &&
              kTilingError == ACLNN_ERR_INNER_TILING_ERROR);

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

struct Dim {
    enum : uint8_t { kNone, kOne, kNumSeqs, kMaxBlocks };
};
constexpr int64_t kDims[] = {0, 1, 4, kAtLeastOne};
constexpr int64_t kDimsWithEmpty[] = {0, 1, 4, kAtLeastZero};
constexpr Shapes kColumn = {{"[numSeqs]", Dim::kNumSeqs},
                            {"[numSeqs, 1]", Dim::kNumSeqs, Dim::kOne}};
constexpr Shapes kTable = {{"[numSeqs, maxBlocks]", Dim::kNumSeqs, Dim::kMaxBlocks}};

constexpr TensorArgument Argument(const char* name, const DataTypes& types, const Shapes& shapes,
                                  Layout layout = Layout::kContiguous) {
    return {name, Access::kRead, types, shapes, 0, layout};
}

constexpr TensorArgument kSeqLens = Argument("seqLens", Only(ACL_INT64), kColumn);
constexpr TensorArgument kBlockTables =
    Argument("blockTables", Only(ACL_INT64), kTable, Layout::kContiguousRows);
constexpr TensorArgument kWholeTables = Argument("blockTables", Only(ACL_INT64), kTable);

TEST(TensorCheckTest, DataTypeIsOneOfThese) {
    OwnedView tensor({4});
    constexpr TensorArgument kTwo = Argument("seqLens", Either(ACL_INT64, ACL_INT32), kColumn);
    EXPECT_TRUE(Succeeds(CheckLayout(tensor.View(), kSeqLens, false)));
    EXPECT_TRUE(Succeeds(CheckLayout(tensor.View(), kTwo, false)));
    tensor.dataType = ACL_INT32;
    EXPECT_TRUE(Succeeds(CheckLayout(tensor.View(), kTwo, false)));
    EXPECT_TRUE(FailsWith(kParamInvalid, CheckLayout(tensor.View(), kSeqLens, true),
                          {"seqLens has dtype ACL_INT32; expected ACL_INT64"}));
    tensor.dataType = ACL_BF16;
    EXPECT_TRUE(FailsWith(kParamInvalid, CheckLayout(tensor.View(), kTwo, false),
                          {"seqLens has dtype ACL_BF16; expected ACL_INT64 or ACL_INT32"}));
}

TEST(TensorCheckTest, NarrowTensorsPassOnlyWhereTheCallTakesThem) {
    OwnedView tensor({4});
    constexpr TensorArgument kNarrow = Argument("seqLens", OrNarrow(ACL_INT64, ACL_INT32), kColumn);
    EXPECT_TRUE(Succeeds(CheckLayout(tensor.View(), kNarrow, false)));
    tensor.dataType = ACL_INT32;
    EXPECT_TRUE(Succeeds(CheckLayout(tensor.View(), kNarrow, true)));
    const Status wide = CheckLayout(tensor.View(), kNarrow, false);
    EXPECT_STREQ(wide.message(), "seqLens has dtype ACL_INT32; expected ACL_INT64");
    tensor.dataType = ACL_BF16;
    EXPECT_TRUE(FailsWith(kParamInvalid, CheckLayout(tensor.View(), kNarrow, true),
                          {"expected ACL_INT64 or ACL_INT32"}));
}

TEST(TensorCheckTest, FormatIsNd) {
    OwnedView tensor({4});
    tensor.format = ACL_FORMAT_NCHW;
    EXPECT_TRUE(FailsWith(kParamInvalid, CheckLayout(tensor.View(), kSeqLens, false),
                          {"seqLens has format ACL_FORMAT_NCHW; expected ACL_FORMAT_ND"}));
}

struct LayoutCase {
    const char* name;
    std::vector<int64_t> dims;
    std::vector<int64_t> strides;
    int64_t offset;
    bool contiguous;      // passes Layout::kContiguous
    bool contiguousRows;  // passes Layout::kContiguousRows
};

class LayoutCheckTest : public testing::TestWithParam<LayoutCase> {};

TEST_P(LayoutCheckTest, TellsGaps) {
    OwnedView tensor;
    tensor.dims = GetParam().dims;
    tensor.strides = GetParam().strides;
    tensor.offset = GetParam().offset;
    const Status whole = CheckLayout(tensor.View(), kWholeTables, false);
    EXPECT_EQ(whole.code(), GetParam().contiguous ? 0 : kParamInvalid) << whole.message();
    const Status rows = CheckLayout(tensor.View(), kBlockTables, false);
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
    EXPECT_TRUE(FailsWith(kParamInvalid, CheckLayout(tensor.View(), kBlockTables, false)));
}

TEST(TensorCheckTest, LayoutMessagesShowShapeAndStrides) {
    OwnedView tensor({3, 4});
    tensor.strides = {3, 1};
    EXPECT_TRUE(FailsWith(kParamInvalid, CheckLayout(tensor.View(), kSeqLens, false),
                          {"seqLens has shape [3, 4] and strides [3, 1]; expected it contiguous"}));
    EXPECT_TRUE(FailsWith(kParamInvalid, CheckLayout(tensor.View(), kBlockTables, false),
                          {"blockTables has shape [3, 4] and strides [3, 1]", "rows 4 to "}));
    tensor.strides = {int64_t{1} << 58, 1};
    EXPECT_TRUE(FailsWith(kParamInvalid, CheckLayout(tensor.View(), kBlockTables, false),
                          {"strides [288230376151711744, 1]; expected an inner stride of 1 and "
                           "rows 4 to 24019198012642645 apart"}));
    tensor.offset = -6;
    EXPECT_TRUE(FailsWith(kParamInvalid, CheckLayout(tensor.View(), kSeqLens, false),
                          {"seqLens has view offset -6"}));
}

// A view that is known to be contiguous is not looked at again.
TEST(TensorCheckTest, KnownBytesPass) {
    const OwnedView tensor({4});
    TensorView view = tensor.View();
    const int64_t gaps[] = {2};
    view.strides = gaps;
    EXPECT_TRUE(FailsWith(kParamInvalid, CheckLayout(view, kSeqLens, false)));
    view.packedBytes = 32;
    EXPECT_TRUE(Succeeds(CheckLayout(view, kSeqLens, false)));
}

TEST(TensorCheckTest, ShapeIsOneOfThese) {
    for (const std::vector<int64_t>& dims : {std::vector<int64_t>{4}, {4, 1}}) {
        EXPECT_TRUE(Succeeds(CheckShape(OwnedView(dims).View(), kSeqLens, kDims)));
    }
    for (const std::vector<int64_t>& dims :
         {std::vector<int64_t>{}, {3}, {5}, {1, 4}, {4, 2}, {4, 1, 1}, {0}, {-4}}) {
        EXPECT_TRUE(
            FailsWith(kTilingError, CheckShape(OwnedView(dims).View(), kSeqLens, kDims),
                      {"seqLens has shape " + ShapeText(dims) + "; expected [numSeqs] = [4]"}));
    }
}

TEST(TensorCheckTest, DimsMayHaveALeastValue) {
    for (const int64_t maxBlocks : {int64_t{1}, int64_t{2}, int64_t{1} << 40}) {
        EXPECT_TRUE(Succeeds(CheckShape(OwnedView({4, maxBlocks}).View(), kBlockTables, kDims)));
    }
    for (const int64_t maxBlocks : {0, -1, -7}) {
        EXPECT_TRUE(FailsWith(kTilingError,
                              CheckShape(OwnedView({4, maxBlocks}).View(), kBlockTables, kDims),
                              {"expected [numSeqs, maxBlocks] = [4, >= 1]"}));
    }
    EXPECT_TRUE(Succeeds(CheckShape(OwnedView({4, 0}).View(), kBlockTables, kDimsWithEmpty)));
    EXPECT_TRUE(FailsWith(kTilingError,
                          CheckShape(OwnedView({4, -1}).View(), kBlockTables, kDimsWithEmpty),
                          {"expected [numSeqs, maxBlocks] = [4, >= 0]"}));
}

constexpr Signature<2> kTwoTensors = {{kSeqLens, kBlockTables}};

TEST(TensorCheckTest, FirstOfTheSignatureIsNamed) {
    const OwnedView lengths({3});
    OwnedView table({5, 2});
    table.strides = {1, 1};
    TensorView views[] = {lengths.View(), table.View()};
    EXPECT_TRUE(FailsWith(kParamInvalid, CheckLayouts<kTwoTensors>(views), {"blockTables has"}));
    views[0].format = ACL_FORMAT_NC;
    EXPECT_TRUE(FailsWith(kParamInvalid, CheckLayouts<kTwoTensors>(views), {"seqLens has"}));
    constexpr CallDims<4> kValues = {0, 1, 3, kAtLeastOne};
    EXPECT_TRUE(
        FailsWith(kTilingError, CheckShapes<kTwoTensors>(views, kValues), {"blockTables has"}));
    EXPECT_TRUE(FailsWith(kTilingError, CheckShapes<kTwoTensors>(views, CallDims<4>{0, 1, 2, 2}),
                          {"seqLens has"}));
}

TEST(SignatureTest, FindsPlacesByName) {
    static_assert(PlaceOf(kTwoTensors, "seqLens") == 0 && PlaceOf(kTwoTensors, "blockTables") == 1);
    EXPECT_THROW(PlaceOf(kTwoTensors, "slotMapping"), std::out_of_range);
    static_assert(BeginsWith(kTwoTensors, Signature<1>{{kSeqLens}}));
    static_assert(!BeginsWith(kTwoTensors, Signature<1>{{kBlockTables}}));
}

}  // namespace
}  // namespace advstep
