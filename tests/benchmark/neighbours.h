// SPDX-License-Identifier: Apache-2.0
// Threads that keep cores busy during a measurement.

#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

/// Threads that keep cores busy with work of their own while they are told to.
///
/// mutex_ guards busy_ and stop_ for the sleepers; working neighbours poll the atomic.
class Neighbours {
 public:
    explicit Neighbours(int count);
    ~Neighbours();
    Neighbours(Neighbours&&) = delete;

    /// Returns when every one of them is at work.
    void Start();
    /// Returns when none is.
    void Stop();

 private:
    void Live();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::atomic<bool> busy_{false};
    std::atomic<int> working_{0};
    bool stop_ = false;
    std::vector<std::thread> threads_;
};
