// SPDX-License-Identifier: Apache-2.0
// Measures call times at many batch sizes.

#include "tests/benchmark/dashboard/curves.h"

#include "tests/benchmark/dashboard/advance_sides.h"
#include "tests/benchmark/dashboard/step_sides.h"

namespace bench {
namespace {

nlohmann::ordered_json MeasurePoint(int64_t size, const Comparison& comparison,
                                    const Budget& budget) {
    const Series series = Interleave(comparison, budget);
    return {{"n", size},
            {"library_ns", QuartilesOf(series.library).median},
            {"baseline_ns", QuartilesOf(series.baseline).median}};
}

}  // namespace

nlohmann::ordered_json MeasureCurves(const Budget& budget) {
    auto calls = nlohmann::ordered_json::array();
    for (const int64_t size : {8, 16, 32, 64, 128, 256, 512, 1024, 4096, 16384, 65536, 262144}) {
        calls.push_back(MeasurePoint(size, CallBesideBareLoop(size), budget));
    }
    auto steps = nlohmann::ordered_json::array();
    for (const int64_t size : {64, 128, 256, 512, 1024, 2048, 4096, 10000, 20000}) {
        steps.push_back(
            MeasurePoint(size, StepBesideSeed(StepCase::kTenthPreempted, size), budget));
    }
    return {{"call", calls}, {"step", steps}};
}

}  // namespace bench
