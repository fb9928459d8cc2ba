// SPDX-License-Identifier: Apache-2.0
// The decode batch in device memory: the tensors of AdvanceStep.

#pragma once

#include <cstdint>
#include <vector>

#include "device_array.h"
#include "device_buffer.h"
#include "serve_options.h"

namespace serve {

/// Rows [0, numQueries) are the sequences that decode, by ascending slot; the others are padding.
/// There is always a padding row, since standard conformance wants numQueries < numSeqs. The rows
/// are gathered from the slots anew in every iteration: nothing in them lasts longer.
///
/// As with captured graphs, the number of rows of a pass is one of a few: the power of two that
/// holds the queries and a padding row. So a pass costs what its sequences cost.
class BatchRows {
 public:
    explicit BatchRows(const Options& options);

    /// Enqueues the upload of the slots that rows [0, slots.size()) stand for.
    void Assign(Stream& stream, const std::vector<int32_t>& slots);

    /// The tensors of AdvanceStep.
    std::vector<DeviceArray> Arrays() const;

    /// Rows of a pass with so many queries, padding included.
    int64_t NumSeqsFor(int64_t numQueries) const;
    int64_t MaxBlocks() const { return maxBlocks_; }

    // In signature order.
    DeviceBuffer<int64_t> inputTokens;
    DeviceBuffer<int64_t> sampledTokenIds;
    DeviceBuffer<int64_t> inputPositions;
    DeviceBuffer<int64_t> seqLens;
    DeviceBuffer<int64_t> slotMapping;
    DeviceBuffer<int32_t> blockTables;
    Mirror<int32_t> rowSlots;  // [numSeqs]

 private:
    int64_t numSeqs_;
    int64_t maxBlocks_;
};

}  // namespace serve
