// SPDX-License-Identifier: Apache-2.0
// AdvanceStepMulti as what it stands for: one AdvanceStep after the other.
#ifndef ADVANCE_STEP_TESTS_REFERENCE_ADVANCE_STEP_MULTI_REFERENCE_H_
#define ADVANCE_STEP_TESTS_REFERENCE_ADVANCE_STEP_MULTI_REFERENCE_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "reference/advance_step_reference.h"

namespace reference {

// `one` has the tensors of a step but sampledTokenIds and slotMapping, which have a row per step
// here.
struct MultiData {
    AdvanceStepData one;
    int64_t steps = 0;
    std::vector<int64_t> sampledTokenIds;
    std::vector<int64_t> slotMapping;

    // In the order of the signature.
    std::array<const std::vector<int64_t>*, 6> Tensors() const {
        return {&one.inputTokens, &sampledTokenIds, &one.inputPositions,
                &one.seqLens,     &slotMapping,     &one.blockTables};
    }

    // The batch as a call for one of the steps sees it.
    AdvanceStepData AtStep(int64_t step) const {
        AdvanceStepData data = one;
        const auto tokens = sampledTokenIds.begin() + step * one.numQueries;
        const auto slots = slotMapping.begin() + step * one.numSeqs;
        data.sampledTokenIds.assign(tokens, tokens + one.numQueries);
        data.slotMapping.assign(slots, slots + one.numSeqs);
        return data;
    }
    void TakeStep(int64_t step, const AdvanceStepData& data) {
        std::copy(data.slotMapping.begin(), data.slotMapping.end(),
                  slotMapping.begin() + step * one.numSeqs);
        one = data;
    }
};

// The first step that fails and its lowest bad query; then nothing has been written.
struct MultiError {
    int64_t step = 0;
    int64_t query = 0;
};

// exactCores: conformance exact on so many cores; 0: standard, or vllm with the limits of its
// dtypes.
inline std::optional<MultiError> AdvanceStepMulti(MultiData& data, int64_t exactCores,
                                                  const AdvanceStepLimits& limits = {}) {
    MultiData after = data;
    for (int64_t step = 0; step < data.steps; ++step) {
        AdvanceStepData one = after.AtStep(step);
        const auto error =
            exactCores > 0 ? AdvanceStepExact(one, exactCores) : AdvanceStepStandard(one, limits);
        if (error) {
            return MultiError{step, error->query};
        }
        after.TakeStep(step, one);
    }
    data = after;
    return std::nullopt;
}

}  // namespace reference

#endif  // ADVANCE_STEP_TESTS_REFERENCE_ADVANCE_STEP_MULTI_REFERENCE_H_
