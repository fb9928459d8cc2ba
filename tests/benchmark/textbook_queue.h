// SPDX-License-Identifier: Apache-2.0
// A textbook queue of one worker, which streams are measured against.

#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>

/// The queue of a textbook, which streams are measured against: a mutex, a condition variable, one
/// worker.
class TextbookQueue {
 public:
    TextbookQueue();
    ~TextbookQueue();
    void Enqueue(std::function<void()> task);
    void Synchronize();

 private:
    void Work();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::queue<std::function<void()>> tasks_;
    bool busy_ = false;
    bool stop_ = false;
    std::thread worker_;
};
