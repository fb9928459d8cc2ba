// SPDX-License-Identifier: Apache-2.0
// AdvanceStepV2 with eight queries in vectors of AVX-512. As advance_step_lanes.cpp, this shares
// nothing with other object files (tests/lint/check_isa_objects.sh).
//
// Eight queries of w rows are w vectors of rows. The values of a query are computed in vectors with
// a lane for each query, and permuted into the rows. Intrinsics have masks of all lanes where GCC
// 12 warns of the forms without.
#include "op_kernel/advance_step/advance_step_v2_lanes.h"

#include <immintrin.h>

namespace advstep {
namespace avx512 {
namespace {

constexpr int64_t kLanes = AdvanceStepV2Lanes::kQueries;
constexpr __mmask8 kAll = 0xFF;

// Where the rows of eight queries lie in their vectors.
struct Pattern {
    alignas(64) int64_t query[kLanes][kLanes]{};  // by row
    alignas(64) int64_t index[kLanes][kLanes]{};  // of the row in its query, by row
    alignas(64) int64_t first[kLanes][kLanes]{};  // lane of the first row, by query
    uint8_t firstRows[kLanes]{};                  // lanes of the vector with a first row
    uint8_t queries[kLanes]{};                    // whose first row is in the vector
    uint8_t specLanes[kLanes]{};                  // as many as rows that are not first
    int64_t specBefore[kLanes]{};                 // spec tokens of the rows before the vector

    constexpr explicit Pattern(int64_t rows) {
        int64_t spec = 0;
        for (int64_t row = 0; row < rows * kLanes; ++row) {
            const int64_t vector = row / kLanes;
            const int64_t lane = row % kLanes;
            query[vector][lane] = row / rows;
            index[vector][lane] = row % rows;
            if (lane == 0) {
                specBefore[vector] = spec;
            }
            if (row % rows == 0) {
                firstRows[vector] = static_cast<uint8_t>(firstRows[vector] | 1U << lane);
                queries[vector] = static_cast<uint8_t>(queries[vector] | 1U << row / rows);
                first[vector][row / rows] = lane;
            } else {
                specLanes[vector] = static_cast<uint8_t>(specLanes[vector] << 1 | 1U);
                ++spec;
            }
        }
    }
};

constexpr Pattern kPatterns[] = {Pattern(1), Pattern(2), Pattern(3), Pattern(4),
                                 Pattern(5), Pattern(6), Pattern(7), Pattern(8)};
static_assert(sizeof(kPatterns) / sizeof(Pattern) == AdvanceStepV2Lanes::kMostRows);

__m512i Load(const int64_t* values) { return _mm512_loadu_si512(values); }

__m512i Same(uint64_t value) { return _mm512_set1_epi64(static_cast<int64_t>(value)); }

// The values of the rows' queries.
__m512i OfRows(const int64_t* queries, __m512i values) {
    return _mm512_maskz_permutexvar_epi64(kAll, Load(queries), values);
}

struct V2ByShift {
    explicit V2ByShift(const BlockMath& math) : shift(_mm_cvtsi32_si128(math.shift)) {}
    __m512i Column(__m512i position) const { return _mm512_maskz_srl_epi64(kAll, position, shift); }
    __m512i FirstOf(__m512i block) const { return _mm512_maskz_sll_epi64(kAll, block, shift); }
    __m128i shift;
};

struct V2ByMultiplier {
    explicit V2ByMultiplier(const BlockMath& math)
        : shift(_mm_cvtsi32_si128(math.shift)),
          multiplier(Same(math.multiplier)),
          blockSize(Same(static_cast<uint64_t>(math.blockSize))) {}
    __m512i Column(__m512i position) const {
        return _mm512_maskz_srl_epi64(kAll, _mm512_maskz_mul_epu32(kAll, position, multiplier),
                                      shift);
    }
    __m512i FirstOf(__m512i block) const { return _mm512_mullo_epi64(block, blockSize); }
    __m128i shift;
    __m512i multiplier;
    __m512i blockSize;
};

__m512i Gather(const int64_t* table, __m512i places) {
    return _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), kAll, places, table, 8);
}

__m512i Gather(const int32_t* table, __m512i places) {
    return _mm512_maskz_cvtepi32_epi64(
        kAll, _mm512_mask_i64gather_epi32(_mm256_setzero_si256(), kAll, places, table, 4));
}

template <typename Division, typename Table>
int64_t PlaceGroups(const AdvanceStepV2Tiling& t, const AdvanceStepV2Args& a, int64_t begin,
                    int64_t end, int64_t* slots) {
    const Division division(t.math);
    const int64_t rows = t.rowsPerQuery;
    const Pattern& pattern = kPatterns[rows - 1];
    const __m512i one = Same(1);
    const __m512i toLast = Same(static_cast<uint64_t>(rows) - 1);
    const __m512i mostFirst = Same(static_cast<uint64_t>(t.math.positions - rows));
    const __m512i mostBefore = Same((uint64_t{1} << 63) - static_cast<uint64_t>(rows));
    const __m512i lastBlock = Same(static_cast<uint64_t>(t.math.lastBlock));
    const __m512i tableRows = _mm512_mullo_epi64(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0),
                                                 Same(static_cast<uint64_t>(t.blockTableStride)));
    int64_t query = begin;
    for (; query + kLanes <= end; query += kLanes) {
        const int64_t* const before = a.common.inputPositions + query * rows;
        const int64_t* const sampled = a.common.sampledTokenIds + query * rows;
        __m512i first = _mm512_setzero_si512();
        for (int64_t at = 0; at < rows; ++at) {
            first = _mm512_mask_permutexvar_epi64(
                first, pattern.queries[at], Load(pattern.first[at]), Load(before + at * kLanes));
        }
        const __m512i added = _mm512_add_epi64(Load(a.acceptedNum + query), one);
        const __m512i position = _mm512_add_epi64(first, added);
        // A negative position before the step is no fault, but the sum may have wrapped. No row
        // has one where the first is neither negative nor so large that a later row wraps.
        uint32_t odd = static_cast<uint32_t>(_mm512_cmpgt_epu64_mask(first, mostBefore)) |
                       _mm512_cmpgt_epu64_mask(position, mostFirst);
        for (int64_t at = 0; at < rows; ++at) {
            const __m512i from =
                _mm512_sub_epi64(Load(before + at * kLanes), OfRows(pattern.query[at], first));
            odd |= _mm512_cmpneq_epi64_mask(from, Load(pattern.index[at])) |
                   (static_cast<uint32_t>(_mm512_movepi64_mask(Load(sampled + at * kLanes))) &
                    pattern.firstRows[at]);
        }
        if (odd != 0) {
            return query;
        }
        const Table* const table =
            static_cast<const Table*>(a.common.blockTables) + query * t.blockTableStride;
        const __m512i column = division.Column(position);
        const __m512i lastColumn = division.Column(_mm512_add_epi64(position, toLast));
        const __m512i block = Gather(table, _mm512_add_epi64(column, tableRows));
        const __m512i next = Gather(table, _mm512_add_epi64(lastColumn, tableRows));
        if ((_mm512_cmpgt_epu64_mask(block, lastBlock) |
             _mm512_cmpgt_epu64_mask(next, lastBlock)) != 0) {
            return query;
        }
        // A slot is the position before the step and what the block adds. Where all rows have the
        // same block, both sums are the same, and it does not matter which is taken.
        const __m512i more =
            _mm512_add_epi64(division.FirstOf(_mm512_sub_epi64(block, column)), added);
        const __m512i nextMore =
            _mm512_add_epi64(division.FirstOf(_mm512_sub_epi64(next, lastColumn)), added);
        const __m512i rowsBefore = _mm512_sub_epi64(division.FirstOf(lastColumn), position);
        for (int64_t at = 0; at < rows; ++at) {
            const __m512i place = Load(pattern.query[at]);
            const __mmask8 inNext = _mm512_cmpge_epi64_mask(Load(pattern.index[at]),
                                                            OfRows(pattern.query[at], rowsBefore));
            const __m512i sum = _mm512_mask_permutexvar_epi64(OfRows(pattern.query[at], more),
                                                              inNext, place, nextMore);
            _mm512_storeu_si512(slots + query * rows + at * kLanes,
                                _mm512_add_epi64(Load(before + at * kLanes), sum));
        }
    }
    return query;
}

template <typename Table>
int64_t PlaceV2(const AdvanceStepV2Tiling& t, const AdvanceStepV2Args& a, int64_t begin,
                int64_t end, int64_t* slots) {
    return t.math.division == BlockDivision::kShift
               ? PlaceGroups<V2ByShift, Table>(t, a, begin, end, slots)
               : PlaceGroups<V2ByMultiplier, Table>(t, a, begin, end, slots);
}

int64_t AdvanceV2(const AdvanceStepV2Tiling& t, const AdvanceStepV2Args& a, int64_t begin,
                  int64_t end, const int64_t* slots) {
    const int64_t rows = t.rowsPerQuery;
    const Pattern& pattern = kPatterns[rows - 1];
    const __m512i one = Same(1);
    auto* const lengths = static_cast<int64_t*>(a.common.seqLens);
    auto* const mapping = static_cast<int64_t*>(a.common.slotMapping);
    int64_t query = begin;
    for (; query + kLanes <= end; query += kLanes) {
        const int64_t* const sampled = a.common.sampledTokenIds + query * rows;
        const int64_t* const spec = a.specToken + query * (rows - 1);
        // A bit for each sampled token below 0. Each query takes the token before its first one.
        uint64_t negative = 0;
        for (int64_t at = 0; at < rows; ++at) {
            negative |= uint64_t{_mm512_movepi64_mask(Load(sampled + at * kLanes))} << at * kLanes;
        }
        alignas(64) int64_t last[kLanes];
        for (int64_t of = 0; of < kLanes; ++of) {
            const uint64_t behind = negative >> of * rows | uint64_t{1} << rows;
            last[of] = sampled[of * rows + __builtin_ctzll(behind) - 1];
        }
        const __m512i token = Load(last);
        const __m512i added = _mm512_add_epi64(Load(a.acceptedNum + query), one);
        for (int64_t at = 0; at < rows; ++at) {
            const int64_t row = query * rows + at * kLanes;
            const __m512i position = _mm512_add_epi64(Load(a.common.inputPositions + row),
                                                      OfRows(pattern.query[at], added));
            _mm512_storeu_si512(a.common.inputPositions + row, position);
            _mm512_storeu_si512(lengths + row, _mm512_add_epi64(position, one));
            _mm512_storeu_si512(mapping + row, Load(slots + row));
            const __m512i rest =
                _mm512_maskz_loadu_epi64(pattern.specLanes[at], spec + pattern.specBefore[at]);
            _mm512_storeu_si512(
                a.common.inputTokens + row,
                _mm512_mask_expand_epi64(OfRows(pattern.query[at], token),
                                         static_cast<__mmask8>(~pattern.firstRows[at]), rest));
        }
    }
    return query;
}

}  // namespace

const AdvanceStepV2LanesTable kV2Lanes = {{&PlaceV2<int64_t>, &AdvanceV2},
                                          {&PlaceV2<int32_t>, &AdvanceV2}};

}  // namespace avx512
}  // namespace advstep
