// SPDX-License-Identifier: Apache-2.0
// A decode batch of the input's: mostly sound, now and then not.

#pragma once

#include <algorithm>
#include <vector>

#include "fuzz/fuzz_input.h"
#include "reference/advance_step_reference.h"

inline constexpr const char* kConformances[] = {"standard", "vllm", "exact"};

/// A value below `below`, unless the input wants another.
inline int64_t FuzzValue(FuzzInput* input, int64_t below) {
    const uint8_t byte = input->Byte();
    return byte == 255 ? input->Value(below) : byte % below;
}

/// Reads the sizes of blocks and tables. Returns the tokens of a sequence, without those of the
/// largest blocks.
template <class Data>
int64_t FuzzBlocks(FuzzInput* input, Data* data) {
    data->maxBlocks = 1 + input->Byte() % 5;
    data->blockSize = 1 + input->Byte() % 16;
    if (input->Byte() == 1) {
        data->blockSize = std::max<int64_t>(1, input->Value(64));
    }
    return data->maxBlocks * std::min<int64_t>(data->blockSize, 16);
}

inline reference::AdvanceStepData FuzzDecodeBatch(FuzzInput* input, int64_t mostSeqs) {
    reference::AdvanceStepData data;
    data.numSeqs = 1 + input->Byte() % mostSeqs;
    data.numQueries = std::max<int64_t>(1, data.numSeqs - input->Byte() % 8);
    const int64_t longest = FuzzBlocks(input, &data);
    for (int64_t row = 0; row < data.numSeqs; ++row) {
        data.inputTokens.push_back(5);
        data.inputPositions.push_back(6);
        data.slotMapping.push_back(7);
        data.seqLens.push_back(FuzzValue(input, longest));
        for (int64_t column = 0; column < data.maxBlocks; ++column) {
            data.blockTables.push_back(FuzzValue(input, 100));
        }
    }
    for (int64_t query = 0; query < data.numQueries; ++query) {
        data.sampledTokenIds.push_back(FuzzValue(input, 200));
    }
    return data;
}

/// Attributes of a call: those that fit the data unless the input wants others.
struct FuzzAttributes {
    FuzzAttributes(int64_t seqs, int64_t queries, int64_t size, FuzzInput* input)
        : numSeqs(seqs), numQueries(queries), blockSize(size) {
        if (input->Byte() == 1) {
            numSeqs = input->Value(24);
            numQueries = input->Value(24);
            blockSize = input->Value(24);
        }
        fit = numSeqs == seqs && numQueries == queries && blockSize >= 1;
    }
    int64_t numSeqs, numQueries, blockSize;
    bool fit;
};

/// What fits 32 bits, as memory of that type holds it.
inline void NarrowValues(std::vector<int64_t>& values) {
    for (int64_t& value : values) {
        value = static_cast<int32_t>(value);
    }
}
