// SPDX-License-Identifier: Apache-2.0
// Tests of tensor views: gaps, overlaps, spans, shapes as text.

#include "src/base/tensor_view.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "support/table.h"

namespace advstep {
namespace {

struct LayoutCase {
    const char* name;
    std::vector<int64_t> dims;
    std::vector<int64_t> strides;
    bool contiguous;
};

class IsContiguousTest : public testing::TestWithParam<LayoutCase> {};

TEST_P(IsContiguousTest, TellsGaps) {
    TensorView view;
    view.rank = static_cast<int64_t>(GetParam().dims.size());
    view.dims = GetParam().dims.data();
    view.strides = GetParam().strides.data();
    EXPECT_EQ(IsContiguous(view), GetParam().contiguous);
}

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

INSTANTIATE_TEST_SUITE_P(
    Table, IsContiguousTest,
    testing::Values(LayoutCase{"Scalar", {}, {}, true}, LayoutCase{"Row", {5}, {1}, true},
                    LayoutCase{"RowEverySecond", {5}, {2}, false},
                    LayoutCase{"RowBackwards", {5}, {-1}, false},
                    LayoutCase{"RowRepeated", {5}, {0}, false},
                    LayoutCase{"OneElementAnyStride", {1}, {99}, true},
                    LayoutCase{"Matrix", {3, 4}, {4, 1}, true},
                    LayoutCase{"MatrixPadded", {3, 4}, {5, 1}, false},
                    LayoutCase{"MatrixTransposed", {3, 4}, {1, 3}, false},
                    LayoutCase{"ColumnAnyInnerStride", {3, 1}, {1, 7}, true},
                    LayoutCase{"ColumnApart", {3, 1}, {2, 1}, false},
                    LayoutCase{"OneRowAnyOuterStride", {1, 4}, {100, 1}, true},
                    LayoutCase{"Cube", {2, 3, 4}, {12, 4, 1}, true},
                    LayoutCase{"CubeGapInside", {2, 3, 4}, {15, 5, 1}, false},
                    LayoutCase{"MoreElementsThanFit", {4, kHuge}, {kHuge, 1}, false},
                    LayoutCase{"Empty", {0}, {5}, true},
                    LayoutCase{"EmptyRows", {3, 0}, {1, 1}, true},
                    LayoutCase{"EmptyInside", {2, 0, 4}, {4, 4, 1}, true},
                    LayoutCase{"EmptyAndHuge", {4, kHuge, 0}, {1, 1, 1}, true}),
    support::CaseName());

// The rule by definition: the sets of bytes have one in common.
bool ShareAByte(int64_t begin, int64_t bytes, int64_t address, const MemoryExtent& extent) {
    std::set<int64_t> first;
    for (int64_t byte = 0; byte < bytes; ++byte) {
        first.insert(begin + byte);
    }
    for (int64_t row = 0; row < extent.rows; ++row) {
        for (int64_t byte = 0; byte < extent.rowBytes; ++byte) {
            if (first.count(address + row * extent.strideBytes + byte) > 0) {
                return true;
            }
        }
    }
    return false;
}

TEST(OverlapsTest, AgreesWithTheSetsOfBytes) {
    uint8_t memory[64] = {};
    const MemoryExtent extents[] = {{1, 6, 6}, {3, 4, 4}, {3, 4, 7}, {2, 1, 9}, {4, 2, 3}};
    int64_t overlapping = 0;
    int64_t apart = 0;
    for (const MemoryExtent& extent : extents) {
        for (int64_t address = 0; address <= 30; ++address) {
            for (int64_t bytes = 1; bytes <= 12; ++bytes) {
                const int64_t begin = 15;
                const bool expected = ShareAByte(begin, bytes, address, extent);
                ++(expected ? overlapping : apart);
                EXPECT_EQ(Overlaps(memory + begin, bytes, memory + address, extent), expected)
                    << bytes << " bytes at " << begin << ", runs of " << extent.rowBytes
                    << " every " << extent.strideBytes << " at " << address;
            }
        }
    }
    EXPECT_GT(overlapping, 100);
    EXPECT_GT(apart, 100);
}

TEST(OverlapsTest, NothingOverlapsNothing) {
    uint8_t memory[8] = {};
    EXPECT_FALSE(Overlaps(memory, 0, memory, {1, 8, 8}));
    EXPECT_FALSE(Overlaps(memory, 8, memory, {0, 8, 8}));
    EXPECT_FALSE(Overlaps(memory, 8, memory, {3, 0, 8}));
    EXPECT_TRUE(Overlaps(memory, 8, memory, {1, 8, 8}));
}

TEST(MemoryExtentTest, SpansFromTheFirstByteToTheEndOfTheLastRun) {
    EXPECT_EQ((MemoryExtent{1, 24, 24}).spanBytes(), 24);
    EXPECT_EQ((MemoryExtent{3, 8, 20}).spanBytes(), 48);
    EXPECT_EQ((MemoryExtent{0, 8, 20}).spanBytes(), 0);
    EXPECT_EQ((MemoryExtent{3, 0, 20}).spanBytes(), 0);
}

TEST(TensorViewTest, FirstElementIsOffsetItemsIn) {
    uint8_t memory[64] = {};
    TensorView view;
    view.offset = 3;
    view.itemSize = 8;
    EXPECT_EQ(view.first(), nullptr);
    view.data = memory;
    EXPECT_EQ(view.first(), memory + 24);
}

TEST(ShapeTextTest, IsAListInBrackets) {
    EXPECT_EQ(ShapeText({}), "[]");
    EXPECT_EQ(ShapeText({4}), "[4]");
    EXPECT_EQ(ShapeText({4, -2, 9}), "[4, -2, 9]");
}

}  // namespace
}  // namespace advstep
