// SPDX-License-Identifier: Apache-2.0
// A guess at whether a thread is going to wait for the work of a stream.

#pragma once

#include <atomic>
#include <cstdint>

namespace advstep {

/// Guesses whether a thread will wait for what is being queued, and thereby run it, or whether it
/// is left to the workers. A burst is what is queued from the moment at which the stream was empty.
/// If no thread has waited for any of the last bursts, none is expected for the next one. The guess
/// only decides when a worker is woken, never whether.
///
/// The stream's lock guards all changes; the watcher reads without it.
class WaiterGuess {
 public:
    void BurstBegins() {
        const uint8_t bursts = bursts_.load(std::memory_order_relaxed);
        bursts_.store(bursts == kMost ? kUnwaited - 1 : bursts + 1, std::memory_order_relaxed);
    }
    /// A thread waits for work that has not ended.
    void Waited() { bursts_.store(0, std::memory_order_relaxed); }

    bool NobodyWaits() const { return bursts_.load(std::memory_order_relaxed) >= kUnwaited; }

 private:
    // The first bursts of a stream, and one now and then by itself between those that are waited
    // for, do not count as a habit.
    static constexpr uint8_t kUnwaited = 3;
    // A woken worker may be so fast that a thread finds nothing left to wait for. So one burst in
    // 253 is left lying, to see whether a thread comes for it.
    static constexpr uint8_t kMost = 255;

    std::atomic<uint8_t> bursts_{0};  // that no thread has waited for
};

}  // namespace advstep
