// SPDX-License-Identifier: Apache-2.0
// Implements the two ways to share out an iteration.

#include "pass_policy.h"

#include <algorithm>

namespace serve {

bool PrefillFirst::Admits(int64_t promptTokens, const PassLoad& load) const {
    return load.admitted == 0 || load.admitted + promptTokens <= budget_;
}

void PrefillFirst::Share(std::vector<PrefillShare>& prefills, int64_t /*decodeRows*/) const {
    for (PrefillShare& share : prefills) {
        share.granted = share.wanted;
    }
}

bool ChunkedPrefill::Admits(int64_t /*promptTokens*/, const PassLoad& load) const {
    return load.decodeRows + load.prefill < budget_;
}

void ChunkedPrefill::Share(std::vector<PrefillShare>& prefills, int64_t decodeRows) const {
    int64_t left = std::max<int64_t>(budget_ - decodeRows, 0);
    for (PrefillShare& share : prefills) {
        share.granted = std::min(share.wanted, left);
        left -= share.granted;
    }
}

std::unique_ptr<PassPolicy> MakePolicy(const Options& options) {
    if (options.chunked) {
        return std::make_unique<ChunkedPrefill>(options.tokenBudget);
    }
    return std::make_unique<PrefillFirst>(options.tokenBudget);
}

}  // namespace serve
