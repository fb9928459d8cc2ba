#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "tests/benchmark/advance_batch.h"
#include "tests/benchmark/bare_loop.h"
#include "tests/benchmark/interleaved.h"

namespace bench {

/// B0. Before a batch that would leave the block table, the lengths go back to the start.
inline Side BareLoopSide(std::shared_ptr<BareBatch> batch, int64_t blockSize) {
    const int64_t most = batch->maxBlocks * blockSize - AdvanceBatch::kFirstLength;
    BareBatch& rows = *batch;
    return InARow([batch, blockSize](int64_t runs) { MakeRoom(*batch, blockSize, runs); },
                  [&rows, blockSize] { AdvanceBareLoop(rows, blockSize); }, most);
}

/// run(), which advances the batch by a step; it may keep a reference to it.
template <typename Run>
Side AdvanceSide(std::shared_ptr<AdvanceBatch> batch, Run run) {
    const int64_t most = batch->mostSteps();
    return InARow([batch](int64_t runs) { batch->MakeRoom(runs); }, std::move(run), most);
}

/// Full calls of a batch of that size beside B0 on the same rows; blockSize 16, stride 128.
Comparison CallBesideBareLoop(int64_t numSeqs);

/// Why so many rows of 128 block ids, twice, do not fit this machine now; empty if they do.
std::string WhyNoRoomFor(int64_t numSeqs);

/// The same of two hardware threads.
std::string WhyNoTwoThreads();

}  // namespace bench
