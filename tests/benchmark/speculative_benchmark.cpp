// SPDX-License-Identifier: Apache-2.0
// AdvanceStepV2 with spec tokens beside the same update as a plain loop, in turns, so that the
// ratio is what counts; docs/internals/benchmarking.md.
#include <benchmark/benchmark.h>

#include <memory>

#include "tests/benchmark/interleaved.h"
#include "tests/benchmark/require.h"
#include "tests/benchmark/speculative_batch.h"

namespace {

// One iteration is all pairs.
void SpeculativeCall(benchmark::State& state) {
    const DeviceInUse device;
    const auto library = std::make_shared<SpecBatch>(state.range(0));
    library->RequireSame();
    const auto start = std::make_shared<const PlainSpecBatch>(state.range(0));
    const auto plain = std::make_shared<PlainSpecBatch>(*start);
    const bench::Comparison comparison = {
        bench::InARow([=](int64_t) { library->Restart(); }, [=] { library->Run(); },
                      kMostSpecSteps),
        bench::InARow([=](int64_t) { plain->inputPositions = start->inputPositions; },
                      [=] {
                          AdvanceSpecPlainly(plain.get(), kSpecBlockSize);
                          benchmark::ClobberMemory();
                      },
                      kMostSpecSteps)};
    for (auto _ : state) {
        const bench::Series series = bench::Interleave(comparison, bench::Budget{});
        const double call = bench::QuartilesOf(series.library).median;
        const double loop = bench::QuartilesOf(series.baseline).median;
        state.counters["call_ns"] = call;
        state.counters["plain_ns"] = loop;
        state.counters["call/plain"] = call / loop;
    }
}

// Queries of four spec tokens each.
BENCHMARK(SpeculativeCall)->Arg(8)->Arg(64)->Arg(256)->Arg(1024)->Iterations(1);

}  // namespace
