// SPDX-License-Identifier: Apache-2.0
// Tests of dashboard results: figures, verdicts, text and JSON.

#include "tests/benchmark/dashboard/result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The ratios are 1, 4 and 0.5; the ratio of the medians would be 0.4.
Series Unsteady() { return {{10, 40, 20}, {10, 10, 40}, 3, 4}; }

Row RowWith(Goal goal) { return {"name", "what", "B0", goal, nullptr}; }

TEST(FiguresTest, AreOfEveryPair) {
    const Series series = Unsteady();
    EXPECT_THAT(FiguresOf(Figure::kRatio, series), ElementsAre(1, 4, 0.5));
    EXPECT_THAT(FiguresOf(Figure::kSpeedup, series), ElementsAre(1, 0.25, 2));
    EXPECT_THAT(FiguresOf(Figure::kDifference, series), ElementsAre(0, 30, -20));
    EXPECT_THAT(FiguresOf(Figure::kTime, series), ElementsAre(10, 40, 20));
}

TEST(JudgeTest, HoldsTheMedianOfThePairsAgainstTheGoal) {
    EXPECT_EQ(Judge(RowWith(AtMost(1)), Unsteady()).verdict, Verdict::kHolds);
    EXPECT_EQ(Judge(RowWith(AtMost(0.99)), Unsteady()).verdict, Verdict::kDoesNotHold);
    EXPECT_EQ(Judge(RowWith(SpeedupOf(1)), Unsteady()).verdict, Verdict::kHolds);
    EXPECT_EQ(Judge(RowWith(SpeedupOf(1.01)), Unsteady()).verdict, Verdict::kDoesNotHold);
    EXPECT_EQ(Judge(RowWith(NanosecondsAbove(0)), Unsteady()).verdict, Verdict::kHolds);
    EXPECT_EQ(Judge(RowWith(NanosecondsAbove(-1)), Unsteady()).verdict, Verdict::kDoesNotHold);
    EXPECT_EQ(Judge(RowWith(Nanoseconds(20)), Unsteady()).verdict, Verdict::kHolds);
    EXPECT_EQ(Judge(RowWith(Nanoseconds(19)), Unsteady()).verdict, Verdict::kDoesNotHold);
}

TEST(JudgeTest, SkipsWhatWasNotMeasured) {
    const Result result = Judge(RowWith(AtMost(1)), {});
    EXPECT_EQ(result.verdict, Verdict::kSkipped);
    EXPECT_NE(result.whyNot, "");
}

TEST(JsonTest, HasTheFigureAndTheRawSeries) {
    const nlohmann::ordered_json json = ToJson(Judge(RowWith(AtMost(2)), Unsteady()));
    EXPECT_EQ(json["row"], "name");
    EXPECT_EQ(json["what"], "what");
    EXPECT_EQ(json["baseline"], "B0");
    EXPECT_EQ(json["figure"], "ratio");
    EXPECT_EQ(json["sense"], "<=");
    EXPECT_EQ(json["goal"], 2);
    EXPECT_EQ(json["verdict"], "holds");
    EXPECT_EQ(json["median"], 1);
    EXPECT_EQ(json["quartiles"], (std::vector<double>{0.75, 2.5}));
    EXPECT_EQ(json["library_ns"], (std::vector<double>{10, 40, 20}));
    EXPECT_EQ(json["library_runs"], 3);
    EXPECT_EQ(json["baseline_ns"], (std::vector<double>{10, 10, 40}));
    EXPECT_EQ(json["baseline_runs"], 4);
    EXPECT_FALSE(json.contains("why"));
}

TEST(JsonTest, SaysWhyARowWasSkipped) {
    const nlohmann::ordered_json json = ToJson(Skip(RowWith(SpeedupOf(2)), "no second core"));
    EXPECT_EQ(json["verdict"], "skipped");
    EXPECT_EQ(json["why"], "no second core");
    EXPECT_EQ(json["sense"], ">=");
    EXPECT_FALSE(json.contains("median"));
}

TEST(TableTest, HasALineForEveryVerdict) {
    EXPECT_THAT(TableLine(Judge(RowWith(AtMost(1)), Unsteady())), HasSubstr("<= 1   0.00  holds"));
    Result disturbed = Judge(RowWith(AtMost(0.5)), Unsteady());
    disturbed.otherCores = 0.25;
    EXPECT_THAT(TableLine(disturbed), HasSubstr("<= 0.5   0.25  does not hold"));
    EXPECT_THAT(TableLine(Judge(RowWith(Nanoseconds(20)), Unsteady())), HasSubstr("20 ns"));
    EXPECT_THAT(TableLine(Skip(RowWith(SpeedupOf(2)), "no second core")),
                HasSubstr(">= 2         skipped: no second core"));
}

}  // namespace
}  // namespace bench
