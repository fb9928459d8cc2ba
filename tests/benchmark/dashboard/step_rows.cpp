// SPDX-License-Identifier: Apache-2.0
// Step beside SEED, from the same state again and again; putting the state back is not timed.
#include <fmt/format.h>

#include <memory>

#include "tests/benchmark/dashboard/rows.h"
#include "tests/benchmark/dashboard/step_sides.h"

namespace bench {
namespace {

Row SeedRow(const char* name, const char* what, StepCase which, int64_t batch, double goal) {
    return {fmt::format("{}_{}", name, batch), fmt::format("Step, {}, B = {}", what, batch), "SEED",
            AtMost(goal), [=]() -> Prepared {
                return {StepBesideSeed(which, batch), ""};
            }};
}

Prepared PrepareScaling() {
    return {{LibraryStep(StepCase::kTenthPreempted, 100000),
             LibraryStep(StepCase::kTenthPreempted, 10000), false},
            ""};
}

}  // namespace

Rows StepRows() {
    Rows rows = {SeedRow("step_idle", "no pressure", StepCase::kNoPressure, 256, 0.50)};
    rows.push_back(SeedRow("step_tenth", "B / 10 victims", StepCase::kTenthPreempted, 256, 0.30));
    rows.push_back(SeedRow("step_tenth", "B / 10 victims", StepCase::kTenthPreempted, 1024, 0.10));
    rows.push_back(
        SeedRow("step_tenth", "B / 10 victims", StepCase::kTenthPreempted, 10000, 0.012));
    rows.push_back({"step_scaling", "Step, B / 10 victims: B = 10^5 against 10^4", "Step at 10^4",
                    AtMost(15), &PrepareScaling});
    rows.push_back(
        SeedRow("step_recover", "B / 2 rows recovered", StepCase::kHalfRecovered, 256, 0.9));
    rows.push_back(
        SeedRow("step_recover", "B / 2 rows recovered", StepCase::kHalfRecovered, 1024, 0.9));
    return rows;
}

}  // namespace bench
