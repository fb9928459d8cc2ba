// SPDX-License-Identifier: Apache-2.0
// A row of the dashboard: two sides, a figure and a goal.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/benchmark/interleaved.h"

namespace bench {

/// What is made of the two series, pair by pair.
enum class Figure {
    kRatio,       // library / baseline
    kSpeedup,     // baseline / library
    kDifference,  // library - baseline, ns
    kTime         // library, ns
};

enum class Sense { kAtMost, kAtLeast };

struct Goal {
    Figure figure = Figure::kRatio;
    Sense sense = Sense::kAtMost;
    double value = 0;
};

inline Goal AtMost(double value) { return {Figure::kRatio, Sense::kAtMost, value}; }
inline Goal SpeedupOf(double value) { return {Figure::kSpeedup, Sense::kAtLeast, value}; }
inline Goal NanosecondsAbove(double value) { return {Figure::kDifference, Sense::kAtMost, value}; }
inline Goal Nanoseconds(double value) { return {Figure::kTime, Sense::kAtMost, value}; }

/// Both sides, ready to run; or why this machine cannot.
struct Prepared {
    Comparison comparison;
    std::string whyNot;

    bool ok() const { return whyNot.empty(); }
};

inline Prepared NotHere(std::string whyNot) { return {{}, std::move(whyNot)}; }

/// One line of the dashboard.
struct Row {
    std::string name;
    std::string what;
    std::string baseline;  // its name; "": none
    Goal goal;
    /// Empty: measured outside of this program.
    std::function<Prepared()> prepare;
};

using Rows = std::vector<Row>;

}  // namespace bench
