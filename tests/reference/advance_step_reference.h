// SPDX-License-Identifier: Apache-2.0
// AdvanceStep as plain loops over rows: what every conformance computes, and which query is at
// fault. Knows no cores, tiling or device. All values are int64, whatever the tensors hold.
#ifndef ADVANCE_STEP_TESTS_REFERENCE_ADVANCE_STEP_REFERENCE_H_
#define ADVANCE_STEP_TESTS_REFERENCE_ADVANCE_STEP_REFERENCE_H_

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace reference {

// One decode batch; blockTables row by row, maxBlocks entries each.
struct AdvanceStepData {
    int64_t numSeqs = 0, numQueries = 0, blockSize = 0, maxBlocks = 0;
    std::vector<int64_t> inputTokens, sampledTokenIds, inputPositions;
    std::vector<int64_t> seqLens, slotMapping, blockTables;

    // In the order of the signature.
    std::array<std::vector<int64_t>*, 6> Tensors() {
        return {&inputTokens, &sampledTokenIds, &inputPositions,
                &seqLens,     &slotMapping,     &blockTables};
    }
    std::array<const std::vector<int64_t>*, 6> Tensors() const {
        return {&inputTokens, &sampledTokenIds, &inputPositions,
                &seqLens,     &slotMapping,     &blockTables};
    }
};

// The largest value that each tensor's dtype holds.
struct AdvanceStepLimits {
    int64_t seqLens = std::numeric_limits<int64_t>::max();
    int64_t slotMapping = std::numeric_limits<int64_t>::max();
};

enum class AdvanceStepFault {
    kNegativePosition,
    kColumnOutsideTable,
    kNegativeBlock,
    kLengthTooLarge,
    kSlotTooLarge,
    kFlatIndexOutsideTable,
};

// The lowest bad query; then nothing has been written.
struct AdvanceStepError {
    int64_t query = 0;
    AdvanceStepFault fault = AdvanceStepFault::kNegativePosition;
};

inline std::optional<AdvanceStepFault> FindFaultOfQuery(const AdvanceStepData& data, int64_t query,
                                                        const AdvanceStepLimits& limits) {
    const int64_t position = data.seqLens[query];
    if (position < 0) {
        return AdvanceStepFault::kNegativePosition;
    }
    const int64_t column = position / data.blockSize;
    if (column >= data.maxBlocks) {
        return AdvanceStepFault::kColumnOutsideTable;
    }
    const int64_t block = data.blockTables[query * data.maxBlocks + column];
    if (block < 0) {
        return AdvanceStepFault::kNegativeBlock;
    }
    if (position > limits.seqLens - 1) {
        return AdvanceStepFault::kLengthTooLarge;
    }
    const int64_t remainder = position % data.blockSize;
    if (remainder > limits.slotMapping ||
        block > (limits.slotMapping - remainder) / data.blockSize) {
        return AdvanceStepFault::kSlotTooLarge;
    }
    return std::nullopt;
}

// Conformance standard, and vllm with the limits of its dtypes.
inline std::optional<AdvanceStepError> AdvanceStepStandard(AdvanceStepData& data,
                                                           const AdvanceStepLimits& limits = {}) {
    for (int64_t query = 0; query < data.numQueries; ++query) {
        if (const auto fault = FindFaultOfQuery(data, query, limits)) {
            return AdvanceStepError{query, *fault};
        }
    }
    for (int64_t row = 0; row < data.numSeqs; ++row) {
        if (row < data.numQueries) {
            const int64_t position = data.seqLens[row];
            const int64_t block =
                data.blockTables[row * data.maxBlocks + position / data.blockSize];
            data.inputTokens[row] = data.sampledTokenIds[row];
            data.inputPositions[row] = position;
            data.seqLens[row] = position + 1;
            data.slotMapping[row] = block * data.blockSize + position % data.blockSize;
        } else {
            data.inputTokens[row] = 0;
            data.inputPositions[row] = 0;
            data.slotMapping[row] = -1;
        }
    }
    return std::nullopt;
}

inline int64_t WrappingAdd(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

inline int64_t WrappingMultiply(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

// Conformance exact: what the Ascend kernel computes on an SoC of so many vector cores.
inline std::optional<AdvanceStepError> AdvanceStepExact(AdvanceStepData& data,
                                                        int64_t vectorCores) {
    const int64_t entries = data.numSeqs * data.maxBlocks;
    for (int64_t query = 0; query < data.numQueries && query < vectorCores; ++query) {
        const int64_t index = data.seqLens[query] / data.blockSize;
        if (index < 0 || index >= entries) {
            return AdvanceStepError{query, AdvanceStepFault::kFlatIndexOutsideTable};
        }
    }
    for (int64_t query = 0; query < data.numQueries && query < vectorCores; ++query) {
        const int64_t position = data.seqLens[query];
        const int64_t block = WrappingAdd(data.blockTables[position / data.blockSize],
                                          WrappingMultiply(data.maxBlocks, query));
        data.inputTokens[query] = data.sampledTokenIds[query];
        data.inputPositions[query] = position;
        data.seqLens[query] = WrappingAdd(position, 1);
        data.slotMapping[query] =
            WrappingAdd(WrappingMultiply(block, data.blockSize), position % data.blockSize);
    }
    for (int64_t row = data.numQueries; row < data.numSeqs; row += vectorCores) {
        data.inputTokens[row] = 0;
        data.inputPositions[row] = 0;
        data.slotMapping[row] = -1;
    }
    return std::nullopt;
}

}  // namespace reference

#endif  // ADVANCE_STEP_TESTS_REFERENCE_ADVANCE_STEP_REFERENCE_H_
