// SPDX-License-Identifier: Apache-2.0
// A request computed alone on a contiguous cache: no slots, no blocks, no device.

#pragma once

#include <cstdint>
#include <vector>

#include "toy_model.h"

namespace serve {

struct ReferenceRun {
    std::vector<KvCell> cache;    // by position; none of the last token
    std::vector<int64_t> tokens;  // generated; the last one depends on all of the cache
};

/// Overwrites run, reusing its memory.
void RunOnContiguousCache(const TextSeeds& seeds, int64_t promptTokens, int64_t generatedTokens,
                          ReferenceRun& run);

}  // namespace serve
