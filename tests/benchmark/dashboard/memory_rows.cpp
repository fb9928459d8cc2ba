// SPDX-License-Identifier: Apache-2.0
// Full calls of AdvanceStep and Step on 10^7 sequences beside a copy of as many bytes.
#include <memory>
#include <string>
#include <utility>

#include "tests/benchmark/dashboard/advance_sides.h"
#include "tests/benchmark/dashboard/rows.h"
#include "tests/benchmark/plain_copy.h"
#include "tests/benchmark/same_steps.h"
#include "tests/benchmark/step_batch.h"

namespace bench {
namespace {

constexpr int64_t kSequences = 10'000'000;
constexpr int64_t kLineBytes = 64;  // bytes
constexpr double kShare = 0.8;

// Block ids of a sequence. A row of the table has four lines of the caches, of which a step reads
// one.
constexpr int64_t kColumns = 32;

Side CopySide(int64_t movedBytes) {
    const auto copy = std::make_shared<PlainCopy>(movedBytes);
    return {[copy](int64_t runs) {
        double sum = 0;
        for (int64_t run = 0; run < runs; ++run) {
            sum += copy->Run();
        }
        return sum / static_cast<double>(runs);
    }};
}

Prepared PrepareAdvanceStep() {
    // The table and what it is made from, seven arrays of numbers on either side, and the copy.
    std::string whyNot = WhyNoRoomForBytes(kSequences * (2 * kColumns + 2 * 7 + 16) * 8);
    if (!whyNot.empty()) {
        return NotHere(whyNot);
    }
    std::shared_ptr<AdvanceBatch> library;
    {
        BareBatch initial = MakeMixedBatch(kSequences, kColumns, kDefaultBlockSize);
        library = std::make_shared<AdvanceBatch>(initial, kDefaultBlockSize);
        library->Call();
        AdvanceBareLoop(initial, kDefaultBlockSize);
        RequireSameRows(*library, initial);
    }
    library->MakeRoom(library->mostSteps());  // the step that was made counts
    // A line of the table, a sampled token and a length are read; a token, a position, a length
    // and a slot are written.
    constexpr int64_t kMoved = kSequences * (kLineBytes + 6 * 8);
    return {
        {AdvanceSide(library, [batch = library.get()] { batch->Call(); }), CopySide(kMoved), false},
        ""};
}

Prepared PrepareStep() {
    constexpr int64_t kSlotBytes = 200;  // of a state; there are four, with what a step changes
    std::string whyNot = WhyNoRoomForBytes(kSequences * (4 * kSlotBytes + kLineBytes));
    if (!whyNot.empty()) {
        return NotHere(whyNot);
    }
    const auto both =
        std::make_shared<StepBatch>(MakeStepState(StepCase::kNoPressure, kSequences, {16, 1}));
    return {{OneByOne([both] { both->RestoreLibrary(); }, [both] { both->CallLibrary(); }),
             CopySide(both->lineBytes()), false},
            ""};
}

}  // namespace

Rows MemoryRows() {
    return {{"memory_advance_10m", "AdvanceStep, N = 10^7, over a copy of as many bytes", "copy",
             SpeedupOf(kShare), &PrepareAdvanceStep},
            {"memory_step_10m", "Step, no pressure, B = 10^7, over a copy of as many bytes", "copy",
             SpeedupOf(kShare), &PrepareStep}};
}

}  // namespace bench
