// SPDX-License-Identifier: Apache-2.0
// Implements the bare update on one thread or two.

#include "tests/benchmark/plain_halves.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace {

constexpr int64_t kRowsFetchedAhead = 64;

}  // namespace

PlainHalves::Values::Values(const std::vector<int64_t>& initial)
    : memory_(MapLargePages(initial.size() * sizeof(int64_t))) {
    std::copy(initial.begin(), initial.end(), data());
}

void PlainHalves::Values::CopyTo(std::vector<int64_t>* values) const {
    std::copy_n(data(), values->size(), values->begin());
}

PlainHalves::PlainHalves(BareBatch initial, int64_t blockSize)
    : batch_(std::move(initial)),
      lengths_(batch_.seqLens),
      sampled_(batch_.sampledTokenIds),
      blocks_(batch_.blockTables),
      tokens_(batch_.inputTokens),
      positions_(batch_.inputPositions),
      seqLens_(batch_.seqLens),
      slots_(batch_.slotMapping),
      kept_(batch_.slotMapping),
      shift_(__builtin_ctzll(static_cast<uint64_t>(blockSize))),
      mostSteps_(batch_.maxBlocks * blockSize -
                 *std::max_element(lengths_.begin(), lengths_.end())) {}

void PlainHalves::MakeRoom(int64_t steps) {
    steps_ += steps;
    if (steps_ > mostSteps_) {
        std::copy(lengths_.begin(), lengths_.end(), seqLens_.data());
        steps_ = steps;
    }
}

const BareBatch& PlainHalves::batch() {
    tokens_.CopyTo(&batch_.inputTokens);
    positions_.CopyTo(&batch_.inputPositions);
    seqLens_.CopyTo(&batch_.seqLens);
    slots_.CopyTo(&batch_.slotMapping);
    return batch_;
}

double PlainHalves::Run(int threads, int64_t steps) {
    const auto rows = static_cast<int64_t>(batch_.sampledTokenIds.size());
    const int64_t half = (rows + threads - 1) / threads;
    const double time = crew_.Run(threads, [&](int number) {
        for (int64_t step = 0; step < steps; ++step) {
            Advance(number * half, std::min(rows, (number + 1) * half));
        }
    });
    return time / static_cast<double>(steps);
}

void PlainHalves::Advance(int64_t begin, int64_t end) {
    const int64_t* const sampled = sampled_.data();
    const int64_t* const blocks = blocks_.data();
    int64_t* const tokens = tokens_.data();
    int64_t* const positions = positions_.data();
    int64_t* const lengths = seqLens_.data();
    int64_t* const slots = slots_.data();
    int64_t* const kept = kept_.data();
    const int64_t mask = (int64_t{1} << shift_) - 1;
    const auto entry = [&](int64_t row, int64_t position) {
        return blocks + row * batch_.maxBlocks + (position >> shift_);
    };
    for (int64_t row = begin; row < end; ++row) {
        const int64_t ahead = row + kRowsFetchedAhead;
        if (ahead < end) {
            // Into the second cache, as the library does.
            __builtin_prefetch(entry(ahead, lengths[ahead]), 0, 2);
        }
        kept[row] = (*entry(row, lengths[row]) << shift_) | (lengths[row] & mask);
    }
    for (int64_t row = begin; row < end; ++row) {
        const int64_t position = lengths[row];
        tokens[row] = sampled[row];
        positions[row] = position;
        lengths[row] = position + 1;
        slots[row] = kept[row];
    }
}
