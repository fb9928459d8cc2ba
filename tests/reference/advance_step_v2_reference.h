// SPDX-License-Identifier: Apache-2.0
// AdvanceStepV2 as plain loops over queries and their rows: what every conformance computes, and
// which row is at fault. Knows no cores, tiling or device. All values are int64, whatever the
// tensors hold.
#ifndef ADVANCE_STEP_TESTS_REFERENCE_ADVANCE_STEP_V2_REFERENCE_H_
#define ADVANCE_STEP_TESTS_REFERENCE_ADVANCE_STEP_V2_REFERENCE_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace reference {

// One step of speculative decoding; matrices row by row.
struct AdvanceStepV2Data {
    int64_t numSeqs = 0, blockSize = 0, maxBlocks = 0;
    int64_t specNum = 0;  // k: spec tokens of a query
    std::vector<int64_t> inputTokens, sampledTokenIds, inputPositions;
    std::vector<int64_t> seqLens, slotMapping, blockTables;
    std::vector<int64_t> specToken, acceptedNum;

    int64_t RowsPerQuery() const { return specNum + 1; }

    // In the order of the signature.
    std::array<std::vector<int64_t>*, 8> Tensors() {
        return {&inputTokens, &sampledTokenIds, &inputPositions, &seqLens,
                &slotMapping, &blockTables,     &specToken,      &acceptedNum};
    }
    std::array<const std::vector<int64_t>*, 8> Tensors() const {
        return {&inputTokens, &sampledTokenIds, &inputPositions, &seqLens,
                &slotMapping, &blockTables,     &specToken,      &acceptedNum};
    }
};

// The lowest bad row; then nothing has been written.
struct AdvanceStepV2Error {
    int64_t query = 0;
    int64_t row = 0;
};

// The exact sum of three, if 64 bits hold it. Halves never overflow.
inline std::optional<int64_t> SumOf(int64_t a, int64_t b, int64_t c) {
    const auto floorHalf = [](int64_t x) { return x >= 0 ? x / 2 : -((-(x + 1)) / 2) - 1; };
    const auto odd = [](int64_t x) { return x % 2 != 0 ? 1 : 0; };
    const int64_t odds = odd(a) + odd(b) + odd(c);
    // sum = 2 * high + low, with low 0 or 1
    const int64_t pair = floorHalf(a) + floorHalf(b);
    const int64_t third = floorHalf(c) + odds / 2;
    if ((third > 0 && pair > INT64_MAX - third) || (third < 0 && pair < INT64_MIN - third)) {
        return std::nullopt;
    }
    const int64_t high = pair + third;
    if (high > INT64_MAX / 2 || high < INT64_MIN / 2) {
        return std::nullopt;
    }
    return 2 * high + odds % 2;
}

// What a row gets.
struct AdvanceStepV2Row {
    int64_t position = 0;
    int64_t length = 0;
    int64_t slot = 0;
};

inline std::optional<AdvanceStepV2Row> StandardRow(const AdvanceStepV2Data& data, int64_t query,
                                                   int64_t row) {
    const auto position = SumOf(data.inputPositions[row], data.acceptedNum[query], 1);
    if (!position || *position < 0 || *position == INT64_MAX) {
        return std::nullopt;
    }
    const int64_t column = *position / data.blockSize;
    const int64_t remainder = *position % data.blockSize;
    if (column >= data.maxBlocks) {
        return std::nullopt;
    }
    const int64_t block = data.blockTables[query * data.maxBlocks + column];
    if (block < 0 || block > (INT64_MAX - remainder) / data.blockSize) {
        return std::nullopt;
    }
    return AdvanceStepV2Row{*position, *position + 1, block * data.blockSize + remainder};
}

// Conformance exact: each of position, length, block id and slot wraps to int32, then is checked.
inline std::optional<AdvanceStepV2Row> ExactRow(const AdvanceStepV2Data& data, int64_t query,
                                                int64_t row) {
    const auto bits = [](int64_t value) { return static_cast<uint32_t>(value & 0xFFFFFFFF); };
    const int32_t position =
        static_cast<int32_t>(bits(data.inputPositions[row]) + bits(data.acceptedNum[query]) + 1U);
    const int32_t length = static_cast<int32_t>(bits(position) + 1U);
    if (position < 0 || length < 0 || position / data.blockSize >= data.maxBlocks) {
        return std::nullopt;
    }
    const int32_t block = static_cast<int32_t>(
        bits(data.blockTables[query * data.maxBlocks + position / data.blockSize]));
    const int32_t slot =
        static_cast<int32_t>(bits(block) * bits(data.blockSize) + bits(position % data.blockSize));
    if (block < 0 || slot < 0) {
        return std::nullopt;
    }
    return AdvanceStepV2Row{position, length, slot};
}

inline std::optional<AdvanceStepV2Error> AdvanceStepV2(AdvanceStepV2Data& data, bool exact) {
    const int64_t w = data.RowsPerQuery();
    const auto rowOf = [&](int64_t query, int64_t j) {
        return exact ? ExactRow(data, query, query * w + j)
                     : StandardRow(data, query, query * w + j);
    };
    for (int64_t query = 0; query < data.numSeqs; ++query) {
        for (int64_t j = 0; j < w; ++j) {
            const bool nothing = j == 0 && data.sampledTokenIds[query * w] < 0;
            if (nothing || !rowOf(query, j)) {
                return AdvanceStepV2Error{query, query * w + j};
            }
        }
    }
    for (int64_t query = 0; query < data.numSeqs; ++query) {
        for (int64_t j = 0; j < w; ++j) {
            const AdvanceStepV2Row row = *rowOf(query, j);
            data.inputPositions[query * w + j] = row.position;
            data.seqLens[query * w + j] = row.length;
            data.slotMapping[query * w + j] = row.slot;
            if (j > 0) {
                data.inputTokens[query * w + j] = data.specToken[query * data.specNum + j - 1];
            }
        }
        for (int64_t j = 0; j < w && data.sampledTokenIds[query * w + j] >= 0; ++j) {
            data.inputTokens[query * w] = data.sampledTokenIds[query * w + j];
        }
    }
    return std::nullopt;
}

}  // namespace reference

#endif  // ADVANCE_STEP_TESTS_REFERENCE_ADVANCE_STEP_V2_REFERENCE_H_
