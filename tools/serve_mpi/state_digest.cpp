// SPDX-License-Identifier: Apache-2.0
// Computes the digest of device memory in a kernel and finds the first tensor that differs.

#include "state_digest.h"

#include <xxhash.h>

#include <algorithm>
#include <cstddef>

namespace serve {
namespace {

// Of token ids, what belongs to a slot's sequence.
uint64_t HashTokens(const DeviceArray& array, const std::vector<int64_t>& slotTokens,
                    int64_t* bytes) {
    const auto* row = static_cast<const int64_t*>(array.data);
    uint64_t hash = 0;
    for (const int64_t tokens : slotTokens) {
        const auto size =
            static_cast<size_t>(std::min(tokens, array.tokenColumns)) * sizeof(int64_t);
        if (size > 0) {
            hash = XXH3_64bits_withSeed(row, size, hash);
            *bytes += static_cast<int64_t>(size);
        }
        row += array.tokenColumns;
    }
    return hash;
}

}  // namespace

void StateDigest::Compute(const StepState& state, Stream& stream) {
    state_ = &state;
    stream.Launch(DigestKernel, this, "digest");
    stream.Synchronize();
    state_ = nullptr;
    const size_t bytes = tensors_.size() * sizeof(uint64_t);
    ofStep_ = XXH3_64bits_withSeed(tensors_.data(), bytes, static_cast<uint64_t>(state.step));
    ofRun_ = XXH3_64bits_withSeed(&ofStep_, sizeof ofStep_, ofRun_);
}

void StateDigest::DigestKernel(void* stateDigest) {
    auto& self = *static_cast<StateDigest*>(stateDigest);
    self.tensors_.clear();
    self.bytes_ = 0;
    for (const DeviceArray& array : self.state_->arrays) {
        if (array.tokenColumns > 0) {
            self.tensors_.push_back(HashTokens(array, self.state_->slotTokens, &self.bytes_));
        } else {
            self.tensors_.push_back(XXH3_64bits(array.data, array.bytes));
            self.bytes_ += static_cast<int64_t>(array.bytes);
        }
    }
}

std::optional<Divergence> FindDivergence(const std::vector<std::vector<uint64_t>>& digests) {
    const auto agreeing = [&](size_t member, size_t tensor) {
        return std::count_if(digests.begin(), digests.end(), [&](const auto& other) {
            return other[tensor] == digests[member][tensor];
        });
    };
    for (size_t tensor = 0; tensor < digests.at(0).size(); ++tensor) {
        size_t reference = 0;
        for (size_t member = 1; member < digests.size(); ++member) {
            if (agreeing(member, tensor) > agreeing(reference, tensor)) {
                reference = member;
            }
        }
        for (size_t member = 0; member < digests.size(); ++member) {
            if (digests[member][tensor] != digests[reference][tensor]) {
                return Divergence{tensor, member, reference};
            }
        }
    }
    return std::nullopt;
}

}  // namespace serve
