// SPDX-License-Identifier: Apache-2.0
// The vector loops of AdvanceStep. This file is compiled once per instruction set, into the
// namespace that ADVSTEP_ISA names. Nothing in it may be shared with another object file, or the
// linker would mix the instruction sets: it uses no inline functions of headers and no templates of
// the standard library (tests/lint/check_isa_objects.sh).
//
// Pointers of loops are restrict parameters: GCC 12 vectorises no others.
#include "op_kernel/advance_step/advance_step_lanes.h"

#if defined(__AVX2__)
#include "op_kernel/advance_step/advance_step_lanes_four.h"
#else
#include "op_kernel/advance_step/advance_step_lanes_plain.h"
#endif

namespace advstep {
namespace ADVSTEP_ISA {
namespace {

// The writes of many rows whose slots are known.

// The functions that move rows return true, so that a check can end with a jump to one.

// The caches lose the results of a launch of this many rows before anything reads them.
constexpr int64_t kRowsStreamed = int64_t{1} << 22;

// Stores that need not fetch the line which they fill. The caller ends them before another thread
// may look.
#if defined(__SSE2__)
inline void StoreBeyondCaches(int64_t value, int64_t* to) {
    __builtin_ia32_movnti64(reinterpret_cast<long long*>(to), value);
}
inline void StoreBeyondCaches(int32_t value, int32_t* to) { __builtin_ia32_movnti(to, value); }
inline void EndStoresBeyondCaches() { __builtin_ia32_sfence(); }
#else
template <typename Element>
void StoreBeyondCaches(Element value, Element* to) {
    *to = value;
}
inline void EndStoresBeyondCaches() {}
#endif

template <typename Length, typename Slot>
[[gnu::noinline]] bool MoveRowsWithSlots(const int64_t* __restrict sampled,
                                         const Slot* __restrict slots, int64_t* __restrict tokens,
                                         int64_t* __restrict positions, Length* __restrict lengths,
                                         Slot* __restrict slotMapping, int64_t rows) {
    for (int64_t row = 0; row < rows; ++row) {
        const Length position = lengths[row];
        tokens[row] = sampled[row];
        positions[row] = position;
        lengths[row] = static_cast<Length>(position + 1);
        slotMapping[row] = slots[row];
    }
    return true;
}

// As MoveRowsWithSlots, for launches whose results the caches cannot hold. Each array has its turn
// for some rows, so that the processor collects whole lines: parts of lines cost as much each.
template <typename Length, typename Slot>
bool StreamRowsWithSlots(const int64_t* __restrict sampled, const Slot* __restrict slots,
                         int64_t* __restrict tokens, int64_t* __restrict positions,
                         Length* __restrict lengths, Slot* __restrict slotMapping, int64_t rows) {
    constexpr int64_t kTurn = 128;
    for (int64_t first = 0; first < rows; first += kTurn) {
        const int64_t end = rows - first < kTurn ? rows : first + kTurn;
        for (int64_t row = first; row < end; ++row) {
            StoreBeyondCaches(sampled[row], tokens + row);
        }
        for (int64_t row = first; row < end; ++row) {
            StoreBeyondCaches(slots[row], slotMapping + row);
        }
        for (int64_t row = first; row < end; ++row) {
            StoreBeyondCaches(int64_t{lengths[row]}, positions + row);
        }
        for (int64_t row = first; row < end; ++row) {
            lengths[row] = static_cast<Length>(lengths[row] + 1);
        }
    }
    EndStoresBeyondCaches();
    return true;
}

// The loops by how a position is divided.

// A launch of this many rows reads more lines of the block table than the second-level cache holds.
constexpr int64_t kRowsBeyondCaches = 8192;
// As many lines are fetched ahead. More would push out others.
constexpr int64_t kRowsAheadAtATime = 64;

// Where prefetched lines go. A Zen 4 takes half the time that it takes with lines for the first.
constexpr int kSecondLevelCache = 2;

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

template <typename Division, typename Length, typename Table>
void FetchAhead(const Division division, const Length* __restrict lengths, uint64_t added,
                const Table* __restrict blocks, int64_t stride, int64_t rows) {
    for (int64_t row = 0; row < rows; ++row) {
        const uint64_t position = static_cast<uint64_t>(lengths[row]) + added;
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

// Calls work(first, rows) for all rows. With kAhead it does so for a few rows after the other, and
// prefetches the lines of the table that the next ones need.
template <bool kAhead, typename Division, typename Length, typename Table, typename Work>
void ForEachPiece(const Division division, const Length* lengths, uint64_t added,
                  const Table* blocks, int64_t stride, int64_t rows, const Work& work) {
    if constexpr (kAhead) {
        const auto upTo = [](int64_t left) {
            return left < kRowsAheadAtATime ? left : kRowsAheadAtATime;
        };
        const auto fetch = [&](int64_t first) {
            FetchAhead(division, lengths + first, added, blocks + first * stride, stride,
                       upTo(rows - first));
        };
        fetch(0);
        for (int64_t first = 0; first < rows; first += kRowsAheadAtATime) {
            const int64_t piece = upTo(rows - first);
            if (first + piece < rows) {
                fetch(first + piece);
            }
            work(first, piece);
        }
    } else {
        work(0, rows);
    }
}

// A single step adds nothing to the lengths. Its loops are compiled without the addition, unless
// they fetch lines ahead and so wait for memory.
struct Nothing {
    constexpr operator uint64_t() const { return 0; }
};

// Calls one of the functions that write rows whose slots are known.
template <typename Length, typename Slot>
[[gnu::always_inline]] inline bool MoveBy(bool (*move)(const int64_t*, const Slot*, int64_t*,
                                                       int64_t*, Length*, Slot*, int64_t),
                                          const AdvanceStepArgs& a, int64_t begin, int64_t rows,
                                          const void* slots) {
    return move(a.sampledTokenIds + begin, static_cast<const Slot*>(slots), a.inputTokens + begin,
                a.inputPositions + begin, static_cast<Length*>(a.seqLens) + begin,
                static_cast<Slot*>(a.slotMapping) + begin, rows);
}

// The loops for one division and one size of launch. They are not inlined, so that each has all
// registers. A check of a launch that fetches nothing ahead can end with the loop that moves its
// rows.
template <bool kAhead, typename Division, typename Length, typename Slot, typename Table>
struct Sized {
    [[gnu::noinline]] static bool Place(const AdvanceStepTiling& t, const AdvanceStepArgs& a,
                                        int64_t added, int64_t begin, int64_t rows, void* to,
                                        bool thenMove) {
        const Division division(t.math);
        const uint64_t lastPosition = static_cast<uint64_t>(t.math.positions) - 1;
        const uint64_t lastBlock = static_cast<uint64_t>(t.math.lastBlock);
        const int64_t stride = t.blockTableStride;
        const Length* const lengths = static_cast<const Length*>(a.seqLens) + begin;
        const Table* const blocks = static_cast<const Table*>(a.blockTables) + begin * stride;
        Slot* const slots = static_cast<Slot*>(to);
        bool good = true;
        const auto place = [&](const auto more) __attribute__((always_inline)) {
            ForEachPiece<kAhead>(
                division, lengths, more, blocks, stride, rows, [&](int64_t first, int64_t piece) {
                    good = PlaceChecked<kAhead>(division, lengths + first, more, lastPosition,
                                                blocks + first * stride, stride, lastBlock,
                                                slots + first, piece) &&
                           good;
                });
        };
        if (kAhead || added != 0) {
            place(static_cast<uint64_t>(added));
        } else {
            place(Nothing());
        }
        if (!kAhead && good && thenMove) {
            return MoveBy<Length, Slot>(&MoveRowsWithSlots, a, begin, rows, to);
        }
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
        ForEachPiece<kAhead>(
            division, lengths, 0, blocks, stride, rows, [&](int64_t first, int64_t piece) {
                const int64_t row = begin + first;
                PlaceAndMove(division, blocks + first * stride, stride, a.sampledTokenIds + row,
                             a.inputTokens + row, a.inputPositions + row, lengths + first,
                             slots + first, piece);
            });
    }
};

// Calls work(Sized) for the launch's division.
template <bool kAhead, typename Length, typename Slot, typename Table, typename Work>
[[gnu::always_inline]] inline auto WithDivision(const AdvanceStepTiling& t, const Work& work) {
    switch (t.math.division) {
        case BlockDivision::kShift:
            return work(Sized<kAhead, ByShift, Length, Slot, Table>());
        case BlockDivision::kMultiply:
            return work(Sized<kAhead, ByMultiplier, Length, Slot, Table>());
        default:
            return work(Sized<kAhead, ByDivision, Length, Slot, Table>());
    }
}

// Calls work(Sized) for the launch's size and division.
template <typename Length, typename Slot, typename Table, typename Work>
auto WithSize(const AdvanceStepTiling& t, const Work& work) {
    return t.numSeqs >= kRowsBeyondCaches ? WithDivision<true, Length, Slot, Table>(t, work)
                                          : WithDivision<false, Length, Slot, Table>(t, work);
}

template <typename Length, typename Slot, typename Table>
bool Place(const AdvanceStepTiling& t, const AdvanceStepArgs& a, int64_t added, int64_t begin,
           int64_t rows, void* slots) {
    return WithSize<Length, Slot, Table>(
        t, [&](auto sized) { return sized.Place(t, a, added, begin, rows, slots, false); });
}

template <typename Length, typename Slot>
void Advance(const AdvanceStepTiling& t, const AdvanceStepArgs& a, int64_t begin, int64_t rows,
             const void* slots) {
    if (t.numSeqs < kRowsStreamed) {
        MoveBy<Length, Slot>(&MoveRowsWithSlots, a, begin, rows, slots);
    } else {
        MoveBy<Length, Slot>(&StreamRowsWithSlots, a, begin, rows, slots);
    }
}

template <typename Length, typename Slot, typename Table>
[[gnu::noinline]] bool PlaceThenAdvanceAhead(const AdvanceStepTiling& t, const AdvanceStepArgs& a,
                                             int64_t begin, int64_t rows, void* slots) {
    if (!Place<Length, Slot, Table>(t, a, 0, begin, rows, slots)) {
        return false;
    }
    Advance<Length, Slot>(t, a, begin, rows, slots);
    return true;
}

template <typename Length, typename Slot, typename Table>
bool PlaceThenAdvance(const AdvanceStepTiling& t, const AdvanceStepArgs& a, int64_t begin,
                      int64_t rows, void* slots) {
    if (__builtin_expect(t.numSeqs >= kRowsBeyondCaches, 0)) {
        return PlaceThenAdvanceAhead<Length, Slot, Table>(t, a, begin, rows, slots);
    }
    return WithDivision<false, Length, Slot, Table>(
        t, [&](auto sized) { return sized.Place(t, a, 0, begin, rows, slots, true); });
}

template <typename Length, typename Slot, typename Table>
void PlaceAndAdvance(const AdvanceStepTiling& t, const AdvanceStepArgs& a, int64_t begin,
                     int64_t rows) {
    WithSize<Length, Slot, Table>(t, [&](auto sized) { sized.PlaceAndAdvance(t, a, begin, rows); });
}

template <typename Length, typename Slot, typename Table>
constexpr AdvanceStepLanes Lanes() {
    return {&Place<Length, Slot, Table>, &PlaceThenAdvance<Length, Slot, Table>,
            &Advance<Length, Slot>, &PlaceAndAdvance<Length, Slot, Table>};
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
