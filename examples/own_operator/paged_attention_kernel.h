// SPDX-License-Identifier: Apache-2.0
// The payload, the faults and the kernels of PagedAttention.

#pragma once

#include <cstdint>

#include "advance_step/operator.h"

namespace own {

/// The work of one call. A row of work is a head of a sequence.
struct PagedAttentionTiling {
    int64_t rowsPerCore;  // the last core may have fewer
    int64_t numSeqs;
    int64_t numHeads;
    int64_t numKvHeads;
    int64_t headSize;
    int64_t numBlocks;
    int64_t blockSize;         // tokens
    int64_t maxBlocks;         // columns of blockTables
    int64_t blockTableStride;  // elements from one row to the next
    float scale;
};

struct PagedAttentionPayload {
    PagedAttentionTiling tiling;
    const float* query;
    const float* keyCache;
    const float* valueCache;
    const void* blockTables;
    const void* seqLens;
    float* out;
};

/// The faults of bad data, and the values of each.
enum class PagedAttentionFault : int32_t {
    kLength,  // seqLens
    kBlock,   // column, block id
};

struct PagedAttentionKernels {
    advance_step::op::KernelFn check;
    advance_step::op::KernelFn commit;
};

/// The kernels for the dtypes of the tables and the lengths.
PagedAttentionKernels PagedAttentionKernelsFor(bool tables32, bool lengths32);

}  // namespace own
