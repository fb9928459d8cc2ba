// SPDX-License-Identifier: Apache-2.0
// The vector loops of AdvanceStep. This file is compiled once per instruction set, into the
// namespace that ADVSTEP_ISA names. Nothing in it may be shared with another object file, or the
// linker would mix the instruction sets: it uses no inline functions of headers and no templates of
// the standard library (tests/lint/check_isa_objects.sh).
//
// The loops have no branches, and their pointers are restrict parameters: GCC 12 vectorises no
// others. Bad values are collected in the sign bit: x < 0 has it set, and so has last - x for
// x > last. The arithmetic is unsigned, so that it may wrap on a bad value.
#include "op_kernel/advance_step/advance_step_lanes.h"

#include "op_kernel/advance_step/advance_step_lanes_four.h"
#include "op_kernel/advance_step/advance_step_lanes_move.h"

namespace advstep {
namespace ADVSTEP_ISA {
namespace {

// A launch of this many rows reads more lines of the block table than the second-level cache holds.
constexpr int64_t kRowsBeyondCaches = 8192;
constexpr int64_t kRowsAtATime = 512;  // their data fits the first-level cache
constexpr int64_t kRowsAheadAtATime =
    64;  // lines that are fetched ahead: more would push out others

// Where prefetched lines go. A Zen 4 takes half the time that it takes with lines for the first.
constexpr int kSecondLevelCache = 2;

bool Negative(uint64_t signs) { return (signs >> 63) != 0; }

uint64_t PositionAt(int64_t length, uint64_t added) {
    return static_cast<uint64_t>(length) + added;
}

struct ByShift {
    explicit ByShift(const BlockMath& math) : shift(math.shift), offsets(math.blockSize - 1) {}
    // Numbers is one number, or a vector of them; so it is in the others.
    template <typename Numbers>
    Numbers Column(Numbers position) const {
        return position >> shift;
    }
    template <typename Numbers>
    Numbers Slot(Numbers block, Numbers, Numbers position) const {
        return (block << shift) | (position & offsets);
    }
    uint64_t shift;
    uint64_t offsets;
};

struct ByMultiplier {
    explicit ByMultiplier(const BlockMath& math)
        : blockSize(math.blockSize), multiplier(math.multiplier), shift(math.shift) {}
    template <typename Numbers>
    Numbers Column(Numbers position) const {
        return (position & uint64_t{0xFFFFFFFF}) * multiplier >> shift;
    }
    template <typename Numbers>
    Numbers Slot(Numbers block, Numbers column, Numbers position) const {
        return (block - column) * blockSize + position;
    }
    uint64_t blockSize;
    uint64_t multiplier;
    uint64_t shift;
};

struct ByDivision {
    explicit ByDivision(const BlockMath& math) : blockSize(math.blockSize) {}
    template <typename Numbers>
    Numbers Column(Numbers position) const {
        return position / blockSize;
    }
    template <typename Numbers>
    Numbers Slot(Numbers block, Numbers column, Numbers position) const {
        return (block - column) * blockSize + position;
    }
    uint64_t blockSize;
};

template <typename Length>
bool AllInside(const Length* __restrict lengths, uint64_t added, int64_t rows, int64_t positions) {
    const uint64_t last = static_cast<uint64_t>(positions) - 1;
    uint64_t signs = last;
    for (int64_t row = 0; row < rows; ++row) {
        const uint64_t position = PositionAt(lengths[row], added);
        signs |= position | (last - position);
    }
    return !Negative(signs);
}

template <typename Division, typename Length, typename Table>
void FetchAhead(const Division division, const Length* __restrict lengths, uint64_t added,
                const Table* __restrict blocks, int64_t stride, int64_t rows) {
    for (int64_t row = 0; row < rows; ++row) {
        const uint64_t position = PositionAt(lengths[row], added);
        // The position is not checked yet, so this may be no address of the table. A prefetch
        // cannot fault.
        const uint64_t element = static_cast<uint64_t>(row * stride) + division.Column(position);
        __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(blocks) +
                                                         element * sizeof(Table)),
                           0, kSecondLevelCache);
    }
    // GCC takes a function that only prefetches for one without effect, and leaves out its calls.
    asm volatile("");
}

// The column of a row beside the rows that are taken four at a time. So few are not worth a vector.
uint64_t Alone(uint64_t column) { return ADVSTEP_FOUR_BY_HAND != 0 ? AsNumber(column) : column; }

// Requires that all positions are inside the table.
template <typename Division, typename Length, typename Slot, typename Table>
bool PlaceInside(const Division division, const Length* __restrict lengths, uint64_t added,
                 const Table* __restrict blocks, int64_t stride, uint64_t lastBlock,
                 Slot* __restrict slots, int64_t rows) {
    uint64_t signs = lastBlock;
    int64_t row = 0;
#if ADVSTEP_FOUR_BY_HAND
    FourNumbers fourSigns = FourOf(lastBlock);
    for (; row + kFour <= rows; row += kFour) {
        const FourNumbers position = LoadFour(lengths + row) + added;
        const FourNumbers block =
            LoadFourBlocks(division, lengths + row, added, blocks + row * stride, stride);
        fourSigns |= block | (lastBlock - block);
        StoreFour(division.Slot(block, division.Column(position), position), slots + row);
    }
    signs |= fourSigns[0] | fourSigns[1] | fourSigns[2] | fourSigns[3];
#endif
    for (; row < rows; ++row) {
        const uint64_t position = PositionAt(lengths[row], added);
        const uint64_t column = Alone(division.Column(position));
        const int64_t entry = blocks[row * stride + static_cast<int64_t>(column)];
        const uint64_t block = static_cast<uint64_t>(entry);
        signs |= block | (lastBlock - block);
        slots[row] =
            static_cast<Slot>(static_cast<int64_t>(division.Slot(block, column, position)));
    }
    return !Negative(signs);
}

// As PlaceInside, for block ids that have been checked.
template <typename Division, typename Length, typename Slot, typename Table>
void PlaceGood(const Division division, const Length* __restrict lengths,
               const Table* __restrict blocks, int64_t stride, Slot* __restrict slots,
               int64_t rows) {
    int64_t row = 0;
#if ADVSTEP_FOUR_BY_HAND
    for (; row + kFour <= rows; row += kFour) {
        const FourNumbers position = LoadFour(lengths + row);
        const FourNumbers block =
            LoadFourBlocks(division, lengths + row, 0, blocks + row * stride, stride);
        StoreFour(division.Slot(block, division.Column(position), position), slots + row);
    }
#endif
    for (; row < rows; ++row) {
        const uint64_t position = PositionAt(lengths[row], 0);
        const uint64_t column = Alone(division.Column(position));
        const int64_t entry = blocks[row * stride + static_cast<int64_t>(column)];
        const uint64_t block = static_cast<uint64_t>(entry);
        slots[row] =
            static_cast<Slot>(static_cast<int64_t>(division.Slot(block, column, position)));
    }
}

// Calls work(first, rows) for pieces that fit the first-level cache, in order. With kAhead it
// prefetches the lines of the table that the next piece needs.
template <bool kAhead, typename Division, typename Length, typename Table, typename Work>
void ForEachPiece(const Division division, const Length* lengths, uint64_t added,
                  const Table* blocks, int64_t stride, int64_t rows, const Work& work) {
    constexpr int64_t kPiece = kAhead ? kRowsAheadAtATime : kRowsAtATime;
    const auto upTo = [](int64_t left) { return left < kPiece ? left : kPiece; };
    const auto fetch = [&](int64_t first) {
        FetchAhead(division, lengths + first, added, blocks + first * stride, stride,
                   upTo(rows - first));
    };
    if constexpr (kAhead) {
        fetch(0);
    }
    for (int64_t first = 0; first < rows; first += kPiece) {
        const int64_t piece = upTo(rows - first);
        if (kAhead && first + piece < rows) {
            fetch(first + piece);
        }
        work(first, piece);
    }
}

// The loops for one division and one size of launch. They are not inlined, so that each has all
// registers.
template <bool kAhead, typename Division, typename Length, typename Slot, typename Table>
struct Sized {
    [[gnu::noinline]] static bool Place(const AdvanceStepTiling& t, const AdvanceStepArgs& a,
                                        int64_t added, int64_t begin, int64_t rows, void* to) {
        const Division division(t.math);
        const uint64_t more = static_cast<uint64_t>(added);
        const uint64_t lastBlock = static_cast<uint64_t>(t.math.lastBlock);
        const int64_t stride = t.blockTableStride;
        const Length* const lengths = static_cast<const Length*>(a.seqLens) + begin;
        const Table* const blocks = static_cast<const Table*>(a.blockTables) + begin * stride;
        Slot* const slots = static_cast<Slot*>(to);
        bool good = true;
        ForEachPiece<kAhead>(
            division, lengths, more, blocks, stride, rows, [&](int64_t first, int64_t piece) {
                good = AllInside(lengths + first, more, piece, t.math.positions) &&
                       PlaceInside(division, lengths + first, more, blocks + first * stride, stride,
                                   lastBlock, slots + first, piece) &&
                       good;
            });
        return good;
    }

    [[gnu::noinline]] static void PlaceAndAdvance(const AdvanceStepTiling& t,
                                                  const AdvanceStepArgs& a, int64_t begin,
                                                  int64_t rows) {
        const Division division(t.math);
        const int64_t stride = t.blockTableStride;
        Length* const lengths = static_cast<Length*>(a.seqLens) + begin;
        const Table* const blocks = static_cast<const Table*>(a.blockTables) + begin * stride;
        Slot* const slots = static_cast<Slot*>(a.slotMapping) + begin;
        ForEachPiece<kAhead>(division, lengths, 0, blocks, stride, rows,
                             [&](int64_t first, int64_t piece) {
                                 const int64_t row = begin + first;
                                 PlaceGood(division, lengths + first, blocks + first * stride,
                                           stride, slots + first, piece);
                                 MoveRows(a.sampledTokenIds + row, a.inputTokens + row,
                                          a.inputPositions + row, lengths + first, piece);
                             });
    }
};

// Calls work(Sized) for the launch's size and division.
template <typename Length, typename Slot, typename Table, typename Work>
auto WithSize(const AdvanceStepTiling& t, const Work& work) {
    const bool ahead = t.numSeqs >= kRowsBeyondCaches;
    switch (t.math.division) {
        case BlockDivision::kShift:
            return ahead ? work(Sized<true, ByShift, Length, Slot, Table>())
                         : work(Sized<false, ByShift, Length, Slot, Table>());
        case BlockDivision::kMultiply:
            return ahead ? work(Sized<true, ByMultiplier, Length, Slot, Table>())
                         : work(Sized<false, ByMultiplier, Length, Slot, Table>());
        default:
            return ahead ? work(Sized<true, ByDivision, Length, Slot, Table>())
                         : work(Sized<false, ByDivision, Length, Slot, Table>());
    }
}

template <typename Length, typename Slot, typename Table>
bool Place(const AdvanceStepTiling& t, const AdvanceStepArgs& a, int64_t added, int64_t begin,
           int64_t rows, void* slots) {
    return WithSize<Length, Slot, Table>(
        t, [&](auto sized) { return sized.Place(t, a, added, begin, rows, slots); });
}

template <typename Length, typename Slot>
void Advance(const AdvanceStepTiling& t, const AdvanceStepArgs& a, int64_t begin, int64_t rows,
             const void* slots) {
    const auto move = t.numSeqs < kRowsStreamed ? &MoveRowsWithSlots<Length, Slot>
                                                : &StreamRowsWithSlots<Length, Slot>;
    move(a.sampledTokenIds + begin, static_cast<const Slot*>(slots), a.inputTokens + begin,
         a.inputPositions + begin, static_cast<Length*>(a.seqLens) + begin,
         static_cast<Slot*>(a.slotMapping) + begin, rows);
}

template <typename Length, typename Slot, typename Table>
void PlaceAndAdvance(const AdvanceStepTiling& t, const AdvanceStepArgs& a, int64_t begin,
                     int64_t rows) {
    WithSize<Length, Slot, Table>(t, [&](auto sized) { sized.PlaceAndAdvance(t, a, begin, rows); });
}

template <typename Length, typename Slot, typename Table>
constexpr AdvanceStepLanes Lanes() {
    return {&Place<Length, Slot, Table>, &Advance<Length, Slot>,
            &PlaceAndAdvance<Length, Slot, Table>};
}

}  // namespace

extern const AdvanceStepLanesTable kLanes;
const AdvanceStepLanesTable kLanes = {
    {{Lanes<int64_t, int64_t, int64_t>(), Lanes<int64_t, int64_t, int32_t>()},
     {Lanes<int64_t, int32_t, int64_t>(), Lanes<int64_t, int32_t, int32_t>()}},
    {{Lanes<int32_t, int64_t, int64_t>(), Lanes<int32_t, int64_t, int32_t>()},
     {Lanes<int32_t, int32_t, int64_t>(), Lanes<int32_t, int32_t, int32_t>()}}};

}  // namespace ADVSTEP_ISA
}  // namespace advstep
