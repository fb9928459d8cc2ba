// SPDX-License-Identifier: Apache-2.0
// The vector loops over rows of keys and values. This file is compiled once per instruction set,
// into the namespace that ADVSTEP_ISA names. Nothing in it may be shared with another object file,
// or the linker would mix the instruction sets (tests/lint/check_isa_objects.sh).

#include <immintrin.h>

#include "src/operators/aten/row_loops.h"

namespace advstep_operators {
namespace ADVSTEP_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int64_t kLanes = 16;
#else
constexpr int64_t kLanes = 8;
#endif
using Lanes = float __attribute__((vector_size(kLanes * sizeof(float))));
using LooseLanes = float __attribute__((vector_size(kLanes * sizeof(float)), aligned(4)));
using FourLanes = float __attribute__((vector_size(4 * sizeof(float))));

// An element of each type, so that Load has an overload for each.
struct Half {
    uint16_t bits;
};
struct BFloat {
    uint16_t bits;
};

inline Lanes Load(const float* from) { return *reinterpret_cast<const LooseLanes*>(from); }

#if defined(__AVX512F__)
// GCC 12 warns of the conversions without a mask.
constexpr __mmask16 kAll = 0xFFFF;

inline Lanes Load(const Half* from) {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    return reinterpret_cast<Lanes>(_mm512_maskz_cvtph_ps(kAll, bits));
}

inline Lanes Load(const BFloat* from) {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    return reinterpret_cast<Lanes>(
        _mm512_maskz_slli_epi32(kAll, _mm512_maskz_cvtepu16_epi32(kAll, bits), 16));
}
#else
inline Lanes Load(const Half* from) {
    const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    return reinterpret_cast<Lanes>(_mm256_cvtph_ps(bits));
}

inline Lanes Load(const BFloat* from) {
    const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    return reinterpret_cast<Lanes>(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
}
#endif

inline void Store(const Lanes& lanes, float* to) { *reinterpret_cast<LooseLanes*>(to) = lanes; }

inline float Sum(const Lanes& lanes) {
    const auto* const four = reinterpret_cast<const FourLanes*>(&lanes);
    FourLanes sum = four[0];
    for (int64_t place = 1; place < kLanes / 4; ++place) {
        sum += four[place];
    }
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

// Multiplies a row with some queries of its head.
template <int kQueries, typename Element>
inline void MultiplyRow(const Element* row, const float* queries, int64_t size, int64_t tokens,
                        float* products) {
    Lanes sums[kQueries] = {};
    for (int64_t d = 0; d < size; d += kLanes) {
        const Lanes lanes = Load(row + d);
        for (int query = 0; query < kQueries; ++query) {
            sums[query] += lanes * Load(queries + query * size + d);
        }
    }
    for (int query = 0; query < kQueries; ++query) {
        products[query * tokens] = Sum(sums[query]);
    }
}

template <typename Element>
void MultiplyHead(const Element* row, const float* queries, int64_t group, const RowPlaces& rows,
                  float* products) {
    int64_t query = 0;
    for (; query + 4 <= group; query += 4) {
        MultiplyRow<4>(row, queries + query * rows.size, rows.size, rows.tokens,
                       products + query * rows.tokens);
    }
    for (; query < group; ++query) {
        MultiplyRow<1>(row, queries + query * rows.size, rows.size, rows.tokens,
                       products + query * rows.tokens);
    }
}

// Adds kTokens rows of a head, each with its weight, to the sum of each of its queries.
template <int kTokens, typename Element>
inline void AddRows(const Element* row, const float* weights, int64_t group, const RowPlaces& rows,
                    float* sums) {
    for (int64_t d = 0; d < rows.size; d += kLanes) {
        Lanes lanes[kTokens];
        for (int token = 0; token < kTokens; ++token) {
            lanes[token] = Load(row + token * rows.tokenStride + d);
        }
        for (int64_t query = 0; query < group; ++query) {
            const float* const own = weights + query * rows.tokens;
            Lanes sum = lanes[0] * own[0];
            for (int token = 1; token < kTokens; ++token) {
                sum += lanes[token] * own[token];
            }
            float* const to = sums + query * rows.size + d;
            Store(Load(to) + sum, to);
        }
    }
}

// Calls function(row of head 0, its token, tokens of its block from there on) for every `step`-th
// token of each block.
template <typename Element, typename Function>
inline void ForEachToken(const RowPlaces& rows, int64_t step, const Function& function) {
    const auto* const data = static_cast<const Element*>(rows.data);
    for (int64_t begin = 0; begin < rows.tokens; begin += rows.blockTokens) {
        const int64_t left = rows.tokens - begin;
        const int64_t count = left < rows.blockTokens ? left : rows.blockTokens;
        const int64_t block = rows.blocks != nullptr ? rows.blocks[begin / rows.blockTokens] : 0;
        for (int64_t token = 0; token < count; token += step) {
            function(data + block * rows.blockStride + token * rows.tokenStride, begin + token,
                     count - token);
        }
    }
}

// The heads of a token are next to each other in most caches, so they come first.
template <typename Element>
void MultiplyAll(const RowPlaces& rows, const HeadRange& heads, const float* queries,
                 float* products) {
    ForEachToken<Element>(rows, 1, [&](const Element* row, int64_t token, int64_t) {
        for (int64_t head = heads.begin; head < heads.end; ++head) {
            MultiplyHead(row + head * rows.headStride, queries + head * heads.group * rows.size,
                         heads.group, rows, products + head * heads.group * rows.tokens + token);
        }
    });
}

template <typename Element>
void AddAll(const RowPlaces& rows, const HeadRange& heads, const float* weights, float* sums) {
    ForEachToken<Element>(rows, 4, [&](const Element* row, int64_t token, int64_t left) {
        for (int64_t head = heads.begin; head < heads.end; ++head) {
            const Element* const first = row + head * rows.headStride;
            const float* const own = weights + head * heads.group * rows.tokens + token;
            float* const to = sums + head * heads.group * rows.size;
            if (left >= 4) {
                AddRows<4>(first, own, heads.group, rows, to);
                continue;
            }
            for (int64_t place = 0; place < left; ++place) {
                AddRows<1>(first + place * rows.tokenStride, own + place, heads.group, rows, to);
            }
        }
    });
}

void Multiply(const RowPlaces& rows, RowType type, const HeadRange& heads, const float* queries,
              float* products) {
    switch (type) {
        case RowType::kFloat:
            return MultiplyAll<float>(rows, heads, queries, products);
        case RowType::kHalf:
            return MultiplyAll<Half>(rows, heads, queries, products);
        case RowType::kBFloat:
            return MultiplyAll<BFloat>(rows, heads, queries, products);
    }
}

void Add(const RowPlaces& rows, RowType type, const HeadRange& heads, const float* weights,
         float* sums) {
    switch (type) {
        case RowType::kFloat:
            return AddAll<float>(rows, heads, weights, sums);
        case RowType::kHalf:
            return AddAll<Half>(rows, heads, weights, sums);
        case RowType::kBFloat:
            return AddAll<BFloat>(rows, heads, weights, sums);
    }
}

}  // namespace

extern const RowLoops kRowLoops;
const RowLoops kRowLoops{&Multiply, &Add};

}  // namespace ADVSTEP_ISA
}  // namespace advstep_operators
