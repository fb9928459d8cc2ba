// SPDX-License-Identifier: Apache-2.0
// The model in plain loops: a token after the other.

#include "plain_llama.h"

#include <algorithm>

namespace llama {
namespace {

Values Product(const Values& input, const Values& matrix, int64_t columns) {
    Values result(static_cast<size_t>(columns), 0.0F);
    for (size_t row = 0; row < input.size(); ++row) {
        for (size_t column = 0; column < result.size(); ++column) {
            result[column] += input[row] * matrix[row * result.size() + column];
        }
    }
    return result;
}

Values Normalised(const Values& input, const Values& gamma) {
    double squares = 0;
    for (const float value : input) {
        squares += double{value} * value;
    }
    const double root = 1 / std::sqrt(squares / static_cast<double>(input.size()) + kEpsilon);
    Values result(input.size());
    for (size_t place = 0; place < input.size(); ++place) {
        result[place] = static_cast<float>(input[place] * root) * gamma[place];
    }
    return result;
}

// Turns each head's halves by the angles of the position.
void Rotate(const Model& model, int64_t position, Values* heads) {
    constexpr size_t kHalf = kHeadSize / 2;
    const float* const cosine = &model.cosine[static_cast<size_t>(position * kHeadSize)];
    const float* const sine = &model.sine[static_cast<size_t>(position * kHeadSize)];
    for (size_t head = 0; head < heads->size(); head += kHeadSize) {
        for (size_t place = 0; place < kHalf; ++place) {
            float& first = (*heads)[head + place];
            float& second = (*heads)[head + kHalf + place];
            const float turned = first * cosine[place] - second * sine[place];
            second = second * cosine[kHalf + place] + first * sine[kHalf + place];
            first = turned;
        }
    }
}

// The keys and values of all tokens so far, of one layer.
struct Cache {
    std::vector<Values> keys;
    std::vector<Values> values;
};

Values Attention(const Values& query, const Cache& cache) {
    Values result(query.size(), 0.0F);
    for (int64_t head = 0; head < kHeads; ++head) {
        const auto from = static_cast<size_t>(head * kHeadSize);
        const auto shared = static_cast<size_t>(head / (kHeads / kKeyHeads) * kHeadSize);
        std::vector<double> weights;
        for (const Values& key : cache.keys) {
            double score = 0;
            for (size_t place = 0; place < kHeadSize; ++place) {
                score += double{query[from + place]} * key[shared + place];
            }
            weights.push_back(score / std::sqrt(static_cast<double>(kHeadSize)));
        }
        const double most = *std::max_element(weights.begin(), weights.end());
        double total = 0;
        for (double& weight : weights) {
            weight = std::exp(weight - most);
            total += weight;
        }
        for (size_t token = 0; token < weights.size(); ++token) {
            for (size_t place = 0; place < kHeadSize; ++place) {
                result[from + place] += static_cast<float>(weights[token] / total) *
                                        cache.values[token][shared + place];
            }
        }
    }
    return result;
}

void AddTo(Values* sum, const Values& values) {
    std::transform(sum->begin(), sum->end(), values.begin(), sum->begin(), std::plus<>());
}

// Returns the most likely token after `token` at a position.
int64_t Next(const Model& model, int64_t token, int64_t position, std::vector<Cache>* caches) {
    const auto row = model.embedding.begin() + token * kWidth;
    Values state(row, row + kWidth);
    for (size_t place = 0; place < model.layers.size(); ++place) {
        const Layer& layer = model.layers[place];
        Cache& cache = (*caches)[place];
        const Values input = Normalised(state, layer.attentionNorm);
        Values query = Product(input, layer.query, kHeads * kHeadSize);
        Values key = Product(input, layer.key, kKeyWidth);
        Rotate(model, position, &query);
        Rotate(model, position, &key);
        cache.keys.push_back(key);
        cache.values.push_back(Product(input, layer.value, kKeyWidth));
        AddTo(&state, Product(Attention(query, cache), layer.output, kWidth));
        const Values both = Product(Normalised(state, layer.gateNorm), layer.gateUp, 2 * kHidden);
        Values gated(kHidden);
        for (size_t unit = 0; unit < gated.size(); ++unit) {
            gated[unit] = both[unit] / (1 + std::exp(-both[unit])) * both[unit + gated.size()];
        }
        AddTo(&state, Product(gated, layer.down, kWidth));
    }
    const Values logits = Product(Normalised(state, model.norm), model.logits, kVocabulary);
    return std::max_element(logits.begin(), logits.end()) - logits.begin();
}

}  // namespace

std::vector<int64_t> PlainTokens(const Model& model, const std::vector<int64_t>& prompt,
                                 int64_t count) {
    std::vector<Cache> caches(model.layers.size());
    std::vector<int64_t> tokens = prompt;
    for (size_t position = 0; tokens.size() < prompt.size() + static_cast<size_t>(count);
         ++position) {
        const int64_t next = Next(model, tokens[position], static_cast<int64_t>(position), &caches);
        if (position + 1 == tokens.size()) {
            tokens.push_back(next);
        }
    }
    return {tokens.begin() + static_cast<int64_t>(prompt.size()), tokens.end()};
}

}  // namespace llama
