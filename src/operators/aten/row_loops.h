// SPDX-License-Identifier: Apache-2.0
// Products of queries and keys, and sums of values, that read the rows of a cache where they lie.

#pragma once

#include <cstdint>

namespace advstep_operators {

/// Rows of keys or values: those of all heads for each token, in blocks of tokens.
struct RowPlaces {
    const void* data = nullptr;
    const int64_t* blocks = nullptr;  // the numbers of the blocks; null: block 0 alone
    int64_t blockTokens = 0;
    int64_t blockStride = 0;  // strides in elements
    int64_t tokenStride = 0;
    int64_t headStride = 0;
    int64_t tokens = 0;
    int64_t size = 0;  // elements of a row, a multiple of kRowLanes
};

constexpr int64_t kRowLanes = 16;

enum class RowType : uint8_t { kFloat, kHalf, kBFloat };

/// A range of the heads of the rows. Each of them has `group` queries.
struct HeadRange {
    int64_t begin = 0;
    int64_t end = 0;
    int64_t group = 1;
};

/// The loops of one instruction set. The order of their sums depends on rows and blocks alone, so
/// heads may be split among threads.
struct RowLoops {
    /// products[head * group + query][token] = queries[head * group + query] * row
    void (*multiply)(const RowPlaces& rows, RowType type, const HeadRange& heads,
                     const float* queries, float* products);
    /// sums[head * group + query] += the sum over tokens of weights[...][token] * row
    void (*add)(const RowPlaces& rows, RowType type, const HeadRange& heads, const float* weights,
                float* sums);
};

#if defined(__x86_64__)
namespace avx2 {
extern const RowLoops kRowLoops;
}
namespace avx512 {
extern const RowLoops kRowLoops;
}
#endif

/// Returns the loops for this processor; null: it has none of these instruction sets.
const RowLoops* FindRowLoops();

}  // namespace advstep_operators
