// A decode batch of the input's: mostly sound, now and then not.
#pragma once

#include <algorithm>

#include "fuzz/fuzz_input.h"
#include "reference/advance_step_reference.h"

inline reference::AdvanceStepData FuzzDecodeBatch(FuzzInput* input, int64_t mostSeqs) {
    reference::AdvanceStepData data;
    data.numSeqs = 1 + input->Byte() % mostSeqs;
    data.numQueries = std::max<int64_t>(1, data.numSeqs - input->Byte() % 8);
    data.maxBlocks = 1 + input->Byte() % 5;
    data.blockSize = 1 + input->Byte() % 16;
    if (input->Byte() == 1) {
        data.blockSize = std::max<int64_t>(1, input->Value(64));
    }
    const int64_t longest = data.maxBlocks * std::min<int64_t>(data.blockSize, 16);
    const auto value = [input](int64_t below) {
        const uint8_t byte = input->Byte();
        return byte == 255 ? input->Value(below) : byte % below;
    };
    for (int64_t row = 0; row < data.numSeqs; ++row) {
        data.inputTokens.push_back(5);
        data.inputPositions.push_back(6);
        data.slotMapping.push_back(7);
        data.seqLens.push_back(value(longest));
        for (int64_t column = 0; column < data.maxBlocks; ++column) {
            data.blockTables.push_back(value(100));
        }
    }
    for (int64_t query = 0; query < data.numQueries; ++query) {
        data.sampledTokenIds.push_back(value(200));
    }
    return data;
}

/// What fits 32 bits, as memory of that type holds it.
inline void NarrowValues(std::vector<int64_t>& values) {
    for (int64_t& value : values) {
        value = static_cast<int32_t>(value);
    }
}
