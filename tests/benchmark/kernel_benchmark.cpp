// SPDX-License-Identifier: Apache-2.0
// The AdvanceStep kernel alone, with all its checks, and the bare loop on the same shape, in turns
// in one process: the ratio of their medians is what counts; docs/internals/benchmarking.md.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "src/base/isa.h"
#include "tests/benchmark/kernel_batch.h"
#include "tests/benchmark/run_benchmarks.h"

namespace {

constexpr int64_t kMaxBlocks = 128;

double Median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// Nanoseconds of one call of `run`, from `count` of them.
template <typename Run>
double Time(int64_t count, Run&& run) {
    const auto begin = std::chrono::steady_clock::now();
    for (int64_t done = 0; done < count; ++done) {
        run();
    }
    const auto time = std::chrono::steady_clock::now() - begin;
    return std::chrono::duration<double, std::nano>(time).count() / static_cast<double>(count);
}

bool IsaIsThere(const std::string& name) {
    using advstep::Isa;
    return advstep::IsSupported(name == "avx512" ? Isa::kAvx512
                                : name == "avx2" ? Isa::kAvx2
                                                 : Isa::kBaseline);
}

struct Shape {
    const char* name;
    int64_t rows;
};

/// Decode batches: a small engine's, vLLM's default limit (max_num_seqs 256), large servers', and
/// beyond what one device serves.
constexpr Shape kShapes[] = {{"small", 8},          {"few", 64},      {"vllm_default", 256},
                             {"large", 1024},       {"fleet", 16384}, {"beyond_l2", 262144},
                             {"beyond_l3", 1 << 20}};

// One iteration is a round of both, a few at a time: more would be interrupted too often on a
// machine that does other work, fewer would time the clock.
void Kernel(benchmark::State& state, const Shape& shape, int64_t blockSize, Lengths lengths,
            const KernelMachine::Choice& choice) {
    constexpr double kSecondsPerNanosecond = 1e-9;
    constexpr int64_t kRowsAtATime = 65536;
    const KernelMachine machine(choice);
    BareBatch bare(shape.rows, kMaxBlocks);
    KernelBatch batch(shape.rows, kMaxBlocks, blockSize, lengths);
    bare.seqLens = batch.start();
    const int64_t count = std::clamp<int64_t>(kRowsAtATime / shape.rows, 1, 64);
    std::vector<double> kernels, loops;
    int64_t left = batch.steps();
    for (auto _ : state) {
        if (left < count) {
            batch.Restore();
            bare.seqLens = batch.start();
            left = batch.steps();
        }
        left -= count;
        loops.push_back(Time(count, [&] {
            AdvanceBareLoop(bare, blockSize);
            benchmark::ClobberMemory();
        }));
        kernels.push_back(Time(count, [&] { batch.Run(); }));
        state.SetIterationTime(kernels.back() * kSecondsPerNanosecond);
    }
    const double kernel = Median(kernels);
    // What a row must move: tokens and lengths in, a block id's line; tokens, positions, lengths
    // and slots out.
    constexpr double kBytesPerRow = 2 * 8 + 64 + 4 * 8;
    const double rows = static_cast<double>(shape.rows);
    state.counters["bare_ns"] = Median(loops);
    state.counters["kernel_ns"] = kernel;
    state.counters["kernel/bare"] = kernel / Median(loops);
    state.counters["rows/s"] = rows / (kernel * kSecondsPerNanosecond);
    state.counters["bytes/s"] = rows * kBytesPerRow / (kernel * kSecondsPerNanosecond);
}

void Register(const Shape& shape, int64_t blockSize, Lengths lengths,
              const KernelMachine::Choice& choice, const std::string& variant) {
    const std::string name = "Kernel/" + std::string(shape.name) + "/" +
                             std::to_string(shape.rows) + "/block" + std::to_string(blockSize) +
                             "/" + variant;
    constexpr int64_t kRowsInAll = int64_t{1} << 24;
    const int64_t iterations = std::clamp<int64_t>(kRowsInAll / shape.rows, 15, 1000);
    benchmark::RegisterBenchmark(
        name.c_str(),
        [=](benchmark::State& state) { Kernel(state, shape, blockSize, lengths, choice); })
        ->Iterations(iterations)
        ->UseManualTime();
}

void RegisterAll() {
    for (const Shape& shape : kShapes) {
        for (const int64_t blockSize : {16, 100}) {
            const auto add = [&](const KernelMachine::Choice& choice, const std::string& variant) {
                Register(shape, blockSize, Lengths::kMixed, choice, variant);
            };
            for (const char* isa : {"baseline", "avx2", "avx512"}) {
                if (IsaIsThere(isa)) {
                    add({nullptr, "1", isa}, isa);
                }
            }
            add({"sim:1", "1", nullptr}, "1core");
            add({nullptr, "2", nullptr}, "2threads");
            Register(shape, blockSize, Lengths::kEqual, {nullptr, "1", nullptr}, "equal_lengths");
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    RegisterAll();
    return RunBenchmarks(argc, argv);
}
