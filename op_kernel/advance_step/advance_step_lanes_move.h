// SPDX-License-Identifier: Apache-2.0
// The writes of many rows whose slots are known. Included by advance_step_lanes.cpp only, under its
// rules.

#pragma once

#include <cstdint>

namespace advstep {
namespace ADVSTEP_ISA {
namespace {

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

}  // namespace
}  // namespace ADVSTEP_ISA
}  // namespace advstep
