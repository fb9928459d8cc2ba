// SPDX-License-Identifier: Apache-2.0
// The random calls of AdvanceStep and its kin: one generator, to which an operator adds what only
// it has.
#ifndef ADVANCE_STEP_TESTS_CONFORMANCE_RANDOM_CALL_H_
#define ADVANCE_STEP_TESTS_CONFORMANCE_RANDOM_CALL_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/op_layout.h"
#include "support/random.h"

namespace conformance {

// Under which rules an operator runs.
struct RandomRules {
    std::string conformance;
    int exactCores = 0;  // the vector cores of conformance exact, where the result depends on them

    bool IsVllm() const { return conformance == "vllm"; }
    bool IsExact() const { return conformance == "exact"; }
};

// Rows without a query at the end of a batch.
enum class Padding { kNone, kPermitted, kRequired };

struct RandomSize {
    int64_t seqs = 0;
    int64_t queries = 0;
    int64_t blockSize = 0;
    int64_t columns = 0;
    uint64_t seed = 0;  // of the values
};

// Small batches as often as large ones; isLargest: one of mostRows rows.
inline RandomSize DrawSize(support::Random& random, Padding padding, int64_t rowsPerSeq,
                           int64_t mostRows, bool isLargest) {
    constexpr int64_t kBlockSizes[] = {1, 2, 3, 7, 16, 31, 64, 128, 1000, 1024};
    const int64_t mostSeqs = std::max<int64_t>(1, mostRows / rowsPerSeq);
    const int64_t fewest = padding == Padding::kRequired ? 2 : 1;
    RandomSize size;
    size.seqs = std::max(isLargest ? mostSeqs : random.Size(mostSeqs), fewest);
    const int64_t mostQueries = padding == Padding::kRequired ? size.seqs - 1 : size.seqs;
    const bool isFull = padding == Padding::kNone || random.OneIn(2);
    size.queries = isFull ? mostQueries : random.Between(1, mostQueries);
    size.blockSize = random.OneOf(kBlockSizes);
    size.columns = random.Size(size.seqs > 4000 ? 6 : 60);
    size.seed = static_cast<uint64_t>(random.Between(0, 1 << 30));
    return size;
}

// What may be a fault in any operator. A position is where a row's token goes.
inline int64_t DrawBadPosition(support::Random& random, const RandomSize& size) {
    const int64_t edge = size.blockSize * size.columns;  // of a table
    switch (random.Between(0, 3)) {
        case 0:
            return -random.Between(0, 2 * size.blockSize);
        case 1:
            return edge + random.Between(-2, 2);
        case 2:
            return size.seqs * edge + random.Between(-1, 0);  // of all tables
        default:
            return random.OneIn(2) ? INT64_MAX : INT64_MIN;
    }
}
inline int64_t DrawBadBlock(support::Random& random, const RandomSize& size) {
    switch (random.Between(0, 3)) {
        case 0:
            return int64_t{INT32_MAX} + random.Between(0, 1);
        case 1:  // whose slots are the last that fit
            return std::min((random.OneIn(2) ? INT64_MAX : INT32_MAX) / size.blockSize,
                            INT64_MAX - 1) +
                   random.Between(-1, 1);
        default:
            return -random.Between(1, 3);
    }
}

// A layout that holds the values: a tensor is int32 now and then, if the rules permit it and every
// value fits.
inline support::OpLayout DrawLayout(support::Random& random, bool narrowRows, int64_t columns,
                                    const std::vector<int64_t>& lengths,
                                    const std::vector<int64_t>& tables) {
    const auto dtype = [&random](bool isPermitted, const std::vector<int64_t>& values) {
        const bool fits = std::all_of(values.begin(), values.end(), [](int64_t value) {
            return value >= INT32_MIN && value <= INT32_MAX;
        });
        return random.OneIn(2) && isPermitted && fits ? ACL_INT32 : ACL_INT64;
    };
    support::OpLayout layout;
    layout.columns = random.OneIn(2);
    layout.rowStride = random.OneIn(2) ? 0 : columns + random.Between(0, 5);
    layout.viewOffset = random.OneIn(2) ? 0 : random.Between(1, 70);
    layout.lengths = dtype(narrowRows, lengths);
    layout.slots = dtype(narrowRows, {});
    layout.tables = dtype(true, tables);
    return layout;
}

}  // namespace conformance

#endif  // ADVANCE_STEP_TESTS_CONFORMANCE_RANDOM_CALL_H_
