// SPDX-License-Identifier: Apache-2.0
// Step beside SEED on the same states. Both run in turns, so that a ratio of medians says more than
// either time; docs/internals/benchmarking.md.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "tests/benchmark/step_batch.h"

namespace {

using Clock = std::chrono::steady_clock;

double Median(std::vector<double>& values) {
    const auto middle = values.begin() + static_cast<int64_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

template <typename Run>
double Nanoseconds(Run run) {
    const auto begin = Clock::now();
    run();
    return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

// With more slots a SEED step with victims takes seconds.
constexpr int64_t kMostSeedSlots = 10000;

// An iteration is one step of each, from the same state; the time reported is the library's.
void RunStep(benchmark::State& state, StepCase which) {
    StepBatch batch(MakeStepState(which, state.range(0)));
    const bool withSeed = which != StepCase::kTenthPreempted || state.range(0) <= kMostSeedSlots;
    std::vector<double> library, seed;
    for (auto _ : state) {
        batch.RestoreLibrary();
        library.push_back(Nanoseconds([&] { batch.RunLibrary(); }));
        state.SetIterationTime(library.back() * 1e-9);
        if (withSeed) {
            batch.RestoreSeed();
            seed.push_back(Nanoseconds([&] { batch.RunSeed(); }));
        }
    }
    const double libraryTime = Median(library);
    state.counters["step_ns"] = libraryTime;
    if (withSeed) {
        state.counters["seed_ns"] = Median(seed);
        state.counters["step/seed"] = libraryTime / Median(seed);
    }
    state.counters["preempted"] = static_cast<double>(batch.preempted());
    state.counters["recovered"] = static_cast<double>(batch.recovered());
    state.SetItemsProcessed(state.iterations() * state.range(0));
    state.SetBytesProcessed(state.iterations() * batch.bytes());
}

void StepNoPressure(benchmark::State& state) { RunStep(state, StepCase::kNoPressure); }
void StepTenthPreempted(benchmark::State& state) { RunStep(state, StepCase::kTenthPreempted); }
void StepHalfRecovered(benchmark::State& state) { RunStep(state, StepCase::kHalfRecovered); }

// 256 slots are vLLM's default and all that the source looks at, 1024 a large batch of today; more
// is there to show how the cost grows.
BENCHMARK(StepNoPressure)->ArgName("slots")->Arg(256)->Arg(1024)->Arg(10000)->UseManualTime();
BENCHMARK(StepTenthPreempted)->ArgName("slots")->Arg(256)->Arg(1024)->UseManualTime();
// So few iterations since SEED, whose time does not count, takes milliseconds.
BENCHMARK(StepTenthPreempted)
    ->ArgName("slots")
    ->Arg(10000)
    ->Arg(100000)
    ->Iterations(300)
    ->UseManualTime();
BENCHMARK(StepHalfRecovered)->ArgName("slots")->Arg(256)->Arg(1024)->Arg(10000)->UseManualTime();

}  // namespace
