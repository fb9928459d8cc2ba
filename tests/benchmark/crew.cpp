// SPDX-License-Identifier: Apache-2.0
// Implements the threads that work together.

#include "tests/benchmark/crew.h"

#include <algorithm>
#include <chrono>
#include <limits>

namespace {

double NanosecondsNow() {
    return std::chrono::duration<double, std::nano>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

}  // namespace

Crew::Crew(int size) {
    for (int number = 0; number < size; ++number) {
        threads_.emplace_back([this, number] { Live(number); });
    }
}

Crew::~Crew() {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        stop_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) {
        thread.join();
    }
}

double Crew::Run(int count, const std::function<void(int)>& work) {
    std::unique_lock<std::mutex> lock(mutex_);
    work_ = &work;
    count_ = left_ = count;
    first_ = std::numeric_limits<double>::max();
    last_ = 0;
    ++round_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return left_ == 0; });
    return last_ - first_;
}

void Crew::Live(int number) {
    std::unique_lock<std::mutex> lock(mutex_);
    for (int64_t seen = 0;;) {
        changed_.wait(lock, [&] { return stop_ || round_ != seen; });
        if (stop_) {
            return;
        }
        seen = round_;
        if (number >= count_) {
            continue;
        }
        const std::function<void(int)>& work = *work_;
        lock.unlock();
        const double begin = NanosecondsNow();
        work(number);
        const double end = NanosecondsNow();
        lock.lock();
        first_ = std::min(first_, begin);
        last_ = std::max(last_, end);
        if (--left_ == 0) {
            changed_.notify_all();
        }
    }
}
