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

struct ArithmeticCase {
    const char* name;
    int64_t a, b;
    bool productFits, sumFits;
};

class CheckedArithmeticTest : public testing::TestWithParam<ArithmeticCase> {};

TEST_P(CheckedArithmeticTest, TellsOverflow) {
    const ArithmeticCase& c = GetParam();
    int64_t product = 0;
    ASSERT_EQ(CheckedMul(c.a, c.b, &product), c.productFits);
    int64_t sum = 0;
    ASSERT_EQ(CheckedAdd(c.a, c.b, &sum), c.sumFits);
    if (c.productFits) {
        EXPECT_EQ(product, c.a * c.b);
    }
    if (c.sumFits) {
        EXPECT_EQ(sum, c.a + c.b);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Table, CheckedArithmeticTest,
    testing::Values(ArithmeticCase{"Small", 6, 7, true, true},
                    ArithmeticCase{"Negative", -6, 7, true, true},
                    ArithmeticCase{"Zero", 0, kMost, true, true},
                    ArithmeticCase{"MostAndOne", kMost, 1, true, false},
                    ArithmeticCase{"MostAndTwo", kMost, 2, false, false},
                    ArithmeticCase{"LeastAndMinusOne", kLeast, -1, false, false},
                    ArithmeticCase{"LeastAndOne", kLeast, 1, true, true},
                    ArithmeticCase{"Roots", int64_t{1} << 31, int64_t{1} << 31, true, true},
                    ArithmeticCase{"OverRoots", int64_t{1} << 32, int64_t{1} << 31, false, true}),
    support::CaseName());

}  // namespace
}  // namespace advstep
