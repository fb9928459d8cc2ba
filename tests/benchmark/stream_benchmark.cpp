// SPDX-License-Identifier: Apache-2.0
// The cost of a stream itself, beside the textbook queue.
// An empty task is queued and waited for: hot, in batches, spaced, with busy neighbours; or it is
// queued and left to the workers.
#include <benchmark/benchmark.h>

#include <chrono>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "tests/benchmark/interleaved.h"
#include "tests/benchmark/late_start.h"
#include "tests/benchmark/neighbours.h"
#include "tests/benchmark/require.h"
#include "tests/benchmark/textbook_queue.h"

namespace {

// A stream and the textbook's queue, as the benchmarks use them.
class StreamQueue {
 public:
    void Enqueue() {
        Require(aclrtLaunchHostFunc(
            nullptr, [](void*) {}, nullptr));
    }
    void Synchronize() { Require(aclrtSynchronizeStream(nullptr)); }

 private:
    DeviceInUse device_;
};

class Textbook {
 public:
    void Enqueue() {
        queue_.Enqueue([] {});
    }
    void Synchronize() { queue_.Synchronize(); }

 private:
    TextbookQueue queue_;
};

template <typename Queue>
void RoundTrip(benchmark::State& state) {
    Queue queue;
    for (auto _ : state) {
        for (int64_t task = 0; task < state.range(0); ++task) {
            queue.Enqueue();
        }
        queue.Synchronize();
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

// Every round trip timed by itself, after prepare(); the counters are quantiles.
template <typename Queue, typename Prepare>
void TimeRoundTrips(benchmark::State& state, Prepare&& prepare) {
    constexpr double kSecondsPerNanosecond = 1e-9;
    Queue queue;
    std::vector<double> times;
    for (auto _ : state) {
        prepare();
        times.push_back(bench::NanosecondsOf([&] {
            queue.Enqueue();
            queue.Synchronize();
        }));
        state.SetIterationTime(times.back() * kSecondsPerNanosecond);
    }
    state.counters["median_ns"] = bench::QuantileOf(times, 0.5);
    state.counters["p99_ns"] = bench::QuantileOf(times, 0.99);
}

template <typename Queue>
void SpacedRoundTrip(benchmark::State& state) {
    TimeRoundTrips<Queue>(state,
                          [] { std::this_thread::sleep_for(std::chrono::microseconds(300)); });
}

template <typename Queue>
void BusyNeighboursRoundTrip(benchmark::State& state) {
    Neighbours neighbours(2);
    neighbours.Start();
    TimeRoundTrips<Queue>(state, [] {});
}

// How late a host function starts that no thread waits for, in a process with or without other
// work; the counters are quantiles.
template <bool kBusy, bench::LateStart::Look kLook>
void StartsUnwaited(benchmark::State& state) {
    constexpr double kSecondsPerNanosecond = 1e-9;
    bench::LateStart start(kBusy, kLook);
    std::vector<double> times;
    for (auto _ : state) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        times.push_back(start.Nanoseconds());
        state.SetIterationTime(times.back() * kSecondsPerNanosecond);
    }
    state.counters["median_ns"] = bench::QuantileOf(times, 0.5);
    state.counters["p99_ns"] = bench::QuantileOf(times, 0.99);
}

// The processor time that the library's threads take of work every 5 ms.
template <bool kSynchronise>
void SparseWork(benchmark::State& state) {
    constexpr int kTasks = 200;
    double percent = 0;
    for (auto _ : state) {
        percent = 100 * bench::NanosecondsOfProcessor(kTasks, kSynchronise) /
                  std::chrono::duration<double, std::nano>(bench::kSpacedWork).count();
    }
    state.counters["percent"] = percent;
}

BENCHMARK_TEMPLATE(StartsUnwaited, false, bench::LateStart::Look::kFlag)
    ->Iterations(1000)
    ->UseManualTime();
BENCHMARK_TEMPLATE(StartsUnwaited, true, bench::LateStart::Look::kFlag)
    ->Iterations(1000)
    ->UseManualTime();
BENCHMARK_TEMPLATE(StartsUnwaited, true, bench::LateStart::Look::kQuery)
    ->Iterations(1000)
    ->UseManualTime();
BENCHMARK_TEMPLATE(SparseWork, false)->Iterations(1)->UseRealTime();
BENCHMARK_TEMPLATE(SparseWork, true)->Iterations(1)->UseRealTime();
BENCHMARK_TEMPLATE(RoundTrip, StreamQueue)->ArgName("tasks")->Arg(1)->Arg(1000)->UseRealTime();
BENCHMARK_TEMPLATE(RoundTrip, Textbook)->ArgName("tasks")->Arg(1)->Arg(1000)->UseRealTime();
BENCHMARK_TEMPLATE(SpacedRoundTrip, StreamQueue)->Iterations(2000)->UseManualTime();
BENCHMARK_TEMPLATE(SpacedRoundTrip, Textbook)->Iterations(2000)->UseManualTime();
BENCHMARK_TEMPLATE(BusyNeighboursRoundTrip, StreamQueue)->UseManualTime();
BENCHMARK_TEMPLATE(BusyNeighboursRoundTrip, Textbook)->Iterations(200)->UseManualTime();

}  // namespace
