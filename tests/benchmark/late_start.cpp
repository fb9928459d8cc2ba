// SPDX-License-Identifier: Apache-2.0
// Implements the timing of late starts, and the processor time of sparse work.

#include "tests/benchmark/late_start.h"

#include <sys/resource.h>

#include "tests/benchmark/require.h"

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::microseconds kPatience(500);
constexpr std::chrono::microseconds kQueries(10);  // between one query and the next

double Microseconds(int who) {
    rusage usage{};
    getrusage(who, &usage);
    const auto of = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
    };
    return of(usage.ru_utime) + of(usage.ru_stime);
}

}  // namespace

RoundTripThread::RoundTripThread() : thread_([this] { Run(); }) {}

RoundTripThread::~RoundTripThread() {
    over_ = true;
    thread_.join();
}

void RoundTripThread::Run() {
    Require(aclrtSetDevice(0));
    aclrtStream stream = nullptr;
    Require(aclrtCreateStream(&stream));
    while (!over_) {
        Require(aclrtLaunchHostFunc(
            stream, [](void*) {}, nullptr));
        Require(aclrtSynchronizeStream(stream));
    }
    Require(aclrtDestroyStream(stream));
    Require(aclrtResetDevice(0));
}

LateStart::LateStart(bool busy, Look look) : look_(look) {
    Require(aclrtSetDevice(0));
    Require(aclrtCreateStream(&stream_));
    if (busy) {
        busy_ = std::make_unique<RoundTripThread>();
    }
}

LateStart::~LateStart() {
    busy_.reset();
    Require(aclrtDestroyStream(stream_));
    Require(aclrtResetDevice(0));
}

double LateStart::Nanoseconds() {
    started_ = Clock::time_point{};
    const Clock::time_point begin = Clock::now();
    Require(aclrtLaunchHostFunc(
        stream_,
        [](void* started) {
            *static_cast<std::atomic<Clock::time_point>*>(started) = Clock::now();
        },
        &started_));
    // The caller sleeps, so that it takes no processor away from the library's threads.
    do {
        std::this_thread::sleep_for(look_ == Look::kQuery ? kQueries : kPatience);
        aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
        if (look_ == Look::kQuery) {
            Require(aclrtStreamQuery(stream_, &status));
        }
    } while (started_.load() == Clock::time_point{});
    return std::chrono::duration<double, std::nano>(started_.load() - begin).count();
}

double NanosecondsOfProcessor(int64_t tasks, bool synchronise) {
    Require(aclrtSetDevice(0));
    const auto queue = [&] {
        Require(aclrtLaunchHostFunc(
            nullptr, [](void*) {}, nullptr));
        if (synchronise) {
            Require(aclrtSynchronizeStream(nullptr));
        }
        std::this_thread::sleep_for(kSpacedWork);
    };
    for (int task = 0; task < 10; ++task) {
        queue();
    }
    const auto used = [] { return Microseconds(RUSAGE_SELF) - Microseconds(RUSAGE_THREAD); };
    const double before = used();
    for (int64_t task = 0; task < tasks; ++task) {
        queue();
    }
    constexpr double kNanosecondsPerMicrosecond = 1000;
    const double each = kNanosecondsPerMicrosecond * (used() - before) / static_cast<double>(tasks);
    Require(aclrtResetDevice(0));
    return each;
}

}  // namespace bench
