// SPDX-License-Identifier: Apache-2.0
// The set of the streams that may be busy, so that they are found quickly among many idle ones.

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace advstep {

/// The indices of streams that may be busy, as a bit for each place of the table of streams. A
/// stream adds and removes itself under its own lock. It is in the set while it has work or
/// unreported failures. A reader takes no lock: it finds the streams whose work was queued before
/// the look, and perhaps those whose work is queued meanwhile. A look that does not find a stream
/// sees everything that the stream's earlier work has written. Adding and looking have one order
/// with the changes of DeviceMemory's epoch (MemoryCheck), and so are sequentially consistent.
class BusySet {
 public:
    void Add(uint32_t index) {
        words_[index / kBits].fetch_or(BitAt(index));
        uint32_t end = end_.load();
        while (end <= index && !end_.compare_exchange_weak(end, index + 1)) {
        }
    }
    void Remove(uint32_t index) {
        words_[index / kBits].fetch_and(~BitAt(index), std::memory_order_release);
    }

    /// Calls visit(index) for each index in the set, ascending. visit may remove it.
    template <typename Visit>
    void ForEach(Visit&& visit) const {
        const uint32_t end = end_.load();
        for (uint32_t first = 0; first < end; first += kBits) {
            uint64_t word = words_[first / kBits].load();
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
    std::atomic<uint32_t> end_{0};  // after the greatest index that was ever added
};

}  // namespace advstep
