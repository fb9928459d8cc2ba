// SPDX-License-Identifier: Apache-2.0
// Starts and stops the busy threads.

#include "tests/benchmark/neighbours.h"

Neighbours::Neighbours(int count) {
    for (int neighbour = 0; neighbour < count; ++neighbour) {
        threads_.emplace_back([this] { Live(); });
    }
}

Neighbours::~Neighbours() {
    Stop();
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        stop_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) {
        thread.join();
    }
}

void Neighbours::Start() {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        busy_ = true;
    }
    changed_.notify_all();
    while (working_ != static_cast<int>(threads_.size())) {
        std::this_thread::yield();
    }
}

void Neighbours::Stop() {
    busy_ = false;
    while (working_ != 0) {
        std::this_thread::yield();
    }
}

void Neighbours::Live() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
        changed_.wait(lock, [&] { return stop_ || busy_; });
        if (stop_) {
            return;
        }
        lock.unlock();
        ++working_;
        while (busy_.load(std::memory_order_relaxed)) {
            // Nothing but its share of the core.
        }
        --working_;
        lock.lock();
    }
}
