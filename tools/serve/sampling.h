// SPDX-License-Identifier: Apache-2.0
// The end of every pass of the model, on the device: sample, and note the sample.

#pragma once

#include <cstdint>

#include "paged_sequence.h"

namespace serve {

/// The token behind the first `length` ones. The last one of a sequence depends on all of its
/// cells.
inline int64_t Sample(const PagedSequence& sequence, int64_t length, int64_t endLen) {
    if (length < endLen) {
        return NextToken(length, [&](int64_t position) { return sequence.CellAt(position); });
    }
    TokenHash hash;
    sequence.ForEach(0, length, [&](int64_t, const KvCell& cell) { hash.Add(cell); });
    return hash.Token();
}

/// The bookkeeping after a forward pass: `length` tokens are in the cache, and one more is known.
/// The slot stops if that is its last; the next Step takes its blocks back.
inline void TakeSample(const ModelMemory& m, int64_t slot, int32_t length, int64_t token) {
    const int64_t generated = m.stepIdx[slot];
    if (generated > 0 && generated < m.preWidth) {
        m.preIds[slot * m.preWidth + generated] = m.nextTokens[slot];
    }
    m.stepIdx[slot] = generated + 1;
    m.nextTokens[slot] = token;
    m.seqLensDecoder[slot] = length;
    m.seqLensEncoder[slot] = 0;
    m.seqLensThisTime[slot] = 1;
    if (length >= m.infos[slot].endLen) {
        m.stopFlags[slot] = 1;
    }
}

}  // namespace serve
