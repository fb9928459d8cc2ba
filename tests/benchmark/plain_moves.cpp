// SPDX-License-Identifier: Apache-2.0
// Implements the moves of an update.

#include "tests/benchmark/plain_moves.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace {

constexpr size_t kPage = 4096;  // bytes

// The widest vectors of the processor, as the library has them.
#if defined(__x86_64__)
#define BENCH_WIDEST __attribute__((target_clones("default", "avx2", "arch=skylake-avx512")))
#else
#define BENCH_WIDEST
#endif

// One by one: gathers are slower on some processors.
__attribute__((noinline)) void Keep(const int64_t* __restrict blocks,
                                    const int32_t* __restrict places, int64_t* __restrict kept,
                                    size_t queries) {
    for (size_t query = 0; query < queries; ++query) {
        kept[query] = blocks[places[query]];
    }
}

BENCH_WIDEST void Move(const int64_t* __restrict sampled, const int64_t* __restrict kept,
                       int64_t* __restrict tokens, int64_t* __restrict positions,
                       int64_t* __restrict lengths, int64_t* __restrict slots, size_t queries) {
    for (size_t query = 0; query < queries; ++query) {
        const int64_t position = lengths[query];
        tokens[query] = sampled[query];
        positions[query] = position;
        lengths[query] = position + 1;
        slots[query] = kept[query];
    }
}

}  // namespace

void PlainMoves::FreePages::operator()(int64_t* memory) const { std::free(memory); }

PlainMoves::Values PlainMoves::CopyOf(const std::vector<int64_t>& initial) {
    const size_t bytes = (initial.size() * sizeof(int64_t) + kPage - 1) / kPage * kPage;
    auto* const memory = static_cast<int64_t*>(std::aligned_alloc(kPage, bytes));
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    std::copy(initial.begin(), initial.end(), memory);
    return Values(memory);
}

PlainMoves::PlainMoves(const BareBatch& initial, int64_t blockSize)
    : queries_(initial.sampledTokenIds.size()),
      places_(queries_),
      sampled_(CopyOf(initial.sampledTokenIds)),
      blocks_(CopyOf(initial.blockTables)),
      tokens_(CopyOf(initial.inputTokens)),
      positions_(CopyOf(initial.inputPositions)),
      lengths_(CopyOf(initial.seqLens)),
      slots_(CopyOf(initial.slotMapping)),
      kept_(CopyOf(initial.slotMapping)) {
    for (size_t query = 0; query < queries_; ++query) {
        places_[query] = static_cast<int32_t>(static_cast<int64_t>(query) * initial.maxBlocks +
                                              initial.seqLens[query] / blockSize);
    }
}

void PlainMoves::Run() {
    Keep(blocks_.get(), places_.data(), kept_.get(), queries_);
    Move(sampled_.get(), kept_.get(), tokens_.get(), positions_.get(), lengths_.get(), slots_.get(),
         queries_);
}
