// SPDX-License-Identifier: Apache-2.0
// Makes comparisons with the bare loop, and finds batches that do not fit the machine.

#include "tests/benchmark/dashboard/advance_sides.h"

#include <fmt/format.h>

#include <fstream>
#include <limits>
#include <string>
#include <thread>

namespace bench {
namespace {

// What Linux can give without swapping; unknown elsewhere, so plenty.
int64_t AvailableBytes() {
    std::ifstream file("/proc/meminfo");
    std::string key, unit;
    int64_t kilobytes = 0;
    while (file >> key >> kilobytes) {
        std::getline(file, unit);
        if (key == "MemAvailable:") {
            return kilobytes * 1024;
        }
    }
    return std::numeric_limits<int64_t>::max();
}

}  // namespace

Comparison CallBesideBareLoop(int64_t numSeqs) {
    BareBatch initial = MakeMixedBatch(numSeqs, kStride, kDefaultBlockSize);
    const auto batch = std::make_shared<AdvanceBatch>(initial, kDefaultBlockSize);
    return {AdvanceSide(batch, [batch = batch.get()] { batch->Call(); }),
            BareLoopSide(std::move(initial), kDefaultBlockSize), true};
}

std::string WhyNoRoomFor(int64_t numSeqs) {
    // Two tables at work and the one that they are made from, with something to spare.
    return WhyNoRoomForBytes(4 * numSeqs * kStride * static_cast<int64_t>(sizeof(int64_t)));
}

std::string WhyNoRoomForBytes(int64_t bytes) {
    const int64_t available = AvailableBytes();
    return bytes <= available
               ? ""
               : fmt::format("needs {} MB of memory, {} are free", bytes >> 20, available >> 20);
}

std::string WhyNoTwoThreads() {
    return std::thread::hardware_concurrency() >= 2 ? "" : "needs two hardware threads";
}

}  // namespace bench
