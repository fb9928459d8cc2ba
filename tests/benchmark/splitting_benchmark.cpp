// SPDX-License-Identifier: Apache-2.0
// One launch cut over the simulated cores, which threads share from 32768 rows on, and the same on
// one core, which is serial.
#include <benchmark/benchmark.h>

#include "acl/acl.h"
#include "tests/benchmark/advance_batch.h"
#include "tests/benchmark/require.h"

namespace {

constexpr int64_t kBlockSize = 16;
constexpr int64_t kMaxBlocks = 128;

void SplitCall(benchmark::State& state) {
    const DeviceInUse device;
    AdvanceBatch batch(MakeMixedBatch(state.range(0), kMaxBlocks, kBlockSize), kBlockSize);
    Require(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE,
                                   static_cast<uint32_t>(state.range(1))));
    aclOpExecutor* const executor = batch.PhaseOne();
    Require(aclrtResetDeviceResLimit(0));
    batch.Repeat(state, executor);
    state.counters["rows/s"] = benchmark::Counter(static_cast<double>(state.range(0)),
                                                  benchmark::Counter::kIsIterationInvariantRate);
}

// vLLM's default limit; below and above what is worth a thread; beyond a level-3 cache. One core,
// and the 40 of an Ascend 910B3.
BENCHMARK(SplitCall)
    ->ArgNames({"rows", "cores"})
    ->ArgsProduct({{256, 16384, 32768, 65536, 262144, 1 << 20}, {1, 40}})
    ->UseRealTime();

}  // namespace
