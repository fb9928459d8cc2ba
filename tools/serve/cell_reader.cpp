// SPDX-License-Identifier: Apache-2.0
// Implements the reader of K/V cells: a kernel gathers them, a copy brings them to the host.

#include "cell_reader.h"

#include <cstddef>

namespace serve {

void CellReader::Read(Stream& stream, const std::vector<Range>& ranges) {
    args_.clear();
    int64_t total = 0;
    for (const Range& range : ranges) {
        args_.push_back({memory_, range.slot, range.length, nullptr});
        total += range.length;
    }
    if (total == 0) {
        return;
    }
    if (total > room_) {
        room_ = 0;
        gathered_ = std::make_unique<DeviceBuffer<KvCell>>(total);
        host_ = std::make_unique<PinnedBuffer<KvCell>>(total);
        room_ = total;
    }
    KvCell* out = gathered_->Data();
    for (ReadCellsArgs& args : args_) {
        args.out = out;
        out += args.length;
        stream.Launch(ReadCellsKernel, &args, "read cells");
    }
    Download(stream, host_->Data(), *gathered_, 0, total);
}

const KvCell* CellReader::Cells(int64_t index) const {
    return host_->Data() + (args_.at(static_cast<size_t>(index)).out - gathered_->Data());
}

}  // namespace serve
