// SPDX-License-Identifier: Apache-2.0
// AdvanceStepV2 with a query in each lane of a vector. As advance_step_lanes.cpp, this is compiled
// once per instruction set, and shares nothing with other object files
// (tests/lint/check_isa_objects.sh).
//
// As many queries of w rows as a vector has lanes are w vectors of rows. The values of a query are
// computed in vectors with a lane for each query, and permuted into the rows. The loops over the w
// vectors are unrolled: there is a copy of the code for each w.
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
template <int64_t kRows>
struct Pattern {
    alignas(64) int64_t query[kRows][kWidth]{};  // permutation of queries into rows
    alignas(64) int64_t index[kRows][kWidth]{};  // of the row in its query
    alignas(64) int64_t first[kRows][kWidth]{};  // permutation of first rows into queries
    alignas(64) int64_t spec[kRows][kWidth]{};   // permutation of spec tokens into rows
    KeptMask firstRows[kRows]{};                 // lanes of the vector with a first row
    KeptMask queries[kRows]{};                   // whose first row is in the vector
    int64_t specFrom[kRows]{};                   // first of the spec tokens that are loaded
    uint64_t firstBits = 0;                      // a bit for each row: it is a first one

    // A load of spec tokens ends with those of the group. A masked load that reaches into a page
    // which is not there takes a Zen 4 as long as three groups.
    constexpr Pattern() {
        constexpr int64_t kLastFrom = (kRows - 1) * kWidth - kWidth;
        int64_t specTokens = 0;
        for (int64_t row = 0; row < kRows * kWidth; ++row) {
            const int64_t vector = row / kWidth;
            const int64_t lane = row % kWidth;
            query[vector][lane] = PermutationFrom(row / kRows);
            index[vector][lane] = row % kRows;
            if (lane == 0) {
                specFrom[vector] = specTokens < kLastFrom ? specTokens : kLastFrom;
            }
            if (row % kRows == 0) {
                firstBits |= uint64_t{1} << row;
                firstRows[vector].Set(lane);
                queries[vector].Set(row / kRows);
                first[vector][row / kRows] = PermutationFrom(lane);
            } else {
                spec[vector][lane] = PermutationFrom(specTokens - specFrom[vector]);
                ++specTokens;
            }
        }
    }
};

template <int64_t kRows>
constexpr Pattern<kRows> kPattern;

// The values that the check keeps of a group of queries for the update.
struct KeptGroup {
    int64_t position[kWidth];   // of the first row after the step
    int64_t more[kWidth];       // slot less position in the block of the first row
    int64_t nextMore[kWidth];   // in the block of the last row
    int64_t rowsFirst[kWidth];  // rows in the block before that of the last row; or none, or fewer
    int64_t token[kWidth];      // the last one accepted
};
static_assert(sizeof(KeptGroup) == AdvanceStepV2Lanes::kKeptValues * kWidth * sizeof(int64_t));

KeptGroup* GroupOf(int64_t* kept, int64_t query) {
    return reinterpret_cast<KeptGroup*>(kept + query * AdvanceStepV2Lanes::kKeptValues);
}

const KeptGroup* GroupOf(const int64_t* kept, int64_t query) {
    return reinterpret_cast<const KeptGroup*>(kept + query * AdvanceStepV2Lanes::kKeptValues);
}

struct V2Division {
    explicit V2Division(const BlockMath& math)
        : byShift(math.division == BlockDivision::kShift),
          shift(_mm_cvtsi32_si128(math.shift)),
          multiplier(Same(math.multiplier)),
          blockSize(Same(static_cast<uint64_t>(math.blockSize))) {}
    Vector Column(Vector position) const {
        return ShiftRight(byShift ? position : MultiplyLow(position, multiplier), shift);
    }
    Vector FirstOf(Vector block) const {
        return byShift ? ShiftLeft(block, shift) : Multiply(block, blockSize);
    }
    bool byShift;
    __m128i shift;
    Vector multiplier;
    Vector blockSize;
};

// The sign bit is set for x < 0 and x > last.
Vector Outside(Vector value, Vector last) { return Or(value, Subtract(last, value)); }

// Checks the positions and the sampled tokens, and keeps the places of the block ids as `more` and
// `nextMore`. Returns the first query of a group that is not usual, or of the rest.
template <int64_t kRows>
int64_t KeepPlaces(const AdvanceStepV2Tiling& t, const AdvanceStepV2Args& a,
                   const V2Division& division, int64_t begin, int64_t end, int64_t* kept) {
    constexpr const Pattern<kRows>& pattern = kPattern<kRows>;
    const Vector one = Same(1);
    const Vector toLast = Same(static_cast<uint64_t>(kRows) - 1);
    const Vector mostFirst = Same(static_cast<uint64_t>(t.math.positions - kRows));
    const Vector mostBefore = Same((uint64_t{1} << 63) - static_cast<uint64_t>(kRows));
    const Vector stride = Same(static_cast<uint64_t>(t.blockTableStride));
    int64_t query = begin;
    Vector tableRows = Multiply(Add(Ascending(), Same(static_cast<uint64_t>(begin))), stride);
    const Vector nextGroup = Multiply(Same(kWidth), stride);
    for (; query + kWidth <= end; query += kWidth) {
        const int64_t* const before = a.common.inputPositions + query * kRows;
        const int64_t* const sampled = a.common.sampledTokenIds + query * kRows;
        Vector first = Zero();
#pragma GCC unroll 8
        for (int64_t at = 0; at < kRows; ++at) {
            first = Choose(first, pattern.queries[at].Get(),
                           Permute(pattern.first[at], Load(before + at * kWidth)));
        }
        const Vector position = Add(first, Add(Load(a.acceptedNum + query), one));
        Vector differ = Zero();
        uint64_t negative = 0;  // a bit for each sampled token
#pragma GCC unroll 8
        for (int64_t at = 0; at < kRows; ++at) {
            const Vector usual = Add(Load(pattern.index[at]), Permute(pattern.query[at], first));
            differ = Or(differ, Xor(usual, Load(before + at * kWidth)));
            negative |= SignsOf(Load(sampled + at * kWidth)) << at * kWidth;
        }
        // A negative position before the step is no fault, but its sum may have wrapped. No row of
        // a query has one if its first position is neither negative nor so large that the position
        // of a later row wraps.
        const Vector outside = Or(Outside(first, mostBefore), Outside(position, mostFirst));
        if (AnyBit(differ) || (SignsOf(outside) | (negative & pattern.firstBits)) != 0) {
            break;
        }
        const Vector lastColumn = division.Column(Add(position, toLast));
        KeptGroup* const group = GroupOf(kept, query);
        Store(group->position, position);
        Store(group->more, Add(division.Column(position), tableRows));
        Store(group->nextMore, Add(lastColumn, tableRows));
        Store(group->rowsFirst, Subtract(division.FirstOf(lastColumn), position));
        tableRows = Add(tableRows, nextGroup);
        // A bit for each row: the next one is negative, or the first one of the next query.
        uint64_t last = (negative | pattern.firstBits) >> 1 | uint64_t{1} << (kRows * kWidth - 1);
#pragma GCC unroll 8
        for (int64_t of = 0; of < kWidth; ++of, last >>= kRows) {
            group->token[of] = sampled[of * kRows + static_cast<uint32_t>(__builtin_ctzll(last))];
        }
    }
    return query;
}

// Looks the block ids up at the places that are kept, and checks them. Returns the first query of a
// group with a bad one, or the end. A slot is the sum of its position and a number of the block. If
// all rows have the same block, both numbers are the same, and either is taken.
template <typename Table>
int64_t KeepBlocks(const AdvanceStepV2Tiling& t, const Table* table, const V2Division& division,
                   int64_t begin, int64_t end, int64_t* kept) {
    const Vector toLast = Same(static_cast<uint64_t>(t.rowsPerQuery) - 1);
    const Vector lastBlock = Same(static_cast<uint64_t>(t.math.lastBlock));
    int64_t query = begin;
    for (; query < end; query += kWidth) {
        KeptGroup* const group = GroupOf(kept, query);
        const Vector position = Load(group->position);
        const Vector block = LookUp(table, group->more);
        const Vector next = LookUp(table, group->nextMore);
        if (SignsOf(Or(Outside(block, lastBlock), Outside(next, lastBlock))) != 0) {
            break;
        }
        const Vector lastColumn = division.Column(Add(position, toLast));
        Store(group->more, division.FirstOf(Subtract(block, division.Column(position))));
        Store(group->nextMore, division.FirstOf(Subtract(next, lastColumn)));
    }
    return query;
}

// The two run in turns for some groups. Apart, each has many lines of memory under way at a time.
template <int64_t kRows>
int64_t PlaceV2(const AdvanceStepV2Tiling& t, const AdvanceStepV2Args& a, bool tables32,
                int64_t begin, int64_t end, int64_t* kept) {
    constexpr int64_t kTurn = 16 * kWidth;
    const V2Division division(t.math);
    const void* const table = a.common.blockTables;
    int64_t query = begin;
    while (query + kWidth <= end) {
        const int64_t turnEnd = end - query < kTurn ? end : query + kTurn;
        const int64_t usual = KeepPlaces<kRows>(t, a, division, query, turnEnd, kept);
        const int64_t good =
            tables32
                ? KeepBlocks(t, static_cast<const int32_t*>(table), division, query, usual, kept)
                : KeepBlocks(t, static_cast<const int64_t*>(table), division, query, usual, kept);
        query = good;
        if (good < usual || usual + kWidth <= turnEnd) {
            break;
        }
    }
    return query;
}

template <int64_t kRows>
int64_t AdvanceV2(const AdvanceStepV2Args& a, int64_t begin, int64_t end, const int64_t* kept) {
    constexpr const Pattern<kRows>& pattern = kPattern<kRows>;
    const Vector one = Same(1);
    auto* const lengths = static_cast<int64_t*>(a.common.seqLens);
    auto* const mapping = static_cast<int64_t*>(a.common.slotMapping);
    int64_t query = begin;
    for (; query + kWidth <= end; query += kWidth) {
        const KeptGroup* const group = GroupOf(kept, query);
        if (group->position[0] < 0) {
            break;
        }
        const int64_t* const spec = a.specToken + query * (kRows - 1);
        const Vector first = Load(group->position);
        const Vector more = Load(group->more);
        const Vector nextMore = Load(group->nextMore);
        const Vector rowsFirst = Load(group->rowsFirst);
        const Vector token = Load(group->token);
#pragma GCC unroll 8
        for (int64_t at = 0; at < kRows; ++at) {
            const int64_t row = query * kRows + at * kWidth;
            const int64_t* const from = pattern.query[at];
            const Vector index = Load(pattern.index[at]);
            const Vector position = Add(index, Permute(from, first));
            Store(a.common.inputPositions + row, position);
            Store(lengths + row, Add(position, one));
            const Mask inFirst = Less(index, Permute(from, rowsFirst));
            Store(mapping + row,
                  Add(position, Choose(Permute(from, nextMore), inFirst, Permute(from, more))));
            Vector tokens = Permute(from, token);
            if constexpr (kRows > 1) {
                const Vector rest = Permute(pattern.spec[at], Load(spec + pattern.specFrom[at]));
                tokens = Choose(rest, pattern.firstRows[at].Get(), tokens);
            }
            Store(a.common.inputTokens + row, tokens);
        }
    }
    return query;
}

template <int64_t kRows>
constexpr AdvanceStepV2Lanes LanesOf() {
    return {kWidth, &PlaceV2<kRows>, &AdvanceV2<kRows>};
}

}  // namespace

const AdvanceStepV2Lanes kV2Lanes[kMostRows] = {LanesOf<1>(), LanesOf<2>(), LanesOf<3>(),
                                                LanesOf<4>(), LanesOf<5>(), LanesOf<6>(),
                                                LanesOf<7>(), LanesOf<8>()};

}  // namespace ADVSTEP_ISA
}  // namespace advstep
