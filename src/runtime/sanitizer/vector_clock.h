// SPDX-License-Identifier: Apache-2.0
// A vector clock: for each stream the number of its tasks that come before a point.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace advstep {

/// The tasks of all streams that are ordered before a point, by the number of the stream.
class VectorClock {
 public:
    uint64_t At(size_t stream) const { return stream < sequences_.size() ? sequences_[stream] : 0; }

    void Raise(size_t stream, uint64_t sequence) {
        if (stream >= sequences_.size()) {
            sequences_.resize(stream + 1);
        }
        sequences_[stream] = std::max(sequences_[stream], sequence);
    }

    void Join(const VectorClock& other) {
        for (size_t stream = 0; stream < other.sequences_.size(); ++stream) {
            Raise(stream, other.sequences_[stream]);
        }
    }

    /// Returns whether everything before `other` is before this one.
    bool Covers(const VectorClock& other) const {
        for (size_t stream = 0; stream < other.sequences_.size(); ++stream) {
            if (At(stream) < other.sequences_[stream]) {
                return false;
            }
        }
        return true;
    }

 private:
    std::vector<uint64_t> sequences_;
};

}  // namespace advstep
