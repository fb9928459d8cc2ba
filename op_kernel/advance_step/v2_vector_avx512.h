// SPDX-License-Identifier: Apache-2.0
// Eight 64-bit lanes of AVX-512, for advance_step_v2_lanes.cpp only.
//
// Intrinsics have masks of all lanes where GCC 12 warns of the forms without.

#pragma once

#include <immintrin.h>

#include <cstdint>

#include "op_kernel/advance_step/load_two.h"

namespace advstep {
namespace ADVSTEP_ISA {
namespace {

using Vector = __m512i;
using Mask = __mmask8;  // a bit for each lane
constexpr int64_t kWidth = 8;
constexpr Mask kAllLanes = 0xFF;

// A mask as a pattern keeps it.
struct KeptMask {
    uint8_t lanes;

    constexpr KeptMask() : lanes(0) {}
    constexpr void Set(int64_t lane) { lanes = static_cast<uint8_t>(lanes | 1U << lane); }
    Mask Get() const { return lanes; }
};

// The lane that a permutation takes a value from, as a pattern keeps it.
constexpr int64_t PermutationFrom(int64_t lane) { return lane; }

Vector Load(const int64_t* values) { return _mm512_loadu_si512(values); }
void Store(int64_t* values, Vector vector) { _mm512_storeu_si512(values, vector); }
Vector Zero() { return _mm512_setzero_si512(); }
Vector Same(uint64_t value) { return _mm512_set1_epi64(static_cast<int64_t>(value)); }
Vector Ascending() { return _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0); }

Vector Add(Vector a, Vector b) { return _mm512_add_epi64(a, b); }
Vector Subtract(Vector a, Vector b) { return _mm512_sub_epi64(a, b); }
Vector Or(Vector a, Vector b) { return _mm512_or_si512(a, b); }
Vector Xor(Vector a, Vector b) { return _mm512_xor_si512(a, b); }
Vector Multiply(Vector a, Vector b) { return _mm512_mullo_epi64(a, b); }
// Multiplies the lower halves of the lanes.
Vector MultiplyLow(Vector a, Vector b) { return _mm512_maskz_mul_epu32(kAllLanes, a, b); }
Vector ShiftRight(Vector a, __m128i by) { return _mm512_maskz_srl_epi64(kAllLanes, a, by); }
Vector ShiftLeft(Vector a, __m128i by) { return _mm512_maskz_sll_epi64(kAllLanes, a, by); }
Vector Permute(const int64_t* from, Vector a) {
    return _mm512_maskz_permutexvar_epi64(kAllLanes, Load(from), a);
}
// Returns `b` in the lanes of the mask, and `a` in the others.
Vector Choose(Vector a, Mask mask, Vector b) { return _mm512_mask_mov_epi64(a, mask, b); }

Mask Less(Vector a, Vector b) { return _mm512_cmplt_epi64_mask(a, b); }
// Returns the sign bits of the lanes.
uint64_t SignsOf(Vector a) { return _mm512_movepi64_mask(a); }
bool AnyBit(Vector a) { return _mm512_test_epi64_mask(a, a) != 0; }

// Loads the entries at eight places one by one, since a gather instruction takes longer. The places
// are numbers in memory: GCC would take them out of a vector at two instructions each.
template <typename Table>
[[gnu::always_inline]] inline __m256i LookUpFour(const Table* table, const int64_t* places) {
    const auto two = [&](int64_t at) {
        return LoadTwo(table + places[at], table + places[at + 1]);
    };
    return TwoAndTwo(two(0), two(2));
}
template <typename Table>
[[gnu::always_inline]] inline Vector LookUp(const Table* table, const int64_t* places) {
    return _mm512_maskz_inserti64x4(kAllLanes, _mm512_castsi256_si512(LookUpFour(table, places)),
                                    LookUpFour(table, places + 4), 1);
}

}  // namespace
}  // namespace ADVSTEP_ISA
}  // namespace advstep
