// SPDX-License-Identifier: Apache-2.0
// The sides of Step's rows: the library and SEED.

#pragma once

#include <cstdint>
#include <memory>

#include "tests/benchmark/interleaved.h"
#include "tests/benchmark/step_batch.h"

namespace bench {

/// Phase two of a repeatable executor and the synchronisation.
inline Side LibraryStep(const std::shared_ptr<StepBatch>& batch) {
    return OneByOne([batch] { batch->RestoreLibrary(); }, [batch] { batch->RunLibrary(); });
}

inline Side LibraryStep(StepCase which, int64_t batch) {
    return LibraryStep(std::make_shared<StepBatch>(MakeStepState(which, batch)));
}

inline Comparison StepBesideSeed(StepCase which, int64_t batch) {
    const auto both = std::make_shared<StepBatch>(MakeStepState(which, batch));
    return {LibraryStep(both),
            OneByOne([both] { both->RestoreSeed(); }, [both] { both->RunSeed(); }), false};
}

}  // namespace bench
