// SPDX-License-Identifier: Apache-2.0
// Looks at 64 ordinary slots of Step at a time. This file is compiled once per instruction set,
// under the rules of op_kernel/advance_step/advance_step_lanes.cpp: it shares nothing with other
// object files.
#include "op_kernel/step/step_lanes.h"

#include <immintrin.h>

namespace advstep {
namespace ADVSTEP_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int64_t kVectorBytes = 64;
#else
constexpr int64_t kVectorBytes = 32;
#endif
constexpr int64_t kLanes = kVectorBytes / 4;
constexpr int64_t kSlots = 64;  // of a word of a set
constexpr int64_t kVectors = kSlots / kLanes;

using Numbers __attribute__((vector_size(kVectorBytes))) = uint32_t;
using Sums __attribute__((vector_size(kVectorBytes))) = uint64_t;
using NumbersInMemory
    __attribute__((vector_size(kVectorBytes), aligned(alignof(uint32_t)), may_alias)) = uint32_t;

Numbers Load(const int32_t* from) { return *reinterpret_cast<const NumbersInMemory*>(from); }

// A bit for each lane, set if the number is not 0.
uint64_t NonZero(Numbers numbers) {
#if defined(__AVX512F__)
    const auto bits = reinterpret_cast<__m512i>(numbers);
    return _mm512_test_epi32_mask(bits, bits);
#else
    const Numbers zero = reinterpret_cast<Numbers>(numbers == 0U);
    return 0xFF & ~static_cast<uint32_t>(_mm256_movemask_ps(reinterpret_cast<__m256>(zero)));
#endif
}

bool AnyBit(Numbers numbers) {
#if defined(__AVX512F__)
    const auto bits = reinterpret_cast<__m512i>(numbers);
    return _mm512_test_epi32_mask(bits, bits) != 0;
#else
    const auto bits = reinterpret_cast<__m256i>(numbers);
    return _mm256_testz_si256(bits, bits) == 0;
#endif
}

// A bit for each of 64 bytes, set if the byte is not 0.
uint64_t NonZero(const uint8_t* bytes) {
#if defined(__AVX512F__)
    const __m512i all = _mm512_loadu_si512(bytes);
    return _mm512_test_epi8_mask(all, all);
#else
    const auto zeros = [](const uint8_t* from) {
        const __m256i some = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
        const int signs = _mm256_movemask_epi8(_mm256_cmpeq_epi8(some, _mm256_setzero_si256()));
        return uint64_t{static_cast<uint32_t>(signs)};
    };
    return ~(zeros(bytes) | zeros(bytes + 32) << 32);
#endif
}

int64_t CountBits(uint64_t word) { return __builtin_popcountll(word); }

// The places of the first entries of as many rows as a vector has lanes.
Numbers RowStarts(uint32_t width) {
    Numbers starts;
    for (int64_t lane = 0; lane < kLanes; ++lane) {
        starts[lane] = static_cast<uint32_t>(lane) * width;
    }
    return starts;
}

// Loads four entries, one by one.
__m128i FourEntries(const int32_t* table, const uint32_t* places) {
    __m128i four = _mm_cvtsi32_si128(table[places[0]]);
    four = _mm_insert_epi32(four, table[places[1]], 1);
    four = _mm_insert_epi32(four, table[places[2]], 2);
    return _mm_insert_epi32(four, table[places[3]], 3);
}

// Returns which of eight entries are -1.
uint64_t NoneOfEight(const int32_t* table, const uint32_t* places) {
    const __m256i eight = _mm256_inserti128_si256(
        _mm256_castsi128_si256(FourEntries(table, places)), FourEntries(table, places + 4), 1);
    const __m256i none = _mm256_cmpeq_epi32(eight, _mm256_set1_epi32(-1));
    return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(none)));
}

Numbers ColumnOf(Numbers cached, __m128i shift) {
#if defined(__AVX512F__)
    return reinterpret_cast<Numbers>(
        _mm512_maskz_srl_epi32(0xFFFF, reinterpret_cast<__m512i>(cached), shift));
#else
    return reinterpret_cast<Numbers>(_mm256_srl_epi32(reinterpret_cast<__m256i>(cached), shift));
#endif
}

// The places of the next blocks of some words of slots, counted from the first row of each word.
// They lie in memory, since GCC would take them out of a vector at two instructions each.
constexpr int64_t kMostWords = 4;
struct Places {
    alignas(kVectorBytes) uint32_t of[kMostWords][kSlots];
};

// Sets the places of 64 slots, and adds to the dynamic blocks. Returns false if a slot is unusual;
// then nothing was added. Slots that feed nothing are held to the same rules, which nearly all of
// them obey.
[[gnu::always_inline]] inline bool KeepPlaces(const StepTiling& t, const StepArgs& a, int64_t first,
                                              uint32_t* places, Sums* used) {
    constexpr uint32_t kSign = uint32_t{1} << 31;
    constexpr uint32_t kLarge = ~(static_cast<uint32_t>(kMostScanned) - 1);
    const auto width = static_cast<uint32_t>(t.tableWidth);
    const __m128i shift = _mm_cvtsi32_si128(t.blockShift);
    Numbers rowStarts = RowStarts(width);
    Numbers signs{};
    Numbers lengths{};
    Numbers sum{};
#pragma GCC unroll 8
    for (int64_t vector = 0; vector < kVectors; ++vector) {
        const int64_t slot = first + vector * kLanes;
        const Numbers blocks = Load(a.usedListLen + slot);
        const Numbers before = Load(a.encoderBlockLens + slot);
        const Numbers cached = Load(a.seqLensDecoder + slot);
        const Numbers column = ColumnOf(cached, shift);
        signs |= cached | (width - (before + blocks)) | (width - 1 - column);
        lengths |= blocks | before;
        sum += blocks;
        *reinterpret_cast<NumbersInMemory*>(places + vector * kLanes) = column + rowStarts;
        rowStarts += static_cast<uint32_t>(kLanes) * width;
    }
    if (AnyBit((signs & kSign) | (lengths & kLarge))) {
        return false;
    }
    const Sums pairs = reinterpret_cast<Sums>(sum);
    *used += (pairs & uint64_t{0xFFFFFFFF}) + (pairs >> 32);
    return true;
}

// Returns those of 64 slots that have tokens to feed and whose next block is -1.
[[gnu::always_inline]] inline uint64_t Lacking(const StepTiling& t, const StepArgs& a,
                                               int64_t first, const uint32_t* places) {
    const int32_t* const table = a.blockTables + first * t.tableWidth;
    uint64_t none = 0;
    uint64_t feeds = 0;
#pragma GCC unroll 8
    for (int64_t slot = 0; slot < kSlots; slot += 8) {
        none |= NoneOfEight(table, places + slot) << slot;
    }
#pragma GCC unroll 8
    for (int64_t slot = 0; slot < kSlots; slot += kLanes) {
        feeds |= NonZero(Load(a.seqLensThisTime + first + slot)) << slot;
    }
    return none & feeds;
}

// Calls visit(usedListLen) for the slots of the set.
template <typename Visit>
void ForEachUsed(const StepArgs& a, uint64_t set, int64_t first, const Visit& visit) {
    for (; set != 0; set &= set - 1) {
        visit(int64_t{a.usedListLen[first + __builtin_ctzll(set)]});
    }
}

// Sets the words of 64 ordinary slots, and adds to the sums. The blocks of preempted slots are
// taken off those of all, which KeepPlaces has added.
[[gnu::always_inline]] inline void CollectWord(const StepArgs& a, int64_t first, uint64_t lacking,
                                               const StepSets& sets, StepCoreCounts* sum) {
    const uint64_t preempted = NonZero(a.isBlockStep + first);
    const uint64_t stopped = NonZero(a.stopFlags + first);
    const uint64_t releases = stopped & ~preempted;
    const uint64_t needs = lacking & ~releases;
    // A stopped slot on the list counts as a need and is never served, as in the source.
    const uint64_t served = needs & ~stopped;
    ForEachUsed(a, preempted, first, [&](int64_t blocks) { sum->inUse -= blocks; });
    ForEachUsed(a, releases, first, [&](int64_t blocks) {
        sum->released += blocks;
        sum->releasing += blocks > 0 ? 1 : 0;
    });
    sum->needs += CountBits(needs);
    sum->dispatched += CountBits(served);
    const int64_t word = first / kSlots;
    sets.releases[word] = releases;
    sets.needs[word] = needs;
    sets.served[word] = served;
}

// The places of some words are kept before the first entry is loaded: apart, the two loops have
// more lines of memory under way at a time.
int64_t Collect(const StepTiling& t, const StepArgs& a, int64_t begin, int64_t end,
                const StepSets& sets, StepCoreCounts* counts) {
    Places places;
    Sums used{};
    StepCoreCounts sum{};
    int64_t first = begin;
    for (bool usual = true; usual && first + kSlots <= end;) {
        int64_t words = 0;
        while (words < kMostWords && first + (words + 1) * kSlots <= end) {
            usual = KeepPlaces(t, a, first + words * kSlots, places.of[words], &used);
            if (!usual) {
                break;
            }
            ++words;
        }
        for (int64_t word = 0; word < words; ++word, first += kSlots) {
            CollectWord(a, first, Lacking(t, a, first, places.of[word]), sets, &sum);
        }
    }
    for (int64_t lane = 0; lane < kLanes / 2; ++lane) {
        sum.inUse += static_cast<int64_t>(used[lane]);
    }
    counts->released += sum.released;
    counts->inUse += sum.inUse;
    counts->needs += sum.needs;
    counts->dispatched += sum.dispatched;
    counts->releasing += sum.releasing;
    return first;
}

}  // namespace

extern const StepLanes kStepLanes;
const StepLanes kStepLanes = {&Collect};

}  // namespace ADVSTEP_ISA
}  // namespace advstep
