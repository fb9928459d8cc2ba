// SPDX-License-Identifier: Apache-2.0
// Threads that start a piece of work together, again and again.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

/// Threads that do the same work at the same time. mutex_ guards all members but threads_.
class Crew {
 public:
    explicit Crew(int size);
    ~Crew();
    Crew(Crew&&) = delete;

    /// Calls work(number) on the first `count` threads, and returns the nanoseconds from the begin
    /// of the first to the end of the last.
    double Run(int count, const std::function<void(int)>& work);

 private:
    void Live(int number);

    std::mutex mutex_;
    std::condition_variable changed_;
    const std::function<void(int)>* work_ = nullptr;
    int64_t round_ = 0;
    int count_ = 0;
    int left_ = 0;  // threads that have not ended the round
    double first_ = 0;
    double last_ = 0;
    bool stop_ = false;
    std::vector<std::thread> threads_;
};
