// SPDX-License-Identifier: Apache-2.0
// Tests of checked arithmetic: rounding.

#include <gtest/gtest.h>

#include <limits>

#include "advance_step/operator/plan.hpp"
#include "support/table.h"

namespace advstep {
namespace {

using advance_step::op::CeilDiv;

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

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

}  // namespace
}  // namespace advstep
