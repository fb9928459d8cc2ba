// SPDX-License-Identifier: Apache-2.0
// The toy model's arithmetic: what a real model does with weights, a hash does here. It knows
// neither slots nor blocks; model_kernels.h runs it on the paged cache, contiguous_reference.h on a
// plain array.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace serve {

inline constexpr int64_t kVocabulary = 32000;
inline constexpr int kLookBacks = 4;  // positions read to sample one token

/// K and V of one token. Names its token and position and mixes in the request's seed, so a cell of
/// another request, another position or an earlier owner of the slot never looks right.
struct KvCell {
    int32_t token;
    int32_t position;
    uint64_t value;

    bool operator==(const KvCell& other) const {
        return token == other.token && position == other.position && value == other.value;
    }
    bool operator!=(const KvCell& other) const { return !(*this == other); }
};

/// Every output bit depends on every input bit (the finaliser of SplitMix64).
constexpr uint64_t Mix(uint64_t x) {
    x += 0x9E3779B97F4A7C15U;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31);
}

/// A token id from a hash; the top bits scaled down, which is cheaper than a remainder.
inline int64_t TokenOf(uint64_t hash) {
    return static_cast<int64_t>(((hash >> 32) * static_cast<uint64_t>(kVocabulary)) >> 32);
}

/// Decides a request's text; line is the request's in the trace.
inline uint64_t SeedOf(int64_t line) { return Mix(static_cast<uint64_t>(line)); }

/// Tokens of a prompt that an id of a trace stands for, as Mooncake has them.
inline constexpr int64_t kPrefixTokens = 512;

/// Which seed a position's token and cell have. Prompts that begin alike, by the ids of the trace,
/// have the same seeds there; every other position has the seed of its request.
struct TextSeeds {
    uint64_t seed;                          // of the request
    int64_t sharedTokens = 0;               // of the prompt, from its begin, that the ids cover
    const uint64_t* prefixSeeds = nullptr;  // one for each kPrefixTokens of them, begun ones too

    uint64_t At(int64_t position) const {
        return position < sharedTokens ? prefixSeeds[position / kPrefixTokens] : seed;
    }
};

/// The seed of a part of a prompt, from the one before it (0: there is none) and the part's id.
constexpr uint64_t PrefixSeed(uint64_t before, uint64_t id) { return Mix(before ^ Mix(id)); }

/// The text of a request, which the trace does not have.
inline int64_t PromptToken(uint64_t seed, int64_t position) {
    return TokenOf(Mix(seed ^ static_cast<uint64_t>(position)));
}

inline KvCell CellOf(uint64_t seed, int64_t token, int64_t position) {
    const uint64_t place = (static_cast<uint64_t>(position) << 32) ^ static_cast<uint64_t>(token);
    return {static_cast<int32_t>(token), static_cast<int32_t>(position), Mix(seed + Mix(place))};
}

/// The positions whose cells decide the token after `length` tokens: the last one and a few others.
constexpr int64_t LookBack(int64_t length, int index) {
    if (index == 0) {
        return length - 1;
    }
    const uint64_t hash = Mix(static_cast<uint64_t>(length * kLookBacks + index)) >> 32;
    return static_cast<int64_t>((hash * static_cast<uint64_t>(length)) >> 32);
}

/// The same of short sequences, which are most: they do not depend on the request.
inline constexpr int64_t kTabledLengths = 1024;
using LookBacks = std::array<int32_t, kLookBacks>;
inline constexpr std::array<LookBacks, kTabledLengths> kLookBackTable = [] {
    std::array<LookBacks, kTabledLengths> table{};
    for (int64_t length = 0; length < kTabledLengths; ++length) {
        for (int i = 0; i < kLookBacks; ++i) {
            table[static_cast<size_t>(length)][static_cast<size_t>(i)] =
                static_cast<int32_t>(LookBack(length, i));
        }
    }
    return table;
}();

/// Folds cells, in order, into a token.
class TokenHash {
 public:
    void Add(const KvCell& cell) {
        hash_ = (hash_ ^ cell.value) * 0x9FB21C651E98DF25U;
        hash_ ^= (hash_ >> 29) + static_cast<uint32_t>(cell.token);
    }
    int64_t Token() const { return TokenOf(Mix(hash_)); }

 private:
    uint64_t hash_ = 0;
};

/// visit(position) for each look back, in order.
template <typename Visit>
void ForEachLookBack(int64_t length, const Visit& visit) {
    if (length >= 0 && length < kTabledLengths) {
        for (const int64_t position : kLookBackTable[static_cast<size_t>(length)]) {
            visit(position);
        }
        return;
    }
    for (int i = 0; i < kLookBacks; ++i) {
        visit(LookBack(length, i));
    }
}

/// The token after `length` tokens. cellAt(position) reads the cache.
template <typename CellAt>
int64_t NextToken(int64_t length, const CellAt& cellAt) {
    TokenHash hash;
    ForEachLookBack(length, [&](int64_t position) { hash.Add(cellAt(position)); });
    return hash.Token();
}

}  // namespace serve
