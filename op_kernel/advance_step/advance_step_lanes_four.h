// SPDX-License-Identifier: Apache-2.0
// Four rows at a time for AVX2. Included by advance_step_lanes.cpp only, under its rules.

#pragma once

#include <cstdint>

// With AVX2 GCC computes the places of four block ids as a vector and takes them out again one by
// one, at two instructions each. Here they are computed as numbers. With AVX-512 GCC's own loops
// take eight rows at a time.
#if defined(__AVX2__) && !defined(__AVX512F__)
#define ADVSTEP_FOUR_BY_HAND 1
#else
#define ADVSTEP_FOUR_BY_HAND 0
#endif

namespace advstep {
namespace ADVSTEP_ISA {
namespace {

// Keeps GCC from computing the number as a part of a vector.
[[gnu::always_inline]] inline uint64_t AsNumber(uint64_t value) {
    asm("" : "+r"(value));
    return value;
}

#if ADVSTEP_FOUR_BY_HAND
constexpr int64_t kFour = 4;

using FourNumbers __attribute__((vector_size(32))) = uint64_t;

template <typename Element>
struct Four {
    typedef Element Values __attribute__((vector_size(4 * sizeof(Element))));
    typedef Element InMemory
        __attribute__((vector_size(4 * sizeof(Element)), aligned(alignof(Element)), may_alias));
};

[[gnu::always_inline]] inline FourNumbers FourOf(uint64_t value) {
    return FourNumbers{value, value, value, value};
}

template <typename Element>
[[gnu::always_inline]] inline FourNumbers LoadFour(const Element* from) {
    const auto& values = *reinterpret_cast<const typename Four<Element>::InMemory*>(from);
    return __builtin_convertvector(values, FourNumbers);
}

template <typename Element>
[[gnu::always_inline]] inline void StoreFour(FourNumbers values, Element* to) {
    *reinterpret_cast<typename Four<Element>::InMemory*>(to) =
        __builtin_convertvector(values, typename Four<Element>::Values);
}

// The block ids of four rows whose positions are inside the table.
template <typename Division, typename Length, typename Table>
[[gnu::always_inline]] inline FourNumbers LoadFourBlocks(const Division& division,
                                                         const Length* lengths, uint64_t added,
                                                         const Table* blocks, int64_t stride) {
    const auto block = [&](int64_t row) {
        const uint64_t position = static_cast<uint64_t>(lengths[row]) + added;
        const uint64_t column = AsNumber(division.Column(position));
        return static_cast<uint64_t>(int64_t{(blocks + row * stride)[column]});
    };
    return FourNumbers{block(0), block(1), block(2), block(3)};
}
#endif

}  // namespace
}  // namespace ADVSTEP_ISA
}  // namespace advstep
