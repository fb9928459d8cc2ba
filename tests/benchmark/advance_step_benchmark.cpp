// SPDX-License-Identifier: Apache-2.0
// Full AdvanceStep calls, as a runtime makes them, beside the bare loop on the same shapes. Ratios
// of one run are what counts; docs/internals/benchmarking.md.
#include <benchmark/benchmark.h>

#include <chrono>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "tests/benchmark/advance_batch.h"
#include "tests/benchmark/interleaved.h"
#include "tests/benchmark/neighbours.h"
#include "tests/benchmark/require.h"

namespace {

constexpr int64_t kBlockSize = 16;
constexpr int64_t kMaxBlocks = 128;
constexpr double kSecondsPerNanosecond = 1e-9;

void SetRates(benchmark::State& state) {
    // Tokens and lengths in, a block id's line; tokens, positions, lengths and slots out.
    constexpr double kBytesPerRow = 2 * 8 + 64 + 4 * 8;
    const auto rows = static_cast<double>(state.range(0));
    const auto rate = benchmark::Counter::kIsIterationInvariantRate;
    state.counters["rows/s"] = benchmark::Counter(rows, rate);
    state.counters["bytes/s"] = benchmark::Counter(rows * kBytesPerRow, rate);
}

AdvanceBatch MakeBatch(int64_t numSeqs) {
    return AdvanceBatch(MakeMixedBatch(numSeqs, kMaxBlocks, kBlockSize), kBlockSize);
}

void BareLoop(benchmark::State& state) {
    BareSteps batch(MakeMixedBatch(state.range(0), kMaxBlocks, kBlockSize), kBlockSize);
    for (auto _ : state) {
        batch.MakeRoom(1);
        batch.Run();
        benchmark::ClobberMemory();
    }
    SetRates(state);
}

// One call at a time, of phase one and two.
template <void (AdvanceBatch::*kCall)() const>
void OneCall(benchmark::State& state) {
    const DeviceInUse device;
    AdvanceBatch batch = MakeBatch(state.range(0));
    for (auto _ : state) {
        batch.MakeRoom(1);
        (batch.*kCall)();
    }
    SetRates(state);
}
void FullCall(benchmark::State& state) { OneCall<&AdvanceBatch::Call>(state); }
void NewTensorsCall(benchmark::State& state) { OneCall<&AdvanceBatch::CallWithNewTensors>(state); }

void RepeatableExecutor(benchmark::State& state) {
    const DeviceInUse device;
    AdvanceBatch batch = MakeBatch(state.range(0));
    batch.Repeat(state, batch.PhaseOne());
    SetRates(state);
}

// So many calls queued, then one synchronisation.
void BatchOfCalls(benchmark::State& state) {
    const int64_t calls = state.range(1);
    const DeviceInUse device;
    AdvanceBatch batch = MakeBatch(state.range(0));
    for (auto _ : state) {
        batch.MakeRoom(calls);
        for (int64_t call = 0; call < calls; ++call) {
            batch.PhaseTwo(batch.PhaseOne());
        }
        Require(aclrtSynchronizeStream(nullptr));
    }
    state.SetItemsProcessed(state.iterations() * calls);
}

// Every call timed by itself, after prepare(); the counters are quantiles.
template <typename Prepare>
void TimeCalls(benchmark::State& state, Prepare&& prepare) {
    AdvanceBatch batch = MakeBatch(state.range(0));
    std::vector<double> times;
    for (auto _ : state) {
        batch.MakeRoom(1);
        prepare();
        times.push_back(bench::NanosecondsOf([&] { batch.Call(); }));
        state.SetIterationTime(times.back() * kSecondsPerNanosecond);
    }
    state.counters["median_ns"] = bench::QuantileOf(times, 0.5);
    state.counters["p99_ns"] = bench::QuantileOf(times, 0.99);
}

void SpacedCall(benchmark::State& state) {
    const DeviceInUse device;
    TimeCalls(state, [] { std::this_thread::sleep_for(std::chrono::microseconds(300)); });
}

void BusyNeighboursCall(benchmark::State& state) {
    const DeviceInUse device;
    Neighbours neighbours(2);
    neighbours.Start();
    TimeCalls(state, [] {});
}

// Decode batches of a small engine, vLLM's default limit (max_num_seqs 256), a large server's, and
// beyond: more than fits a level-2 cache, and a level-3 cache.
void Shapes(benchmark::internal::Benchmark* each) {
    each->ArgName("rows")->Arg(8)->Arg(256)->Arg(1024)->Arg(16384)->Arg(262144);
}

BENCHMARK(BareLoop)->Apply(Shapes);
BENCHMARK(FullCall)->Apply(Shapes);
BENCHMARK(NewTensorsCall)->Apply(Shapes);
BENCHMARK(RepeatableExecutor)->Apply(Shapes);
BENCHMARK(BatchOfCalls)->ArgNames({"rows", "calls"})->Args({8, 1000})->Args({256, 1000});
BENCHMARK(SpacedCall)->ArgName("rows")->Arg(256)->Iterations(2000)->UseManualTime();
BENCHMARK(BusyNeighboursCall)->ArgName("rows")->Arg(256)->UseManualTime();

}  // namespace
