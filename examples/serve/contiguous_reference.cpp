// SPDX-License-Identifier: Apache-2.0
// Computes a request token by token on a contiguous cache.

#include "contiguous_reference.h"

#include <cstddef>

namespace serve {

void RunOnContiguousCache(uint64_t seed, int64_t promptTokens, int64_t generatedTokens,
                          ReferenceRun& run) {
    run.cache.clear();
    run.tokens.clear();
    for (int64_t position = 0; position < promptTokens; ++position) {
        run.cache.push_back(CellOf(seed, PromptToken(seed, position), position));
    }
    for (int64_t i = 0; i + 1 < generatedTokens; ++i) {
        const int64_t position = promptTokens + i;
        const int64_t token = NextToken(
            position, [&](int64_t earlier) { return run.cache[static_cast<size_t>(earlier)]; });
        run.tokens.push_back(token);
        run.cache.push_back(CellOf(seed, token, position));
    }
    TokenHash hash;
    for (const KvCell& cell : run.cache) {
        hash.Add(cell);
    }
    run.tokens.push_back(hash.Token());
}

}  // namespace serve
