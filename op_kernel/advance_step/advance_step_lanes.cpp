// Compiled once per instruction set, into the namespace that ADVSTEP_ISA names. Nothing in here may
// be shared with another object file, or the linker would mix the instruction sets: no inline
// functions of headers, no templates of the standard library (tests/lint/check_isa_objects.sh).
//
// The loops have no branches, and their pointers are restrict parameters: GCC 12 vectorises no
// others. Bad values are collected in the sign bit: x < 0 has it set, and so has last - x for
// x > last. Unsigned arithmetic wraps where a bad value makes it.
#include "op_kernel/advance_step/advance_step_lanes.h"

namespace advstep {
namespace ADVSTEP_ISA {
namespace {

constexpr int64_t kRowsAtATime = 512;  // what they load stays in the first cache
constexpr int64_t kRowsAheadAtATime =
    64;  // lines that are being fetched: more would push out others

bool Negative(uint64_t signs) { return (signs >> 63) != 0; }

uint64_t PositionAt(int64_t length, uint64_t added) {
    return static_cast<uint64_t>(length) + added;
}

struct ByShift {
    explicit ByShift(const BlockMath& math) : shift(math.shift), offsets(math.blockSize - 1) {}
    uint64_t Column(uint64_t position) const { return position >> shift; }
    uint64_t Slot(uint64_t block, uint64_t, uint64_t position) const {
        return (block << shift) | (position & offsets);
    }
    uint32_t shift;
    uint64_t offsets;
};

struct ByMultiplier {
    explicit ByMultiplier(const BlockMath& math)
        : blockSize(math.blockSize), multiplier(math.multiplier), shift(math.shift) {}
    uint64_t Column(uint64_t position) const {
        return static_cast<uint32_t>(position) * multiplier >> shift;
    }
    uint64_t Slot(uint64_t block, uint64_t column, uint64_t position) const {
        return (block - column) * blockSize + position;
    }
    uint64_t blockSize;
    uint64_t multiplier;
    uint32_t shift;
};

struct ByDivision {
    explicit ByDivision(const BlockMath& math) : blockSize(math.blockSize) {}
    uint64_t Column(uint64_t position) const { return position / blockSize; }
    uint64_t Slot(uint64_t block, uint64_t column, uint64_t position) const {
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
        // Not checked yet, so perhaps no address of the table: a fetch ahead cannot fault.
        const uint64_t element = static_cast<uint64_t>(row * stride) + division.Column(position);
        __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(blocks) +
                                                         element * sizeof(Table)));
    }
}

// All positions are inside.
template <typename Division, typename Length, typename Slot, typename Table>
bool PlaceInside(const Division division, const Length* __restrict lengths, uint64_t added,
                 const Table* __restrict blocks, int64_t stride, uint64_t lastBlock,
                 Slot* __restrict slots, int64_t rows) {
    uint64_t signs = lastBlock;
    for (int64_t row = 0; row < rows; ++row) {
        const uint64_t position = PositionAt(lengths[row], added);
        const uint64_t column = division.Column(position);
        const int64_t entry = blocks[row * stride + static_cast<int64_t>(column)];
        const uint64_t block = static_cast<uint64_t>(entry);
        signs |= block | (lastBlock - block);
        slots[row] =
            static_cast<Slot>(static_cast<int64_t>(division.Slot(block, column, position)));
    }
    return !Negative(signs);
}

template <bool kAhead, typename Division, typename Length, typename Slot, typename Table>
bool PlaceBy(const TableRows& table, const Length* lengths, uint64_t added, Slot* slots,
             int64_t rows) {
    const Division division(table.math);
    const Table* const blocks = static_cast<const Table*>(table.blocks);
    const int64_t stride = table.stride;
    const uint64_t lastBlock = static_cast<uint64_t>(table.math.lastBlock);
    constexpr int64_t kPiece = kAhead ? kRowsAheadAtATime : kRowsAtATime;
    const auto upTo = [](int64_t left) { return left < kPiece ? left : kPiece; };
    if constexpr (kAhead) {
        FetchAhead(division, lengths, added, blocks, stride, upTo(rows));
    }
    bool good = true;
    for (int64_t begin = 0; begin < rows; begin += kPiece) {
        const int64_t piece = upTo(rows - begin);
        if (kAhead && begin + piece < rows) {
            const int64_t next = begin + piece;
            FetchAhead(division, lengths + next, added, blocks + next * stride, stride,
                       upTo(rows - next));
        }
        good = AllInside(lengths + begin, added, piece, table.math.positions) &&
               PlaceInside(division, lengths + begin, added, blocks + begin * stride, stride,
                           lastBlock, slots + begin, piece) &&
               good;
    }
    return good;
}

template <bool kAhead, typename Length, typename Slot, typename Table>
bool Place(const TableRows& table, const void* lengths, int64_t added, void* slots, int64_t rows) {
    const auto* const from = static_cast<const Length*>(lengths);
    auto* const to = static_cast<Slot*>(slots);
    const auto more = static_cast<uint64_t>(added);
    switch (table.math.division) {
        case BlockDivision::kShift:
            return PlaceBy<kAhead, ByShift, Length, Slot, Table>(table, from, more, to, rows);
        case BlockDivision::kMultiply:
            return PlaceBy<kAhead, ByMultiplier, Length, Slot, Table>(table, from, more, to, rows);
        default:
            return PlaceBy<kAhead, ByDivision, Length, Slot, Table>(table, from, more, to, rows);
    }
}

template <typename Length, typename Slot>
void AdvanceRows(const int64_t* __restrict sampled, const Slot* __restrict slots,
                 int64_t* __restrict tokens, int64_t* __restrict positions,
                 Length* __restrict lengths, Slot* __restrict slotMapping, int64_t rows) {
    for (int64_t row = 0; row < rows; ++row) {
        const Length position = lengths[row];
        tokens[row] = sampled[row];
        positions[row] = position;
        lengths[row] = static_cast<Length>(position + 1);
        slotMapping[row] = slots[row];
    }
}

template <typename Length, typename Slot>
void Advance(const int64_t* sampled, const void* slots, int64_t* tokens, int64_t* positions,
             void* lengths, void* slotMapping, int64_t rows) {
    AdvanceRows(sampled, static_cast<const Slot*>(slots), tokens, positions,
                static_cast<Length*>(lengths), static_cast<Slot*>(slotMapping), rows);
}

template <bool kAhead, typename Length, typename Slot, typename Table>
constexpr AdvanceStepLanes Lanes() {
    return {&Place<kAhead, Length, Slot, Table>, &Advance<Length, Slot>};
}

}  // namespace

// [Fetch][int32 lengths][int32 slots][int32 tables]
extern const AdvanceStepLanes kLanes[2][2][2][2];
const AdvanceStepLanes kLanes[2][2][2][2] = {
    {{{Lanes<false, int64_t, int64_t, int64_t>(), Lanes<false, int64_t, int64_t, int32_t>()},
      {Lanes<false, int64_t, int32_t, int64_t>(), Lanes<false, int64_t, int32_t, int32_t>()}},
     {{Lanes<false, int32_t, int64_t, int64_t>(), Lanes<false, int32_t, int64_t, int32_t>()},
      {Lanes<false, int32_t, int32_t, int64_t>(), Lanes<false, int32_t, int32_t, int32_t>()}}},
    {{{Lanes<true, int64_t, int64_t, int64_t>(), Lanes<true, int64_t, int64_t, int32_t>()},
      {Lanes<true, int64_t, int32_t, int64_t>(), Lanes<true, int64_t, int32_t, int32_t>()}},
     {{Lanes<true, int32_t, int64_t, int64_t>(), Lanes<true, int32_t, int64_t, int32_t>()},
      {Lanes<true, int32_t, int32_t, int64_t>(), Lanes<true, int32_t, int32_t, int32_t>()}}}};

}  // namespace ADVSTEP_ISA
}  // namespace advstep
