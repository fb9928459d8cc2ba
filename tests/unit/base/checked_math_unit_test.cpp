// SPDX-License-Identifier: Apache-2.0
// Tests of checked arithmetic: rounding and overflow.

#include "src/base/checked_math.h"

#include <gtest/gtest.h>

#include <limits>

#include "support/table.h"

namespace advstep {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

struct CeilDivCase {
    const char* name;
    int64_t a, b, result;
};

class CeilDivTest : public testing::TestWithParam<CeilDivCase> {};

TEST_P(CeilDivTest, RoundsUp) { EXPECT_EQ(CeilDiv(GetParam().a, GetParam().b), GetParam().result); }

INSTANTIATE_TEST_SUITE_P(Table, CeilDivTest,
                         testing::Values(CeilDivCase{"Zero", 0, 5, 0}, CeilDivCase{"Less", 1, 5, 1},
                                         CeilDivCase{"Even", 10, 5, 2},
                                         CeilDivCase{"OneMore", 11, 5, 3},
                                         CeilDivCase{"OneLess", 9, 5, 2},
                                         CeilDivCase{"ByOne", kMost, 1, kMost},
                                         CeilDivCase{"MostByTwo", kMost, 2, kMost / 2 + 1},
                                         CeilDivCase{"ByMost", kMost - 1, kMost, 1}),
                         support::CaseName());

struct ProductCase {
    const char* name;
    int64_t a, b;
    bool fits;
};

class CheckedMulTest : public testing::TestWithParam<ProductCase> {};

TEST_P(CheckedMulTest, TellsOverflow) {
    const ProductCase& c = GetParam();
    int64_t product = 0;
    ASSERT_EQ(CheckedMul(c.a, c.b, &product), c.fits);
    if (c.fits) {
        EXPECT_EQ(product, c.a * c.b);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Table, CheckedMulTest,
    testing::Values(ProductCase{"Small", 6, 7, true}, ProductCase{"Negative", -6, 7, true},
                    ProductCase{"Zero", 0, kMost, true}, ProductCase{"MostAndOne", kMost, 1, true},
                    ProductCase{"MostAndTwo", kMost, 2, false},
                    ProductCase{"LeastAndMinusOne", kLeast, -1, false},
                    ProductCase{"LeastAndOne", kLeast, 1, true},
                    ProductCase{"Roots", int64_t{1} << 31, int64_t{1} << 31, true},
                    ProductCase{"OverRoots", int64_t{1} << 32, int64_t{1} << 31, false}),
    support::CaseName());

}  // namespace
}  // namespace advstep
