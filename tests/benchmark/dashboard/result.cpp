// SPDX-License-Identifier: Apache-2.0
// Judges rows by their goals, and writes results as text and JSON.

#include "tests/benchmark/dashboard/result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace bench {
namespace {

bool InNanoseconds(Figure figure) {
    return figure == Figure::kDifference || figure == Figure::kTime;
}

// Four digits that matter, and the unit.
std::string Write(Figure figure, double value) {
    return InNanoseconds(figure) ? fmt::format("{:.4g} ns", value) : fmt::format("{:.3g}", value);
}

std::string WriteGoal(const Goal& goal) {
    return fmt::format("{} {}",
                       goal.sense == Sense::kAtMost ? "<=" : ">=", Write(goal.figure, goal.value));
}

constexpr char kLine[] = "{:<22} {:<55} {:>9} {:>18} {:>11} {:>6}  {}";

}  // namespace

std::vector<double> FiguresOf(Figure figure, const Series& series) {
    if (figure == Figure::kTime) {
        return series.library;
    }
    std::vector<double> figures;
    const size_t pairs = std::min(series.library.size(), series.baseline.size());
    for (size_t pair = 0; pair < pairs; ++pair) {
        const double library = series.library[pair];
        const double baseline = series.baseline[pair];
        figures.push_back(figure == Figure::kRatio     ? library / baseline
                          : figure == Figure::kSpeedup ? baseline / library
                                                       : library - baseline);
    }
    return figures;
}

Result Judge(const Row& row, Series series) {
    const std::vector<double> figures = FiguresOf(row.goal.figure, series);
    if (figures.empty()) {
        return Skip(row, "nothing was measured");
    }
    Result result;
    result.row = row;
    result.series = std::move(series);
    result.figure = QuartilesOf(figures);
    const bool holds = row.goal.sense == Sense::kAtMost ? result.figure.median <= row.goal.value
                                                        : result.figure.median >= row.goal.value;
    result.verdict = holds ? Verdict::kHolds : Verdict::kDoesNotHold;
    return result;
}

Result Skip(const Row& row, std::string whyNot) {
    Result result;
    result.row = row;
    result.whyNot = std::move(whyNot);
    return result;
}

const char* NameOf(Verdict verdict) {
    constexpr const char* kNames[] = {"holds", "does not hold", "skipped"};
    return kNames[static_cast<int>(verdict)];
}

const char* NameOf(Figure figure) {
    constexpr const char* kNames[] = {"ratio", "speedup", "difference_ns", "time_ns"};
    return kNames[static_cast<int>(figure)];
}

nlohmann::ordered_json ToJson(const Result& result) {
    const Goal& goal = result.row.goal;
    nlohmann::ordered_json json = {{"row", result.row.name},
                                   {"what", result.row.what},
                                   {"baseline", result.row.baseline},
                                   {"figure", NameOf(goal.figure)},
                                   {"sense", goal.sense == Sense::kAtMost ? "<=" : ">="},
                                   {"goal", goal.value},
                                   {"verdict", NameOf(result.verdict)}};
    if (result.verdict == Verdict::kSkipped) {
        json["why"] = result.whyNot;
        return json;
    }
    json["median"] = result.figure.median;
    json["quartiles"] = {result.figure.low, result.figure.high};
    json["other_cores"] = result.otherCores;
    json["library_ns"] = result.series.library;
    json["library_runs"] = result.series.libraryRuns;
    json["baseline_ns"] = result.series.baseline;
    json["baseline_runs"] = result.series.baselineRuns;
    return json;
}

std::string TableHeading() {
    return fmt::format(kLine, "row", "what", "median", "quartiles", "goal", "others", "");
}

std::string TableLine(const Result& result) {
    const Goal& goal = result.row.goal;
    if (result.verdict == Verdict::kSkipped) {
        return fmt::format(kLine, result.row.name, result.row.what, "", "", WriteGoal(goal), "",
                           "skipped: " + result.whyNot);
    }
    const std::string quartiles =
        fmt::format("{:.3g} .. {:.3g}", result.figure.low, result.figure.high);
    return fmt::format(kLine, result.row.name, result.row.what,
                       Write(goal.figure, result.figure.median), quartiles, WriteGoal(goal),
                       fmt::format("{:.2f}", result.otherCores), NameOf(result.verdict));
}

}  // namespace bench
