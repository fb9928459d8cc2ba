// SPDX-License-Identifier: Apache-2.0
// Mutexes, condition variables, atomics, time and threads as the controlled scheduler has them.

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <utility>

#include "tests/schedules/scheduler.h"

namespace schedules {

class mutex {
 public:
    constexpr mutex() noexcept = default;
    mutex(const mutex&) = delete;
    mutex& operator=(const mutex&) = delete;
    void lock() {
        Point(Op::kLock, this);
        while (held_) {
            Block(Op::kLock, this);
        }
        held_ = true;
        NoteLock(this, true);
    }
    void unlock() {
        Expect(held_, "a mutex is unlocked that nobody holds");
        held_ = false;
        NoteLock(this, false);
        WakeAll(this);
    }

 private:
    bool held_ = false;
};

class shared_mutex {
 public:
    constexpr shared_mutex() noexcept = default;
    shared_mutex(const shared_mutex&) = delete;
    shared_mutex& operator=(const shared_mutex&) = delete;
    void lock() {
        Point(Op::kLock, this);
        while (held_ || readers_ > 0) {
            Block(Op::kLock, this);
        }
        held_ = true;
    }
    void unlock() {
        held_ = false;
        WakeAll(this);
    }
    void lock_shared() {
        Point(Op::kLock, this);
        while (held_) {
            Block(Op::kLock, this);
        }
        ++readers_;
    }
    void unlock_shared() {
        --readers_;
        WakeAll(this);
    }

 private:
    bool held_ = false;
    int readers_ = 0;
};

struct steady_clock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<steady_clock>;
    static constexpr bool is_steady = true;
    static time_point now() { return time_point(duration(Now())); }
};

class condition_variable {
 public:
    condition_variable() = default;
    condition_variable(const condition_variable&) = delete;
    condition_variable& operator=(const condition_variable&) = delete;

    void wait(std::unique_lock<mutex>& lock) {
        Point(Op::kWait, this);
        lock.mutex()->unlock();
        Block(Op::kWait, this);
        lock.mutex()->lock();
    }
    template <typename Condition>
    void wait(std::unique_lock<mutex>& lock, Condition condition) {
        while (!condition()) {
            wait(lock);
        }
    }
    template <typename Duration>
    std::cv_status wait_until(std::unique_lock<mutex>& lock,
                              const std::chrono::time_point<steady_clock, Duration>& deadline) {
        Point(Op::kWait, this);
        lock.mutex()->unlock();
        const bool expired = BlockUntil(
            Op::kWait, this,
            std::chrono::duration_cast<std::chrono::nanoseconds>(deadline.time_since_epoch())
                .count());
        lock.mutex()->lock();
        return expired ? std::cv_status::timeout : std::cv_status::no_timeout;
    }
    template <typename Duration, typename Condition>
    bool wait_until(std::unique_lock<mutex>& lock,
                    const std::chrono::time_point<steady_clock, Duration>& deadline,
                    Condition condition) {
        while (!condition()) {
            if (wait_until(lock, deadline) == std::cv_status::timeout) {
                return condition();
            }
        }
        return true;
    }
    template <typename Rep, typename Period, typename... Condition>
    auto wait_for(std::unique_lock<mutex>& lock, const std::chrono::duration<Rep, Period>& time,
                  Condition... condition) {
        return wait_until(lock, steady_clock::now() + time, condition...);
    }
    void notify_one() {
        Point(Op::kNotify, this);
        WakeOne(this);
    }
    void notify_all() {
        Point(Op::kNotify, this);
        WakeAll(this);
    }
};

/// Sequentially consistent, whatever order is asked for: the thread sanitizer looks at the orders.
template <typename T>
class atomic {
 public:
    static constexpr bool is_always_lock_free = true;
    constexpr atomic() noexcept = default;
    constexpr atomic(T value) noexcept : value_(value) {}
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;

    T load(std::memory_order = std::memory_order_seq_cst) const {
        Point(Op::kLoad, this);
        return value_;
    }
    operator T() const { return load(); }
    void store(T value, std::memory_order = std::memory_order_seq_cst) {
        Point(Op::kStore, this);
        value_ = value;
    }
    T operator=(T value) {
        store(value);
        return value;
    }
    T exchange(T value, std::memory_order = std::memory_order_seq_cst) {
        Point(Op::kChange, this);
        return std::exchange(value_, value);
    }
    template <typename... Orders>
    bool compare_exchange_strong(T& expected, T value, Orders...) {
        Point(Op::kChange, this);
        if (value_ == expected) {
            value_ = value;
            return true;
        }
        expected = value_;
        return false;
    }
    template <typename... Orders>
    bool compare_exchange_weak(T& expected, T value, Orders...) {
        return compare_exchange_strong(expected, value);
    }
    template <typename Difference>
    T fetch_add(Difference difference, std::memory_order = std::memory_order_seq_cst) {
        Point(Op::kChange, this);
        const T before = value_;
        value_ = static_cast<T>(value_ + difference);
        return before;
    }
    template <typename Difference>
    T fetch_sub(Difference difference, std::memory_order = std::memory_order_seq_cst) {
        Point(Op::kChange, this);
        const T before = value_;
        value_ = static_cast<T>(value_ - difference);
        return before;
    }
    T fetch_or(T bits, std::memory_order = std::memory_order_seq_cst) {
        Point(Op::kChange, this);
        return std::exchange(value_, static_cast<T>(value_ | bits));
    }
    T fetch_and(T bits, std::memory_order = std::memory_order_seq_cst) {
        Point(Op::kChange, this);
        return std::exchange(value_, static_cast<T>(value_ & bits));
    }
    T operator++() { return static_cast<T>(fetch_add(1) + 1); }
    T operator++(int) { return fetch_add(1); }
    T operator--() { return static_cast<T>(fetch_sub(1) - 1); }
    T operator--(int) { return fetch_sub(1); }
    T operator+=(T difference) { return static_cast<T>(fetch_add(difference) + difference); }
    T operator-=(T difference) { return static_cast<T>(fetch_sub(difference) - difference); }

 private:
    T value_{};
};

struct thread_id {
    int number = -1;
    friend bool operator==(thread_id a, thread_id b) { return a.number == b.number; }
    friend bool operator!=(thread_id a, thread_id b) { return a.number != b.number; }
};

/// Sleeps in virtual time.
template <typename Rep, typename Period>
void SleepFor(const std::chrono::duration<Rep, Period>& time) {
    static const char place = 0;
    (void)BlockUntil(Op::kSleep, &place,
                     Now() + std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

class thread {
 public:
    using id = thread_id;
    thread() noexcept = default;
    template <typename Body>
    explicit thread(Body body)
        : number_(Start([held = std::make_shared<Body>(std::move(body))] { (*held)(); })) {}
    thread(thread&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    thread& operator=(thread&& other) noexcept {
        number_ = std::exchange(other.number_, -1);
        return *this;
    }
    bool joinable() const { return number_ >= 0; }
    void join() { Join(std::exchange(number_, -1)); }
    void detach() { number_ = -1; }
    id get_id() const { return {number_}; }
    static unsigned hardware_concurrency() { return 2; }

 private:
    int number_ = -1;
};

}  // namespace schedules
