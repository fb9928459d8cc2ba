// SPDX-License-Identifier: Apache-2.0
// Tests of interleaved measurement: calibration, turns, quantiles.

#include "tests/benchmark/interleaved.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bench {
namespace {

using testing::ElementsAre;

Side Constant(double nanoseconds) {
    return {[=](int64_t) { return nanoseconds; }};
}

// As many pairs as asked for, whatever the clock says.
Budget Pairs(int64_t pairs) { return {1000, 0, pairs, pairs}; }

TEST(QuartilesTest, InterpolatesBetweenNeighbours) {
    const Quartiles even = QuartilesOf({4, 1, 3, 2});
    EXPECT_DOUBLE_EQ(even.low, 1.75);
    EXPECT_DOUBLE_EQ(even.median, 2.5);
    EXPECT_DOUBLE_EQ(even.high, 3.25);
    const Quartiles one = QuartilesOf({7});
    EXPECT_DOUBLE_EQ(one.low, 7);
    EXPECT_DOUBLE_EQ(one.median, 7);
    EXPECT_DOUBLE_EQ(one.high, 7);
    EXPECT_DOUBLE_EQ(QuartilesOf({}).median, 0);
}

TEST(QuantileTest, IsTheValueThatTheFractionDoesNotExceed) {
    std::vector<double> values;
    for (int value = 100; value >= 1; --value) {
        values.push_back(value);
    }
    EXPECT_DOUBLE_EQ(QuantileOf(values, 0.99), 99);
    EXPECT_DOUBLE_EQ(QuantileOf(values, 0.5), 50);
    EXPECT_DOUBLE_EQ(QuantileOf(values, 0), 1);
    EXPECT_DOUBLE_EQ(QuantileOf(values, 1), 100);
}

TEST(CalibrateTest, FillsABatchWithinTheLimit) {
    EXPECT_EQ(CalibrateRuns(Constant(10), 4000), 400);
    EXPECT_EQ(CalibrateRuns(Constant(9000), 4000), 1);
    Side limited = Constant(10);
    limited.mostRuns = 25;
    EXPECT_EQ(CalibrateRuns(limited, 4000), 25);
    Side fixed = Constant(10);
    fixed.fixedRuns = 7;
    EXPECT_EQ(CalibrateRuns(fixed, 4000), 7);
}

TEST(CalibrateTest, IsNotMisledByAColdStart) {
    int calls = 0;
    const Side cold = {[&](int64_t) { return ++calls == 1 ? 1e6 : 10.0; }};
    EXPECT_EQ(CalibrateRuns(cold, 4000), 400);
}

TEST(InterleaveTest, TakesTurnsAndPairsWhatWasBackToBack) {
    std::string order;
    double machine = 0;  // slows down by 1 with every batch
    const auto side = [&](char name) {
        return Side{[&, name](int64_t) {
                        order += name;
                        return ++machine;
                    },
                    1, 1};
    };
    const Series series = Interleave({side('A'), side('B'), true}, Pairs(3));
    EXPECT_EQ(order, "ABABABAB");  // the first pair is not kept
    EXPECT_THAT(series.library, ElementsAre(3, 5, 7));
    EXPECT_THAT(series.baseline, ElementsAre(4, 6, 8));
}

TEST(InterleaveTest, GivesBothSidesTheSameRunsIfAsked) {
    const Series same = Interleave({Constant(10), Constant(50), true}, Pairs(1));
    EXPECT_EQ(same.libraryRuns, 20);
    EXPECT_EQ(same.baselineRuns, 20);
    const Series own = Interleave({Constant(10), Constant(50), false}, Pairs(1));
    EXPECT_EQ(own.libraryRuns, 100);
    EXPECT_EQ(own.baselineRuns, 20);
}

TEST(InterleaveTest, MeasuresTheLibraryAlone) {
    const Series series = Interleave({Constant(10), {}, true}, Pairs(2));
    EXPECT_THAT(series.library, ElementsAre(10, 10));
    EXPECT_TRUE(series.baseline.empty());
}

TEST(InARowTest, PreparesOnceAndCountsEveryRun) {
    int64_t prepared = 0;
    int64_t done = 0;
    const Side side = InARow([&](int64_t runs) { prepared += runs; }, [&] { ++done; }, 9);
    EXPECT_GE(side.time(5), 0);
    EXPECT_EQ(prepared, 5);
    EXPECT_EQ(done, 5);
    EXPECT_EQ(side.mostRuns, 9);
}

TEST(OneByOneTest, PreparesBeforeEveryRun) {
    std::string order;
    const Side side = OneByOne([&] { order += 'p'; }, [&] { order += 'r'; });
    EXPECT_GE(side.time(3), 0);
    EXPECT_EQ(order, "prprpr");
}

}  // namespace
}  // namespace bench
