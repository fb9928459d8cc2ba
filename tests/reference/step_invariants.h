// SPDX-License-Identifier: Apache-2.0
// Properties of a state of Step without running it: its digest, and its faults.
#ifndef ADVANCE_STEP_TESTS_REFERENCE_STEP_INVARIANTS_H_
#define ADVANCE_STEP_TESTS_REFERENCE_STEP_INVARIANTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "reference/step_reference.h"

namespace reference {

// FNV-1a 64 over all elements as little-endian int64.
inline uint64_t StepDigest(const StepData& data) {
    uint64_t hash = 0xcbf29ce484222325U;
    for (const std::vector<int64_t>& tensor : data.tensors) {
        for (const int64_t value : tensor) {
            for (int shift = 0; shift < 64; shift += 8) {
                hash ^= (static_cast<uint64_t>(value) >> shift) & 0xffU;
                hash *= 0x100000001b3U;
            }
        }
    }
    return hash;
}

// What is wrong with a state between runs, "" for nothing. The dynamic blocks are firstBlock and
// up, one for each place of the free list, and no other id is one of them.
inline std::string FindStepInconsistency(const StepData& data, int64_t firstBlock) {
    std::vector<int> seen(static_cast<size_t>(data.dims.capacity));
    const auto isDynamic = [&](int64_t id) {
        return id >= firstBlock && id < firstBlock + data.dims.capacity;
    };
    for (int64_t k = 0; k < data[kFreeListLen][0]; ++k) {
        if (!isDynamic(data[kFreeList][k])) {
            return "freeList[" + std::to_string(k) + "] is no dynamic block";
        }
        ++seen[data[kFreeList][k] - firstBlock];
    }
    int64_t flagged = 0;
    for (int64_t slot = 0; slot < data.dims.batch; ++slot) {
        const bool isPreempted = data[kIsBlockStep][slot] != 0;
        const int64_t owned = isPreempted ? 0 : data[kUsedListLen][slot];
        const int64_t first = data[kEncoderBlockLens][slot];
        flagged += isPreempted ? 1 : 0;
        for (int64_t column = 0; column < data.dims.columns; ++column) {
            const int64_t id = data.Block(slot, column);
            if (isDynamic(id) != (column >= first && column < first + owned)) {
                return "slot " + std::to_string(slot) + ", column " + std::to_string(column) +
                       " holds " + std::to_string(id);
            }
            if (isDynamic(id)) {
                ++seen[id - firstBlock];
            }
        }
    }
    for (size_t i = 0; i < seen.size(); ++i) {
        if (seen[i] != 1) {
            return "block " + std::to_string(firstBlock + static_cast<int64_t>(i)) + " is in " +
                   std::to_string(seen[i]) + " places";
        }
    }
    std::set<int64_t> stack;
    for (int64_t k = 0; k < data.dims.slots; ++k) {
        const int64_t slot = data[kStepBlockList][k];
        const bool isEntry = k < data[kStepLens][0];
        if (isEntry ? slot < 0 || slot >= data.dims.batch || data[kIsBlockStep][slot] == 0 ||
                          data[kStopFlags][slot] == 0 || !stack.insert(slot).second
                    : slot != -1) {
            return "stepBlockList[" + std::to_string(k) + "] is " + std::to_string(slot);
        }
    }
    if (flagged != data[kStepLens][0] || data[kNeedBlockLen][0] != 0 ||
        data[kRecoverLens][0] != 0) {
        return "stepLens, needBlockLen or recoverLens is wrong";
    }
    return "";
}

}  // namespace reference

#endif  // ADVANCE_STEP_TESTS_REFERENCE_STEP_INVARIANTS_H_
