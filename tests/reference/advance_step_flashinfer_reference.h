// SPDX-License-Identifier: Apache-2.0
// AdvanceStepFlashInfer as plain loops: AdvanceStep's rows, then the paged KV arrays query by
// query.
#ifndef ADVANCE_STEP_TESTS_REFERENCE_ADVANCE_STEP_FLASHINFER_REFERENCE_H_
#define ADVANCE_STEP_TESTS_REFERENCE_ADVANCE_STEP_FLASHINFER_REFERENCE_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "reference/advance_step_reference.h"

namespace reference {

struct FlashInferData {
    AdvanceStepData rows;
    std::vector<int64_t> pagedKvIndices;
    std::vector<int64_t> pagedKvIndptr;
    std::vector<int64_t> pagedKvLastPageLen;
    std::vector<int64_t> blockTableBound;

    // In the order of the signature.
    std::array<const std::vector<int64_t>*, 10> Tensors() const {
        return {&rows.inputTokens,   &rows.sampledTokenIds, &rows.inputPositions, &rows.seqLens,
                &rows.slotMapping,   &rows.blockTables,     &pagedKvIndices,      &pagedKvIndptr,
                &pagedKvLastPageLen, &blockTableBound};
    }
};

// The lowest bad query; then nothing has been written.
inline std::optional<int64_t> AdvanceStepFlashInfer(FlashInferData& data,
                                                    const AdvanceStepLimits& limits = {}) {
    const AdvanceStepData before = data.rows;
    std::vector<int64_t> indices;
    std::vector<int64_t> ends = {0};
    std::vector<int64_t> lastPageLen = data.pagedKvLastPageLen;
    std::vector<int64_t> bound = data.blockTableBound;
    for (int64_t query = 0; query < before.numQueries; ++query) {
        if (FindFaultOfQuery(before, query, limits)) {
            return query;
        }
        int64_t pages = 0;
        int64_t tokens = before.seqLens[query] + 1;
        for (; tokens > before.blockSize; tokens -= before.blockSize) {
            ++pages;
        }
        for (int64_t column = 0; column <= pages; ++column) {
            indices.push_back(before.blockTables[query * before.maxBlocks + column]);
            if (indices.back() < 0 || indices.back() > INT32_MAX) {
                return query;
            }
        }
        if (tokens > INT32_MAX || indices.size() > data.pagedKvIndices.size()) {
            return query;
        }
        lastPageLen[query] = tokens;
        bound[query] = pages + 1;
        ends.push_back(static_cast<int64_t>(indices.size()));
    }
    AdvanceStepStandard(data.rows, limits);
    ends.resize(before.numSeqs + 1, ends.back());
    data.pagedKvIndptr = ends;
    data.pagedKvLastPageLen = lastPageLen;
    data.blockTableBound = bound;
    std::copy(indices.begin(), indices.end(), data.pagedKvIndices.begin());
    return std::nullopt;
}

}  // namespace reference

#endif  // ADVANCE_STEP_TESTS_REFERENCE_ADVANCE_STEP_FLASHINFER_REFERENCE_H_
