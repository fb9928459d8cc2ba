// What a stream itself costs: an empty task queued and waited for, alone and in batches, beside the
// textbook's queue.
#include <benchmark/benchmark.h>

#include <cstdlib>

#include "acl/acl.h"
#include "tests/benchmark/textbook_queue.h"

namespace {

void Require(int status) {
    if (status != 0) {
        std::exit(1);
    }
}

void StreamRoundTrip(benchmark::State& state) {
    Require(aclrtSetDevice(0));
    for (auto _ : state) {
        for (int64_t task = 0; task < state.range(0); ++task) {
            Require(aclrtLaunchHostFunc(
                nullptr, [](void*) {}, nullptr));
        }
        Require(aclrtSynchronizeStream(nullptr));
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
    Require(aclrtResetDevice(0));
}

void TextbookRoundTrip(benchmark::State& state) {
    TextbookQueue queue;
    for (auto _ : state) {
        for (int64_t task = 0; task < state.range(0); ++task) {
            queue.Enqueue([] {});
        }
        queue.Synchronize();
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

BENCHMARK(StreamRoundTrip)->Arg(1)->Arg(1000)->UseRealTime();
BENCHMARK(TextbookRoundTrip)->Arg(1)->Arg(1000)->UseRealTime();

}  // namespace
