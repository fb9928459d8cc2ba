// SPDX-License-Identifier: Apache-2.0
// AdvanceStepV2 with a query in each lane of a vector. As advance_step_lanes.cpp, this is compiled
// once per instruction set, and shares nothing with other object files
// (tests/lint/check_isa_objects.sh).
//
// As many queries of w rows as a vector has lanes are w vectors of rows. The values of a query are
// computed in vectors with a lane for each query, and permuted into the rows.
#include "op_kernel/advance_step/advance_step_v2_lanes.h"

#if defined(__AVX512F__)
#include "op_kernel/advance_step/v2_vector_avx512.h"
#else
#include "op_kernel/advance_step/v2_vector_avx2.h"
#endif

namespace advstep {
namespace ADVSTEP_ISA {
namespace {

constexpr int64_t kMostRows = AdvanceStepV2Lanes::kMostRows;

// The places of the rows of kWidth queries in their vectors.
struct Pattern {
    alignas(64) int64_t query[kMostRows][kWidth]{};  // permutation of queries into rows
    alignas(64) int64_t index[kMostRows][kWidth]{};  // of the row in its query
    alignas(64) int64_t first[kMostRows][kWidth]{};  // permutation of first rows into queries
    alignas(64) int64_t spec[kMostRows][kWidth]{};   // permutation of spec tokens into rows
    KeptMask firstRows[kMostRows]{};                 // lanes of the vector with a first row
    KeptMask queries[kMostRows]{};                   // whose first row is in the vector
    KeptMask specLanes[kMostRows]{};                 // as many as rows that are not first
    int64_t specBefore[kMostRows]{};                 // spec tokens of the rows before the vector

    constexpr explicit Pattern(int64_t rows) {
        int64_t specTokens = 0;
        for (int64_t row = 0; row < rows * kWidth; ++row) {
            const int64_t vector = row / kWidth;
            const int64_t lane = row % kWidth;
            query[vector][lane] = PermutationFrom(row / rows);
            index[vector][lane] = row % rows;
            if (lane == 0) {
                specBefore[vector] = specTokens;
            }
            if (row % rows == 0) {
                firstRows[vector].Set(lane);
                queries[vector].Set(row / rows);
                first[vector][row / rows] = PermutationFrom(lane);
            } else {
                specLanes[vector].Set(specTokens - specBefore[vector]);
                spec[vector][lane] = PermutationFrom(specTokens - specBefore[vector]);
                ++specTokens;
            }
        }
    }
};

constexpr Pattern kPatterns[] = {Pattern(1), Pattern(2), Pattern(3), Pattern(4),
                                 Pattern(5), Pattern(6), Pattern(7), Pattern(8)};
static_assert(sizeof(kPatterns) / sizeof(Pattern) == AdvanceStepV2Lanes::kMostRows);

struct V2ByShift {
    explicit V2ByShift(const BlockMath& math) : shift(_mm_cvtsi32_si128(math.shift)) {}
    Vector Column(Vector position) const { return ShiftRight(position, shift); }
    Vector FirstOf(Vector block) const { return ShiftLeft(block, shift); }
    __m128i shift;
};

struct V2ByMultiplier {
    explicit V2ByMultiplier(const BlockMath& math)
        : shift(_mm_cvtsi32_si128(math.shift)),
          multiplier(Same(math.multiplier)),
          blockSize(Same(static_cast<uint64_t>(math.blockSize))) {}
    Vector Column(Vector position) const {
        return ShiftRight(MultiplyLow(position, multiplier), shift);
    }
    Vector FirstOf(Vector block) const { return Multiply(block, blockSize); }
    __m128i shift;
    Vector multiplier;
    Vector blockSize;
};

template <typename Division, typename Table>
int64_t PlaceGroups(const AdvanceStepV2Tiling& t, const AdvanceStepV2Args& a, int64_t begin,
                    int64_t end, int64_t* slots) {
    const Division division(t.math);
    const int64_t rows = t.rowsPerQuery;
    const Pattern& pattern = kPatterns[rows - 1];
    const Vector one = Same(1);
    const Vector toLast = Same(static_cast<uint64_t>(rows) - 1);
    const Vector mostFirst = Same(static_cast<uint64_t>(t.math.positions - rows));
    const Vector mostBefore = Same((uint64_t{1} << 63) - static_cast<uint64_t>(rows));
    const Vector lastBlock = Same(static_cast<uint64_t>(t.math.lastBlock));
    const Vector tableRows = Multiply(Ascending(), Same(static_cast<uint64_t>(t.blockTableStride)));
    int64_t query = begin;
    for (; query + kWidth <= end; query += kWidth) {
        const int64_t* const before = a.common.inputPositions + query * rows;
        const int64_t* const sampled = a.common.sampledTokenIds + query * rows;
        Vector first = Zero();
        for (int64_t at = 0; at < rows; ++at) {
            first = Choose(first, pattern.queries[at].Get(),
                           Permute(pattern.first[at], Load(before + at * kWidth)));
        }
        const Vector added = Add(Load(a.acceptedNum + query), one);
        const Vector position = Add(first, added);
        // A negative position before the step is no fault, but its sum may have wrapped. No row of
        // a query has one if its first position is neither negative nor so large that the position
        // of a later row wraps.
        Mask odd = Either(Above(first, mostBefore), Above(position, mostFirst));
        for (int64_t at = 0; at < rows; ++at) {
            const Vector from =
                Subtract(Load(before + at * kWidth), Permute(pattern.query[at], first));
            odd = Either(odd, Unequal(from, Load(pattern.index[at])));
            odd = Either(odd,
                         Both(Negative(Load(sampled + at * kWidth)), pattern.firstRows[at].Get()));
        }
        if (Any(odd)) {
            return query;
        }
        const Table* const table =
            static_cast<const Table*>(a.common.blockTables) + query * t.blockTableStride;
        const Vector column = division.Column(position);
        const Vector lastColumn = division.Column(Add(position, toLast));
        const Vector block = LookUp(table, Add(column, tableRows));
        const Vector next = LookUp(table, Add(lastColumn, tableRows));
        if (Any(Either(Above(block, lastBlock), Above(next, lastBlock)))) {
            return query;
        }
        // A slot is the sum of the position before the step and a number of the block. If all rows
        // have the same block, both sums are the same, and either is taken.
        const Vector more = Add(division.FirstOf(Subtract(block, column)), added);
        const Vector nextMore = Add(division.FirstOf(Subtract(next, lastColumn)), added);
        const Vector rowsBefore = Subtract(division.FirstOf(lastColumn), position);
        for (int64_t at = 0; at < rows; ++at) {
            const int64_t* const from = pattern.query[at];
            const Mask inFirst = Less(Load(pattern.index[at]), Permute(from, rowsBefore));
            const Vector sum = Choose(Permute(from, nextMore), inFirst, Permute(from, more));
            Store(slots + query * rows + at * kWidth, Add(Load(before + at * kWidth), sum));
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
    const Vector one = Same(1);
    auto* const lengths = static_cast<int64_t*>(a.common.seqLens);
    auto* const mapping = static_cast<int64_t*>(a.common.slotMapping);
    int64_t query = begin;
    for (; query + kWidth <= end; query += kWidth) {
        const int64_t* const sampled = a.common.sampledTokenIds + query * rows;
        const int64_t* const spec = a.specToken + query * (rows - 1);
        // It has a bit for each sampled token below 0. Each query takes the token before the first
        // of these.
        uint64_t negative = 0;
        for (int64_t at = 0; at < rows; ++at) {
            negative |= BitsOf(Negative(Load(sampled + at * kWidth))) << at * kWidth;
        }
        alignas(64) int64_t last[kWidth];
        for (int64_t of = 0; of < kWidth; ++of) {
            const uint64_t behind = negative >> of * rows | uint64_t{1} << rows;
            last[of] = sampled[of * rows + __builtin_ctzll(behind) - 1];
        }
        const Vector token = Load(last);
        const Vector added = Add(Load(a.acceptedNum + query), one);
        for (int64_t at = 0; at < rows; ++at) {
            const int64_t row = query * rows + at * kWidth;
            const Vector position =
                Add(Load(a.common.inputPositions + row), Permute(pattern.query[at], added));
            Store(a.common.inputPositions + row, position);
            Store(lengths + row, Add(position, one));
            Store(mapping + row, Load(slots + row));
            const Vector rest = Load(spec + pattern.specBefore[at], pattern.specLanes[at].Get());
            Store(a.common.inputTokens + row,
                  Choose(Permute(pattern.spec[at], rest), pattern.firstRows[at].Get(),
                         Permute(pattern.query[at], token)));
        }
    }
    return query;
}

}  // namespace

const AdvanceStepV2LanesTable kV2Lanes = {{kWidth, &PlaceV2<int64_t>, &AdvanceV2},
                                          {kWidth, &PlaceV2<int32_t>, &AdvanceV2}};

}  // namespace ADVSTEP_ISA
}  // namespace advstep
