// SPDX-License-Identifier: Apache-2.0
// A guess at whether a thread is going to wait for the work of a stream.

#pragma once

#include <atomic>
#include <cstdint>

namespace advstep {

/// Guesses whether a thread will wait for the work that is being queued, and thereby run it, or
/// whether the work is left to the workers. A burst is the work that is queued from the moment at
/// which the stream was empty. If no thread has waited for any of the last bursts, none is expected
/// to wait for the next one. The guess only decides when a worker is woken, never whether.
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
    // The first bursts of a stream are no habit, nor is a single unwaited burst between others that
    // threads wait for.
    static constexpr uint8_t kUnwaited = 3;
    // A woken worker may be so fast that a thread finds nothing left to wait for. So the guess
    // expects a thread for one burst in 254, to see whether one comes for it.
    static constexpr uint8_t kMost = 255;

    std::atomic<uint8_t> bursts_{0};  // that no thread has waited for
};

}  // namespace advstep
