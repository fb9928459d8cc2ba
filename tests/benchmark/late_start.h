// SPDX-License-Identifier: Apache-2.0
// How late work starts that no thread waits for.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>

#include "acl/acl.h"

namespace bench {

/// A thread that queues tasks in a stream of its own and synchronises, as fast as it can.
class RoundTripThread {
 public:
    RoundTripThread();
    ~RoundTripThread();
    RoundTripThread(RoundTripThread&&) = delete;

 private:
    void Run();

    std::atomic<bool> over_{false};
    std::thread thread_;
};

/// Times the start of host functions that no thread waits for. The process is busy meanwhile:
/// another thread queues tasks in a stream of its own and synchronises, as fast as it can.
class LateStart {
 public:
    /// How the caller learns that the function has run. Neither runs any work.
    enum class Look { kFlag, kQuery };

    LateStart(bool busy, Look look);
    ~LateStart();
    LateStart(LateStart&&) = delete;

    /// Nanoseconds from the call that queues a host function to the function's start.
    double Nanoseconds();

 private:
    const Look look_;
    aclrtStream stream_ = nullptr;
    std::atomic<std::chrono::steady_clock::time_point> started_{};
    std::unique_ptr<RoundTripThread> busy_;
};

/// The time between two host functions of NanosecondsOfProcessor.
inline constexpr std::chrono::milliseconds kSpacedWork{5};

/// The processor time that the library's threads use for each of `tasks` host functions, which the
/// calling thread queues every kSpacedWork, in nanoseconds.
double NanosecondsOfProcessor(int64_t tasks, bool synchronise);

}  // namespace bench
