// SPDX-License-Identifier: Apache-2.0
// Four 64-bit lanes of AVX2, for advance_step_v2_lanes.cpp only.

#pragma once

#include <immintrin.h>

#include <cstdint>

#include "op_kernel/advance_step/load_two.h"

namespace advstep {
namespace ADVSTEP_ISA {
namespace {

using Vector = __m256i;
constexpr int64_t kWidth = 4;

// A mask: all bits of a lane are set, or none. It is a struct, because AVX2 has one type for masks
// and values.
struct Mask {
    __m256i lanes;
};

// A mask as a pattern keeps it.
struct KeptMask {
    alignas(32) int64_t lanes[kWidth];

    constexpr KeptMask() : lanes{} {}
    constexpr void Set(int64_t lane) { lanes[lane] = -1; }
    Mask Get() const { return {_mm256_load_si256(reinterpret_cast<const __m256i*>(lanes))}; }
};

// The lane that a permutation takes a value from, as a pattern keeps it: both of its halves.
constexpr int64_t PermutationFrom(int64_t lane) { return (2 * lane + 1) << 32 | 2 * lane; }

Vector Load(const int64_t* values) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(values));
}
void Store(int64_t* values, Vector vector) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(values), vector);
}
Vector Zero() { return _mm256_setzero_si256(); }
Vector Same(uint64_t value) { return _mm256_set1_epi64x(static_cast<int64_t>(value)); }
Vector Ascending() { return _mm256_set_epi64x(3, 2, 1, 0); }

Vector Add(Vector a, Vector b) { return _mm256_add_epi64(a, b); }
Vector Subtract(Vector a, Vector b) { return _mm256_sub_epi64(a, b); }
Vector Or(Vector a, Vector b) { return _mm256_or_si256(a, b); }
Vector Xor(Vector a, Vector b) { return _mm256_xor_si256(a, b); }
// Multiplies the lower halves of the lanes.
Vector MultiplyLow(Vector a, Vector b) { return _mm256_mul_epu32(a, b); }
// Multiplies whole lanes, for which AVX2 has no instruction.
Vector Multiply(Vector a, Vector b) {
    const Vector crossed = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(a, 32), b),
                                            _mm256_mul_epu32(a, _mm256_srli_epi64(b, 32)));
    return _mm256_add_epi64(_mm256_mul_epu32(a, b), _mm256_slli_epi64(crossed, 32));
}
Vector ShiftRight(Vector a, __m128i by) { return _mm256_srl_epi64(a, by); }
Vector ShiftLeft(Vector a, __m128i by) { return _mm256_sll_epi64(a, by); }
Vector Permute(const int64_t* from, Vector a) { return _mm256_permutevar8x32_epi32(a, Load(from)); }
// Returns `b` in the lanes of the mask, and `a` in the others.
Vector Choose(Vector a, Mask mask, Vector b) { return _mm256_blendv_epi8(a, b, mask.lanes); }

Mask Less(Vector a, Vector b) { return {_mm256_cmpgt_epi64(b, a)}; }
// Returns the sign bits of the lanes.
uint64_t SignsOf(Vector a) {
    return static_cast<uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(a)));
}
bool AnyBit(Vector a) { return _mm256_testz_si256(a, a) == 0; }

// Loads the entries at four places one by one, since a gather instruction takes longer.
template <typename Table>
[[gnu::always_inline]] inline Vector LookUp(const Table* table, const int64_t* places) {
    const auto two = [&](int64_t at) {
        return LoadTwo(table + places[at], table + places[at + 1]);
    };
    return TwoAndTwo(two(0), two(2));
}

}  // namespace
}  // namespace ADVSTEP_ISA
}  // namespace advstep
