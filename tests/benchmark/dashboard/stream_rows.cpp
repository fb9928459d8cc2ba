// SPDX-License-Identifier: Apache-2.0
// The cost of a stream itself: empty tasks, hot, spaced, in batches, with busy neighbours.
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "tests/benchmark/dashboard/rows.h"
#include "tests/benchmark/late_start.h"
#include "tests/benchmark/neighbours.h"
#include "tests/benchmark/pocl_queue.h"
#include "tests/benchmark/require.h"
#include "tests/benchmark/textbook_queue.h"

namespace bench {
namespace {

constexpr int kNeighbours = 2;

void Enqueue() {
    Require(aclrtLaunchHostFunc(
        nullptr, [](void*) {}, nullptr));
}

void RoundTrip() {
    Enqueue();
    Require(aclrtSynchronizeStream(nullptr));
}

// Calls with nothing in between for so long; the median of a batch.
template <typename Run>
Side Spaced(Run run) {
    constexpr int64_t kCalls = 15;
    static constexpr std::chrono::microseconds kSpace(300);
    const auto time = [run](int64_t runs) {
        std::vector<double> times;
        for (int64_t call = 0; call < runs; ++call) {
            std::this_thread::sleep_for(kSpace);
            times.push_back(NanosecondsOf(run));
        }
        return QuantileOf(times, 0.5);
    };
    return {time, kCalls, kCalls};
}

// A quantile of round trips that are timed one by one, perhaps with busy neighbours.
Side RoundTrips(double fraction, std::shared_ptr<Neighbours> neighbours) {
    constexpr int64_t kCalls = 20000;
    const auto time = [=](int64_t runs) {
        if (neighbours != nullptr) {
            neighbours->Start();
        }
        std::vector<double> times;
        times.reserve(static_cast<size_t>(runs));
        for (int64_t call = 0; call < runs; ++call) {
            times.push_back(NanosecondsOf(&RoundTrip));
        }
        if (neighbours != nullptr) {
            neighbours->Stop();
        }
        return QuantileOf(std::move(times), fraction);
    };
    return {time, kCalls, kCalls};
}

template <typename Run>
Side HotOrSpaced(bool spaced, Run run) {
    return spaced ? Spaced(run) : InARow(run);
}

Prepared PrepareTextbook(bool spaced) {
    const auto queue = std::make_shared<TextbookQueue>();
    const auto roundTrip = [queue] {
        queue->Enqueue([] {});
        queue->Synchronize();
    };
    return {{HotOrSpaced(spaced, [] { RoundTrip(); }), HotOrSpaced(spaced, roundTrip), false}, ""};
}

Prepared PreparePocl(bool spaced) {
    std::string whyNot;
    const std::shared_ptr<PoclQueue> queue = PoclQueue::Open(&whyNot);
    if (queue == nullptr) {
        return NotHere(whyNot);
    }
    const auto roundTrip = [queue] { queue->RoundTrip(); };
    return {{HotOrSpaced(spaced, [] { RoundTrip(); }), HotOrSpaced(spaced, roundTrip), false}, ""};
}

Prepared PrepareBatch() {
    constexpr int kTasks = 1000;
    const Side whole = InARow([] {
        for (int task = 0; task < kTasks; ++task) {
            Enqueue();
        }
        Require(aclrtSynchronizeStream(nullptr));
    });
    const auto eachTask = [whole](int64_t runs) { return whole.time(runs) / kTasks; };
    Side library{eachTask};
    library.fixedRuns = 10;
    return {{library, {}, false}, ""};
}

Prepared PrepareBusyMedian() {
    return {{RoundTrips(0.5, std::make_shared<Neighbours>(kNeighbours)), RoundTrips(0.5, nullptr),
             true},
            ""};
}

Prepared PrepareBusyTail() {
    return {{RoundTrips(0.99, std::make_shared<Neighbours>(kNeighbours)), {}, false}, ""};
}

// How late a task starts that no thread waits for, in a process that is busy otherwise.
Side LateStarts(double fraction, std::shared_ptr<LateStart> late) {
    constexpr int64_t kStarts = 200;
    const auto time = [=](int64_t runs) {
        std::vector<double> times;
        for (int64_t start = 0; start < runs; ++start) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            times.push_back(late->Nanoseconds());
        }
        return QuantileOf(std::move(times), fraction);
    };
    return {time, kStarts, kStarts};
}

std::shared_ptr<LateStart> BesideRoundTrips() {
    return std::make_shared<LateStart>(true, LateStart::Look::kFlag);
}

Prepared PrepareLateMedian() { return {{LateStarts(0.5, BesideRoundTrips()), {}, false}, ""}; }

Prepared PrepareLateTail() { return {{LateStarts(0.99, BesideRoundTrips()), {}, false}, ""}; }

// What the library's threads use for a task that comes every 5 ms: 100 us are 2 %.
Prepared PrepareSparse(bool synchronise) {
    constexpr int64_t kTasks = 100;
    const auto time = [=](int64_t tasks) { return NanosecondsOfProcessor(tasks, synchronise); };
    return {{{time, kTasks, kTasks}, {}, false}, ""};
}

}  // namespace

Rows StreamRows() {
    constexpr double kMicrosecond = 1000;
    return {
        {"task_pocl", "empty task, enqueue and sync", "POCL", AtMost(0.5),
         [] { return PreparePocl(false); }},
        {"task_cv", "empty task, enqueue and sync", "CV", AtMost(1.0 / 50),
         [] { return PrepareTextbook(false); }},
        {"spaced_pocl", "one empty task every 300 us", "POCL", AtMost(1.0),
         [] { return PreparePocl(true); }},
        {"spaced_cv", "one empty task every 300 us", "CV", AtMost(1.0 / 15),
         [] { return PrepareTextbook(true); }},
        {"batch_1000", "a task of 1000 enqueues and one sync", "", Nanoseconds(100), &PrepareBatch},
        {"busy_median", "empty task, two busy neighbours: median", "idle", AtMost(2),
         &PrepareBusyMedian},
        {"busy_p99", "empty task, two busy neighbours: 99th percentile", "",
         Nanoseconds(20 * kMicrosecond), &PrepareBusyTail},
        {"late_median", "start that nobody waits for, busy process: median", "",
         Nanoseconds(40 * kMicrosecond), &PrepareLateMedian},
        {"late_p99", "start that nobody waits for, busy process: 99th percentile", "",
         Nanoseconds(150 * kMicrosecond), &PrepareLateTail},
        {"sparse_task", "processor time of the library for a task every 5 ms", "",
         Nanoseconds(100 * kMicrosecond), [] { return PrepareSparse(false); }},
        {"sparse_sync", "the same, each task synchronised", "", Nanoseconds(100 * kMicrosecond),
         [] { return PrepareSparse(true); }}};
}

}  // namespace bench
