// SPDX-License-Identifier: Apache-2.0
// Copies of sequences' K/V cells, read through their block tables, for the check.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device_buffer.h"
#include "model_kernels.h"

namespace serve {

class CellReader {
 public:
    explicit CellReader(const ModelMemory& memory) : memory_(memory) {}

    struct Range {
        int64_t slot;
        int64_t length;
    };

    /// Enqueues the copy of the cells of each slot's positions [0, length) to the host. Nothing may
    /// be pending from the call before.
    void Read(Stream& stream, const std::vector<Range>& ranges);
    /// The cells of the index-th range; after a synchronisation.
    const KvCell* Cells(int64_t index) const;

 private:
    const ModelMemory& memory_;
    int64_t room_ = 0;  // cells; grows to the most ever read at a time
    std::unique_ptr<DeviceBuffer<KvCell>> gathered_;
    std::unique_ptr<PinnedBuffer<KvCell>> host_;
    std::vector<ReadCellsArgs> args_;
};

}  // namespace serve
