// SPDX-License-Identifier: Apache-2.0
// Sets of slots as words of 64 bits.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace advstep {

inline constexpr int64_t kSlotsPerWord = 64;

inline int64_t WordsOf(int64_t slots) { return (slots + kSlotsPerWord - 1) / kSlotsPerWord; }

inline uint64_t BitOf(int64_t slot) { return uint64_t{1} << (slot % kSlotsPerWord); }

inline bool Contains(const uint64_t* words, int64_t slot) {
    return (words[slot / kSlotsPerWord] & BitOf(slot)) != 0;
}

/// Returns a bit for each of 64 bytes, set if the byte is not 0.
inline uint64_t NonZeroBytes(const uint8_t* bytes) {
    uint64_t zero = 0;
#ifdef __SSE2__
    for (int part = 0; part < 4; ++part) {
        const __m128i sixteen =
            _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + ptrdiff_t{16} * part));
        const int mask = _mm_movemask_epi8(_mm_cmpeq_epi8(sixteen, _mm_setzero_si128()));
        zero |= static_cast<uint64_t>(static_cast<uint32_t>(mask)) << (16 * part);
    }
#else
    for (int i = 0; i < 64; ++i) {
        zero |= static_cast<uint64_t>(bytes[i] == 0) << i;
    }
#endif
    return ~zero;
}

/// Returns the number of bits that are set. The compiler's own function would be a call, because
/// the baseline of x86-64 has no instruction for it.
inline int64_t CountBits(uint64_t word) {
    word -= (word >> 1) & 0x5555555555555555U;
    word = (word & 0x3333333333333333U) + ((word >> 2) & 0x3333333333333333U);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fU;
    return static_cast<int64_t>((word * 0x0101010101010101U) >> 56);
}

/// Calls visit(slot) for the bits that are set, ascending; bit 0 is slot `first`.
template <typename Visit>
void ForEachSlot(uint64_t word, int64_t first, Visit&& visit) {
    for (; word != 0; word &= word - 1) {
        visit(first + __builtin_ctzll(word));
    }
}

}  // namespace advstep
