// SPDX-License-Identifier: Apache-2.0
// Checks lengths and block ids, and computes the attention of each head of a core.

#include "paged_attention_kernel.h"

#include <algorithm>
#include <cmath>

namespace op = advance_step::op;

namespace own {
namespace {

// Each core checks the sequences of which it has the first head.
template <typename Table, typename Length>
void Check(const op::CoreContext& core, const void* payload) {
    const auto& p = *static_cast<const PagedAttentionPayload*>(payload);
    const PagedAttentionTiling& t = p.tiling;
    const auto* const tables = static_cast<const Table*>(p.blockTables);
    const auto* const lengths = static_cast<const Length*>(p.seqLens);
    const op::RowRange rows =
        op::RowsOf(core.index, t.rowsPerCore, t.numSeqs * t.numHeads, core.count);
    const int64_t first = (rows.begin + t.numHeads - 1) / t.numHeads;
    for (int64_t seq = first; seq * t.numHeads < rows.end; ++seq) {
        const int64_t length = lengths[seq];
        if (length < 1 || length > t.maxBlocks * t.blockSize) {
            core.Report(seq, static_cast<int32_t>(PagedAttentionFault::kLength), {length});
            continue;
        }
        const int64_t columns = (length + t.blockSize - 1) / t.blockSize;
        for (int64_t column = 0; column < columns; ++column) {
            const int64_t block = tables[seq * t.blockTableStride + column];
            if (block < 0 || block >= t.numBlocks) {
                core.Report(seq, static_cast<int32_t>(PagedAttentionFault::kBlock),
                            {column, block});
                break;
            }
        }
    }
}

// The elements of a token of a key-value head.
template <typename Table>
int64_t TokenAt(const PagedAttentionTiling& t, const Table* table, int64_t token, int64_t kvHead) {
    const int64_t block = table[token / t.blockSize];
    const int64_t entry = block * t.blockSize + token % t.blockSize;
    return (entry * t.numKvHeads + kvHead) * t.headSize;
}

float Score(const PagedAttentionTiling& t, const float* query, const float* key) {
    float dot = 0;
    for (int64_t i = 0; i < t.headSize; ++i) {
        dot += query[i] * key[i];
    }
    return dot * t.scale;
}

// Two passes over the tokens: the largest score, and then the sums in the order of the tokens. So
// a row needs no memory of its own, and its result does not depend on how rows are cut.
template <typename Table>
void Attend(const PagedAttentionPayload& p, const Table* table, int64_t length, int64_t row) {
    const PagedAttentionTiling& t = p.tiling;
    const int64_t kvHead = row % t.numHeads / (t.numHeads / t.numKvHeads);
    const float* const query = p.query + row * t.headSize;
    float* const out = p.out + row * t.headSize;
    float most = Score(t, query, p.keyCache + TokenAt(t, table, 0, kvHead));
    for (int64_t token = 1; token < length; ++token) {
        most = std::max(most, Score(t, query, p.keyCache + TokenAt(t, table, token, kvHead)));
    }
    std::fill_n(out, t.headSize, 0.0F);
    float sum = 0;
    for (int64_t token = 0; token < length; ++token) {
        const int64_t at = TokenAt(t, table, token, kvHead);
        const float weight = std::exp(Score(t, query, p.keyCache + at) - most);
        sum += weight;
        for (int64_t i = 0; i < t.headSize; ++i) {
            out[i] += weight * p.valueCache[at + i];
        }
    }
    for (int64_t i = 0; i < t.headSize; ++i) {
        out[i] /= sum;
    }
}

template <typename Table, typename Length>
void Commit(const op::CoreContext& core, const void* payload) {
    const auto& p = *static_cast<const PagedAttentionPayload*>(payload);
    const PagedAttentionTiling& t = p.tiling;
    const op::RowRange rows =
        op::RowsOf(core.index, t.rowsPerCore, t.numSeqs * t.numHeads, core.count);
    for (int64_t row = rows.begin; row < rows.end; ++row) {
        const int64_t seq = row / t.numHeads;
        Attend(p, static_cast<const Table*>(p.blockTables) + seq * t.blockTableStride,
               static_cast<const Length*>(p.seqLens)[seq], row);
    }
}

template <typename Table, typename Length>
PagedAttentionKernels KernelsOf() {
    return {&Check<Table, Length>, &Commit<Table, Length>};
}

}  // namespace

PagedAttentionKernels PagedAttentionKernelsFor(bool tables32, bool lengths32) {
    if (tables32) {
        return lengths32 ? KernelsOf<int32_t, int32_t>() : KernelsOf<int32_t, int64_t>();
    }
    return lengths32 ? KernelsOf<int64_t, int32_t>() : KernelsOf<int64_t, int64_t>();
}

}  // namespace own
