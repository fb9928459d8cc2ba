// SPDX-License-Identifier: Apache-2.0
// Implements the textbook queue.

#include "tests/benchmark/textbook_queue.h"

TextbookQueue::TextbookQueue() : worker_([this] { Work(); }) {}

TextbookQueue::~TextbookQueue() {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        stop_ = true;
    }
    changed_.notify_all();
    worker_.join();
}

void TextbookQueue::Enqueue(std::function<void()> task) {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        tasks_.push(std::move(task));
    }
    changed_.notify_all();
}

void TextbookQueue::Synchronize() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return tasks_.empty() && !busy_; });
}

void TextbookQueue::Work() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
        changed_.wait(lock, [&] { return stop_ || !tasks_.empty(); });
        if (tasks_.empty()) {
            return;
        }
        const std::function<void()> task = std::move(tasks_.front());
        tasks_.pop();
        busy_ = true;
        lock.unlock();
        task();
        lock.lock();
        busy_ = false;
        changed_.notify_all();
    }
}
