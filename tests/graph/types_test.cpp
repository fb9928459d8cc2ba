// SPDX-License-Identifier: Apache-2.0
// The values of graph mode: strings, shapes, descriptions, tensors.
#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "graph/ge_error_codes.h"
#include "graph/tensor.h"

namespace {

using ge::AscendString;
using ge::Shape;
using ge::Tensor;
using ge::TensorDesc;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

TEST(AscendStringTest, HoldsBytes) {
    EXPECT_STREQ(AscendString().GetString(), "");
    EXPECT_EQ(AscendString().GetLength(), 0U);
    EXPECT_STREQ(AscendString(nullptr).GetString(), "");
    EXPECT_EQ(AscendString(nullptr, 3).GetLength(), 0U);
    const AscendString implicit = "text";
    EXPECT_STREQ(implicit.GetString(), "text");
    const AscendString cut("a\0b", 3);
    EXPECT_EQ(cut.GetLength(), 3U);
    EXPECT_EQ(cut.GetString()[2], 'b');
    EXPECT_NE(cut, AscendString("a"));
}

TEST(AscendStringTest, OrdersLikeText) {
    const AscendString a("a");
    const AscendString b("b");
    EXPECT_TRUE(a < b && b > a && a <= b && b >= a && a != b);
    EXPECT_TRUE(a <= a && a >= a && a == AscendString("a"));
    EXPECT_FALSE(a < a || a > a || b < a || b <= a || a >= b || a == b || a != a);
    std::map<AscendString, int> counts = {{"one", 1}, {"two", 2}};
    EXPECT_EQ(counts["one"], 1);
    EXPECT_EQ(counts.count("three"), 0U);
}

// Bytes, or 1000 and bits, of each data type by its number.
TEST(DataTypeTest, Sizes) {
    const int sizes[] = {4,    2,    1,    4, 1, -1, 2, 2, 4,    8,    8,    8,    1,   -1, 1,
                         1,    8,    16,   1, 2, 4,  1, 2, 8,    -1,   5,    8,    2,   -1, 1004,
                         1001, 1002, 1002, 4, 1, 1,  1, 1, 1006, 1006, 1004, 1004, 1004};
    for (int type = 0; type < ge::DT_MAX; ++type) {
        EXPECT_EQ(ge::GetSizeByDataType(static_cast<ge::DataType>(type)), sizes[type]) << type;
    }
    EXPECT_EQ(ge::GetSizeByDataType(ge::DT_MAX), -1);
    EXPECT_EQ(ge::GetSizeByDataType(static_cast<ge::DataType>(63)), -1);
    EXPECT_EQ(ge::kDataTypeSizeBitOffset, 1000);
}

TEST(DataTypeTest, SizesInBytes) {
    EXPECT_EQ(ge::GetSizeInBytes(3, ge::DT_INT64), 24);
    EXPECT_EQ(ge::GetSizeInBytes(0, ge::DT_FLOAT), 0);
    EXPECT_EQ(ge::GetSizeInBytes(3, ge::DT_INT4), 2);
    EXPECT_EQ(ge::GetSizeInBytes(5, ge::DT_FLOAT6_E2M3), 4);
    EXPECT_EQ(ge::GetSizeInBytes(9, ge::DT_UINT1), 2);
    EXPECT_EQ(ge::GetSizeInBytes(2, ge::DT_DUAL), 10);
    EXPECT_EQ(ge::GetSizeInBytes(kMax, ge::DT_INT8), kMax);
    EXPECT_EQ(ge::GetSizeInBytes(kMax, ge::DT_UINT1), kMax / 8 + 1);
    EXPECT_EQ(ge::GetSizeInBytes(kMax, ge::DT_INT16), -1);
    EXPECT_EQ(ge::GetSizeInBytes(kMax / 8 + 1, ge::DT_INT64), -1);
    EXPECT_EQ(ge::GetSizeInBytes(-1, ge::DT_INT8), -1);
    EXPECT_EQ(ge::GetSizeInBytes(1, ge::DT_STRING), -1);
    EXPECT_EQ(ge::GetSizeInBytes(1, ge::DT_MAX), -1);
}

struct SizeCase {
    std::vector<int64_t> dims;
    int64_t size;
    size_t rank;
};

class ShapeSizeTest : public testing::TestWithParam<SizeCase> {};

TEST_P(ShapeSizeTest, IsTheProduct) {
    const Shape shape(GetParam().dims);
    EXPECT_EQ(shape.GetShapeSize(), GetParam().size);
    EXPECT_EQ(shape.GetDimNum(), GetParam().rank);
    EXPECT_EQ(shape.GetDims(), GetParam().dims);
}

INSTANTIATE_TEST_SUITE_P(Table, ShapeSizeTest,
                         testing::Values(SizeCase{{}, 0, 0}, SizeCase{{7}, 7, 1},
                                         SizeCase{{2, 3, 4}, 24, 3}, SizeCase{{2, 0}, 0, 2},
                                         SizeCase{{2, -1}, -1, 2}, SizeCase{{0, -1}, -1, 2},
                                         SizeCase{{-2}, -1, 0}, SizeCase{{3, -2}, -1, 2},
                                         SizeCase{{kMax}, kMax, 1}, SizeCase{{kMax, 2}, 0, 2},
                                         SizeCase{{kMax, 2, -1}, -1, 3}));

TEST(ShapeTest, Dimensions) {
    Shape shape({5, 6});
    EXPECT_EQ(shape.GetDim(1), 6);
    EXPECT_EQ(shape.GetDim(2), 0);
    EXPECT_EQ(shape.SetDim(1, 9), ge::GRAPH_SUCCESS);
    EXPECT_EQ(shape.SetDim(2, 9), ge::GRAPH_FAILED);
    EXPECT_EQ(shape.GetDims(), (std::vector<int64_t>{5, 9}));
    EXPECT_EQ(Shape().GetDimNum(), 0U);
    EXPECT_EQ(Shape(ge::UNKNOWN_RANK).GetDim(0), 0);
    EXPECT_EQ(Shape(ge::UNKNOWN_SHAPE).GetDim(0), ge::UNKNOWN_DIM);
}

TEST(TensorDescTest, KeepsAShapeRange) {
    std::vector<std::pair<int64_t, int64_t>> range = {{9, 9}};
    TensorDesc desc;
    EXPECT_EQ(desc.GetShapeRange(range), ge::GRAPH_SUCCESS);
    EXPECT_TRUE(range.empty());
    EXPECT_EQ(desc.SetShapeRange({{1, 4}, {8, -1}}), ge::GRAPH_SUCCESS);
    const TensorDesc copy = desc;
    EXPECT_EQ(copy.GetShapeRange(range), ge::GRAPH_SUCCESS);
    EXPECT_EQ(range, (std::vector<std::pair<int64_t, int64_t>>{{1, 4}, {8, -1}}));
}

TEST(TensorDescTest, Defaults) {
    const TensorDesc desc;
    EXPECT_EQ(desc.GetFormat(), ge::FORMAT_ND);
    EXPECT_EQ(desc.GetDataType(), ge::DT_FLOAT);
    EXPECT_EQ(desc.GetPlacement(), ge::kPlacementHost);
    EXPECT_EQ(desc.GetShape().GetDimNum(), 0U);
    EXPECT_EQ(TensorDesc(Shape({2})).GetDataType(), ge::DT_FLOAT);
}

TEST(TensorDescTest, KeepsWhatItIsGiven) {
    TensorDesc desc(Shape({1}), ge::FORMAT_NCHW, ge::DT_INT8);
    desc.SetOriginShape(Shape({2, 2}));
    desc.SetOriginFormat(ge::FORMAT_NHWC);
    desc.SetRealDimCnt(3);
    desc.SetPlacement(ge::kPlacementDevice);
    desc.SetSize(44);
    desc.SetName("name");
    const TensorDesc copy = desc;
    desc.Update(Shape({9}), ge::FORMAT_ND, ge::DT_BOOL);
    desc.SetShape(Shape({8}));
    desc.SetFormat(ge::FORMAT_NCL);
    desc.SetDataType(ge::DT_INT64);
    EXPECT_EQ(copy.GetShape().GetDims(), std::vector<int64_t>{1});
    EXPECT_EQ(copy.GetFormat(), ge::FORMAT_NCHW);
    EXPECT_EQ(copy.GetDataType(), ge::DT_INT8);
    EXPECT_EQ(copy.GetOriginShape().GetDimNum(), 2U);
    EXPECT_EQ(copy.GetOriginFormat(), ge::FORMAT_NHWC);
    EXPECT_EQ(copy.GetRealDimCnt(), 3);
    EXPECT_EQ(copy.GetPlacement(), ge::kPlacementDevice);
    EXPECT_EQ(copy.GetSize(), 44);
    EXPECT_STREQ(copy.GetName().GetString(), "name");
    AscendString name;
    EXPECT_EQ(copy.GetName(name), ge::GRAPH_SUCCESS);
    EXPECT_EQ(name, "name");
    EXPECT_EQ(desc.GetShape().GetDims(), std::vector<int64_t>{8});
    EXPECT_EQ(desc.GetFormat(), ge::FORMAT_NCL);
    EXPECT_EQ(desc.GetDataType(), ge::DT_INT64);
}

const TensorDesc kThreeBytes(Shape({3}), ge::FORMAT_ND, ge::DT_UINT8);

TEST(TensorTest, CopiesItsBytesAtOnce) {
    std::vector<uint8_t> bytes = {1, 2, 3};
    const Tensor fromVector(kThreeBytes, bytes);
    const Tensor fromPointer(kThreeBytes, bytes.data(), bytes.size());
    bytes.assign(3, 0xEE);
    for (const Tensor& tensor : {fromVector, fromPointer}) {
        ASSERT_EQ(tensor.GetSize(), 3U);
        EXPECT_EQ(tensor.GetData()[2], 3);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.GetData()) % 64, 0U);
    }
    EXPECT_EQ(Tensor(kThreeBytes).GetData(), nullptr);
    EXPECT_EQ(Tensor(kThreeBytes, nullptr, 3).GetSize(), 0U);
}

TEST(TensorTest, CopiesShareAndClonesDoNot) {
    Tensor tensor(kThreeBytes, {1, 2, 3});
    Tensor copy = tensor;
    Tensor clone = tensor.Clone();
    copy.GetData()[0] = 9;
    EXPECT_EQ(copy.SetTensorDesc(TensorDesc(Shape({1, 3}))), ge::GRAPH_SUCCESS);
    EXPECT_EQ(tensor.GetData()[0], 9);
    EXPECT_EQ(tensor.GetTensorDesc().GetShape().GetDimNum(), 2U);
    EXPECT_EQ(clone.GetData()[0], 1);
    EXPECT_EQ(clone.GetTensorDesc().GetShape().GetDimNum(), 1U);
    // What GetTensorDesc returns is a copy.
    tensor.GetTensorDesc().SetDataType(ge::DT_BOOL);
    EXPECT_EQ(tensor.GetTensorDesc().GetDataType(), ge::DT_FLOAT);
    // A tensor that was moved from is still one.
    const Tensor moved = std::move(copy);
    EXPECT_EQ(copy.GetSize(), 3U);  // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(moved.GetSize(), 3U);
}

TEST(TensorTest, SetData) {
    Tensor tensor(kThreeBytes, {1, 2, 3});
    EXPECT_EQ(tensor.SetData(nullptr, 2), ge::GRAPH_FAILED);
    EXPECT_EQ(tensor.GetSize(), 3U);
    // A size that disagrees with the shape is accepted here.
    EXPECT_EQ(tensor.SetData(std::vector<uint8_t>{7}), ge::GRAPH_SUCCESS);
    EXPECT_EQ(tensor.GetSize(), 1U);
    EXPECT_EQ(tensor.GetData()[0], 7);
    // Its own bytes.
    EXPECT_EQ(tensor.SetData(tensor.GetData(), 1), ge::GRAPH_SUCCESS);
    EXPECT_EQ(tensor.GetData()[0], 7);
    EXPECT_EQ(tensor.SetData(tensor.GetData(), 0), ge::GRAPH_SUCCESS);
    EXPECT_EQ(tensor.GetSize(), 0U);
}

TEST(TensorTest, TakesOwnership) {
    int deleted = 0;
    const auto deleter = [&deleted](uint8_t* bytes) {
        ++deleted;
        delete[] bytes;
    };
    {
        Tensor copy;
        {
            Tensor tensor(kThreeBytes);
            auto* bytes = new uint8_t[3]{4, 5, 6};
            EXPECT_EQ(tensor.SetData(bytes, 3, deleter), ge::GRAPH_SUCCESS);
            EXPECT_EQ(tensor.GetData(), bytes);
            EXPECT_EQ(tensor.SetData(nullptr, 3, deleter), ge::GRAPH_FAILED);
            copy = tensor;
        }
        EXPECT_EQ(deleted, 0);
        EXPECT_EQ(copy.GetData()[1], 5);
    }
    EXPECT_EQ(deleted, 1);
    uint8_t own[3] = {};
    Tensor tensor(kThreeBytes);
    EXPECT_EQ(tensor.SetData(own, 3, nullptr), ge::GRAPH_SUCCESS);
    EXPECT_EQ(tensor.GetData(), own);
}

}  // namespace
