// SPDX-License-Identifier: Apache-2.0
// The sides of AdvanceStep's rows: the bare loop and the library.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "tests/benchmark/advance_batch.h"
#include "tests/benchmark/interleaved.h"

namespace bench {

constexpr int64_t kStride = 128;           // block ids of a sequence
constexpr int64_t kDefaultBlockSize = 16;  // vLLM's

/// B0. Before a batch that would leave the block table, the lengths go back to the start.
inline Side BareLoopSide(BareBatch initial, int64_t blockSize) {
    const auto steps = std::make_shared<BareSteps>(std::move(initial), blockSize);
    return InARow([steps](int64_t runs) { steps->MakeRoom(runs); },
                  [run = steps.get()] { run->Run(); }, steps->mostSteps());
}

/// run(), which advances the batch by a step; it may keep a reference to it.
template <typename Run>
Side AdvanceSide(std::shared_ptr<AdvanceBatch> batch, Run run) {
    const int64_t most = batch->mostSteps();
    return InARow([batch](int64_t runs) { batch->MakeRoom(runs); }, std::move(run), most);
}

/// Full calls of a batch of that size beside B0 on the same rows.
Comparison CallBesideBareLoop(int64_t numSeqs);

/// Why so many bytes do not fit this machine now; empty if they do.
std::string WhyNoRoomForBytes(int64_t bytes);

/// Why two block tables of so many rows do not fit this machine now; empty if they do.
std::string WhyNoRoomFor(int64_t numSeqs);

/// The same of two hardware threads.
std::string WhyNoTwoThreads();

}  // namespace bench
