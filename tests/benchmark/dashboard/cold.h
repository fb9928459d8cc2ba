// SPDX-License-Identifier: Apache-2.0
// Single calls whose data the caches have lost, as a model's work between two calls leaves them.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "tests/benchmark/interleaved.h"

namespace bench {

/// As much memory as pushes a call's data out of the first and the second cache, and out of a part
/// of the third, which other guests of the host share.
class OtherMemory {
 public:
    /// Reads each cache line, and changes one word, so that no read is left out.
    void Touch() {
        constexpr size_t kWordsPerLine = 8;
        uint64_t sum = 0;
        for (size_t word = 0; word < words_.size(); word += kWordsPerLine) {
            sum += words_[word];
        }
        words_[0] = sum;
    }

 private:
    static constexpr size_t kBytes = size_t{32} << 20;

    std::vector<uint64_t> words_ = std::vector<uint64_t>(kBytes / sizeof(uint64_t), 1);
};

/// Not inlined, so that cold_lines.py can count what it touches.
template <typename Run>
[[gnu::noinline]] double TimeColdCall(Run& run) {
    return NanosecondsOf(run);
}

/// The median of single calls. Each is timed alone, after prepare() and a touch of other memory.
template <typename Prepare, typename Run>
Side Cold(std::shared_ptr<OtherMemory> other, Prepare prepare, Run run) {
    constexpr int64_t kCalls = 5;
    const auto time = [other = std::move(other), prepare = std::move(prepare),
                       run = std::move(run)](int64_t runs) mutable {
        std::vector<double> times;
        for (int64_t call = 0; call < runs; ++call) {
            prepare();
            other->Touch();
            times.push_back(TimeColdCall(run));
        }
        return QuantileOf(std::move(times), 0.5);
    };
    return {time, kCalls, kCalls};
}

}  // namespace bench
