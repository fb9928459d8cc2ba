// SPDX-License-Identifier: Apache-2.0
// Marks of the streams that may be busy, so that they are found quickly among many idle ones.

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace advstep {

/// A bit for each place of the table of streams. The stream there sets and clears its bit under its
/// own lock. The bit is set while the stream has work or unreported failures. A reader takes no
/// lock: it finds the streams whose work was queued before the look, and perhaps those whose work
/// is queued meanwhile. A look that finds a bit cleared sees everything that the stream's earlier
/// work has written.
class BusyMarks {
 public:
    void Set(uint32_t index) {
        words_[index / kBits].fetch_or(BitAt(index), std::memory_order_release);
        uint32_t end = end_.load(std::memory_order_relaxed);
        while (end <= index &&
               !end_.compare_exchange_weak(end, index + 1, std::memory_order_release,
                                           std::memory_order_relaxed)) {
        }
    }
    void Clear(uint32_t index) {
        words_[index / kBits].fetch_and(~BitAt(index), std::memory_order_release);
    }

    /// Calls visit(index) for each bit that is set, ascending. visit may clear it.
    template <typename Visit>
    void ForEach(Visit&& visit) const {
        const uint32_t end = end_.load(std::memory_order_acquire);
        for (uint32_t first = 0; first < end; first += kBits) {
            uint64_t word = words_[first / kBits].load(std::memory_order_acquire);
            for (; word != 0; word &= word - 1) {
                visit(first + static_cast<uint32_t>(__builtin_ctzll(word)));
            }
        }
    }

 private:
    static constexpr uint32_t kBits = 64;
    static constexpr size_t kWords = 16384;  // as many places as a HandleTable has

    static uint64_t BitAt(uint32_t index) { return uint64_t{1} << (index % kBits); }

    std::array<std::atomic<uint64_t>, kWords> words_{};
    std::atomic<uint32_t> end_{0};  // after the last place that was ever set
};

}  // namespace advstep
