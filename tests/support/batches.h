// SPDX-License-Identifier: Apache-2.0
// Decode batches that no conformance finds fault with, and what becomes of them.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_BATCHES_H_
#define ADVANCE_STEP_TESTS_SUPPORT_BATCHES_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>

#include "reference/advance_step_reference.h"

namespace support {

// A random number from 0 to the last.
struct UpTo {
    std::mt19937_64* random;
    int64_t operator()(int64_t last) const {
        return static_cast<int64_t>((*random)() % (static_cast<uint64_t>(last) + 1));
    }
};

// Every value from the seed alone. Lengths and slots fit int32 while blockSize * maxBlocks does.
inline reference::AdvanceStepData MakeBatch(int64_t numSeqs, int64_t numQueries, int64_t blockSize,
                                            int64_t maxBlocks, uint64_t seed) {
    std::mt19937_64 random(seed);
    const UpTo upTo{&random};
    reference::AdvanceStepData data;
    data.numSeqs = numSeqs;
    data.numQueries = numQueries;
    data.blockSize = blockSize;
    data.maxBlocks = maxBlocks;
    const int64_t lastBlock = std::max<int64_t>(0, (int64_t{1} << 30) / blockSize - 1);
    for (int64_t row = 0; row < numSeqs; ++row) {
        data.inputTokens.push_back(upTo(150000));
        data.inputPositions.push_back(upTo(100000));
        data.seqLens.push_back(upTo(blockSize * maxBlocks - 1));
        data.slotMapping.push_back(upTo(1000000));
        for (int64_t column = 0; column < maxBlocks; ++column) {
            data.blockTables.push_back(upTo(lastBlock));
        }
    }
    for (int64_t query = 0; query < numQueries; ++query) {
        data.sampledTokenIds.push_back(upTo(150000));
    }
    return data;
}

// data after one run.
inline reference::AdvanceStepData Advanced(reference::AdvanceStepData data) {
    EXPECT_FALSE(reference::AdvanceStepStandard(data).has_value());
    return data;
}
inline reference::AdvanceStepData AdvancedExactly(reference::AdvanceStepData data,
                                                  int64_t vectorCores) {
    EXPECT_FALSE(reference::AdvanceStepExact(data, vectorCores).has_value());
    return data;
}

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_BATCHES_H_
