// SPDX-License-Identifier: Apache-2.0
// Computes a request token by token on a contiguous cache.

#include "contiguous_reference.h"

#include <cstddef>

namespace serve {

void RunOnContiguousCache(const TextSeeds& seeds, int64_t promptTokens, int64_t generatedTokens,
                          ReferenceRun& run) {
    run.cache.resize(static_cast<size_t>(promptTokens + generatedTokens - 1));
    run.tokens.resize(static_cast<size_t>(generatedTokens));
    KvCell* const cache = run.cache.data();
    TokenHash all;
    const auto fill = [&](int64_t position, int64_t token) {
        cache[position] = CellOf(seeds.At(position), token, position);
        all.Add(cache[position]);
    };
    for (int64_t position = 0; position < promptTokens; ++position) {
        fill(position, PromptToken(seeds.At(position), position));
    }
    for (int64_t i = 0; i + 1 < generatedTokens; ++i) {
        const int64_t position = promptTokens + i;
        const int64_t token =
            NextToken(position, [cache](int64_t earlier) { return cache[earlier]; });
        run.tokens[static_cast<size_t>(i)] = token;
        fill(position, token);
    }
    run.tokens.back() = all.Token();
}

}  // namespace serve
