// SPDX-License-Identifier: Apache-2.0
// Full calls of AdvanceStep and Step with cold caches, beside the bare loop and SEED in the same
// state.
#include <fmt/format.h>

#include <memory>

#include "tests/benchmark/dashboard/advance_sides.h"
#include "tests/benchmark/dashboard/cold.h"
#include "tests/benchmark/dashboard/rows.h"
#include "tests/benchmark/same_steps.h"
#include "tests/benchmark/step_batch.h"

namespace bench {
namespace {

Prepared PrepareColdCall(int64_t numSeqs) {
    BareBatch initial = MakeMixedBatch(numSeqs, kStride, kDefaultBlockSize);
    const auto library = std::make_shared<AdvanceBatch>(initial, kDefaultBlockSize);
    const auto plain = std::make_shared<BareSteps>(std::move(initial), kDefaultBlockSize);
    RequireSameSteps(library.get(), plain.get());
    const auto other = std::make_shared<OtherMemory>();
    return {{Cold(
                 other, [library] { library->MakeRoom(1); }, [library] { library->Call(); }),
             Cold(
                 other, [plain] { plain->MakeRoom(1); }, [plain] { plain->Run(); }),
             true},
            ""};
}

// StepBatch compares what both come to.
Prepared PrepareColdStep(StepCase which, int64_t batch) {
    const auto both = std::make_shared<StepBatch>(MakeStepState(which, batch));
    const auto other = std::make_shared<OtherMemory>();
    return {{Cold(
                 other, [both] { both->RestoreLibrary(); }, [both] { both->CallLibrary(); }),
             Cold(
                 other, [both] { both->RestoreSeed(); }, [both] { both->RunSeed(); }),
             true},
            ""};
}

Row ColdCallRow(int64_t numSeqs, double goal) {
    return {fmt::format("cold_call_{}", numSeqs), fmt::format("full call, N = {}, cold", numSeqs),
            "B0", AtMost(goal), [=] { return PrepareColdCall(numSeqs); }};
}

Row ColdStepRow(const char* name, const char* what, StepCase which, int64_t batch, double goal) {
    return {fmt::format("{}_{}", name, batch),
            fmt::format("full call of Step, {}, B = {}, cold", what, batch), "SEED", AtMost(goal),
            [=] { return PrepareColdStep(which, batch); }};
}

}  // namespace

Rows ColdRows() {
    Rows rows = {ColdCallRow(8, 12), ColdCallRow(256, 1.5), ColdCallRow(1024, 1.5)};
    for (const auto& [batch, goal] : {std::pair{8, 12.0}, {256, 1.5}, {1024, 1.0}}) {
        rows.push_back(
            ColdStepRow("cold_step_idle", "no pressure", StepCase::kNoPressure, batch, goal));
    }
    for (const auto& [batch, goal] : {std::pair{256, 1.5}, {1024, 1.0}}) {
        rows.push_back(ColdStepRow("cold_step_tenth", "B / 10 victims", StepCase::kTenthPreempted,
                                   batch, goal));
    }
    return rows;
}

}  // namespace bench
