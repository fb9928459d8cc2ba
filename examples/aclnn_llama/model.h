// SPDX-License-Identifier: Apache-2.0
// The sizes, weights and rotations of a small llama with random weights.

#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace llama {

constexpr int64_t kVocabulary = 96;
constexpr int64_t kWidth = 64;  // of a token's vector
constexpr int64_t kLayers = 2;
constexpr int64_t kHeads = 4;
constexpr int64_t kKeyHeads = 2;  // each serves two heads of queries
constexpr int64_t kHeadSize = 16;
constexpr int64_t kKeyWidth = kKeyHeads * kHeadSize;
constexpr int64_t kHidden = 128;  // of the gated layer
constexpr double kEpsilon = 1e-5;

constexpr int64_t kBlockSize = 8;   // tokens of a block of the KV cache
constexpr int64_t kTableWidth = 6;  // blocks of a sequence
constexpr int64_t kMostTokens = kBlockSize * kTableWidth;

using Values = std::vector<float>;

/// The weights of a layer; a matrix is [rows of its input, columns].
struct Layer {
    Values attentionNorm;  // [kWidth]
    Values query;          // [kWidth, kHeads * kHeadSize]
    Values key;            // [kWidth, kKeyWidth]
    Values value;          // [kWidth, kKeyWidth]
    Values output;         // [kHeads * kHeadSize, kWidth]
    Values gateNorm;       // [kWidth]
    Values gateUp;         // [kWidth, 2 * kHidden]: the gate, then what it gates
    Values down;           // [kHidden, kWidth]
};

struct Model {
    Values embedding;  // [kVocabulary, kWidth]
    std::vector<Layer> layers;
    Values norm;    // [kWidth]
    Values logits;  // [kWidth, kVocabulary]
    Values cosine;  // [kMostTokens, kHeadSize]: of the angle of each position and pair
    Values sine;
};

inline Model MakeModel() {
    std::mt19937 random(7);
    const auto values = [&](int64_t count, float scale, float mean) {
        std::normal_distribution<float> normal(mean, scale);
        Values made(static_cast<size_t>(count));
        for (float& value : made) {
            value = normal(random);
        }
        return made;
    };
    Model model;
    model.embedding = values(kVocabulary * kWidth, 1.0F, 0.0F);
    for (int64_t layer = 0; layer < kLayers; ++layer) {
        model.layers.push_back(
            {values(kWidth, 0.1F, 1.0F), values(kWidth * kHeads * kHeadSize, 0.15F, 0.0F),
             values(kWidth * kKeyWidth, 0.15F, 0.0F), values(kWidth * kKeyWidth, 0.15F, 0.0F),
             values(kHeads * kHeadSize * kWidth, 0.15F, 0.0F), values(kWidth, 0.1F, 1.0F),
             values(kWidth * 2 * kHidden, 0.15F, 0.0F), values(kHidden * kWidth, 0.1F, 0.0F)});
    }
    model.norm = values(kWidth, 0.1F, 1.0F);
    model.logits = values(kWidth * kVocabulary, 0.2F, 0.0F);
    for (int64_t position = 0; position < kMostTokens; ++position) {
        for (int64_t place = 0; place < kHeadSize; ++place) {
            const auto pair = static_cast<double>(place % (kHeadSize / 2));
            const double angle = static_cast<double>(position) *
                                 std::pow(10000.0, -2 * pair / static_cast<double>(kHeadSize));
            model.cosine.push_back(static_cast<float>(std::cos(angle)));
            model.sine.push_back(static_cast<float>(std::sin(angle)));
        }
    }
    return model;
}

}  // namespace llama
