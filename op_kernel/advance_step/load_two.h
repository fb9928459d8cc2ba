// SPDX-License-Identifier: Apache-2.0
// Two block ids in a vector. Included by the vector loops only, under the rules of
// advance_step_lanes.cpp.

#pragma once

#include <immintrin.h>

#include <cstdint>

namespace advstep {
namespace ADVSTEP_ISA {
namespace {

// GCC's own code takes one instruction more.
[[gnu::always_inline]] inline __m128i LoadTwo(const int64_t* first, const int64_t* second) {
    const __m128i low = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(first));
    return _mm_castps_si128(
        _mm_loadh_pi(_mm_castsi128_ps(low), reinterpret_cast<const __m64*>(second)));
}

[[gnu::always_inline]] inline __m128i LoadTwo(const int32_t* first, const int32_t* second) {
    return _mm_set_epi64x(*second, *first);
}

[[gnu::always_inline]] inline __m256i TwoAndTwo(__m128i low, __m128i high) {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

}  // namespace
}  // namespace ADVSTEP_ISA
}  // namespace advstep
