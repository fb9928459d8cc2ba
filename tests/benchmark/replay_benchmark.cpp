// SPDX-License-Identifier: Apache-2.0
// The host's cost of a decode step (Step and AdvanceStep), replayed and call by call.
// The figures are the time of each way, less that of the kernels alone. All ways make the same
// steps from the same start, in turns, so that the ratios of one run are what counts;
// docs/internals/benchmarking.md.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "src/aclnn/executor.h"
#include "src/runtime/device/kernel_launch.h"
#include "tests/benchmark/decode_batch.h"
#include "tests/benchmark/require.h"
#include "tests/benchmark/run_benchmarks.h"

namespace {

double Median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

class DecodeSteps {
 public:
    explicit DecodeSteps(int64_t numSeqs) : batch_(numSeqs) {
        Require(aclrtCreateStream(&stream_));
        step_ = batch_.PlanStep();
        advance_ = batch_.PlanAdvanceStep();
        Require(aclSetAclOpExecutorRepeatable(step_));
        Require(aclSetAclOpExecutorRepeatable(advance_));
        batch_.Restore();
        Repeat();  // the payload knows the workspace from now on
        Require(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
        batch_.RunStep(step_, stream_);
        batch_.RunAdvanceStep(advance_, stream_);
        Require(aclmdlRICaptureEnd(stream_, &graph_));
    }
    ~DecodeSteps() {
        Require(aclmdlRIDestroy(graph_));
        Require(aclDestroyAclOpExecutor(step_));
        Require(aclDestroyAclOpExecutor(advance_));
        Require(aclrtDestroyStream(stream_));
    }
    DecodeSteps(const DecodeSteps&) = delete;
    DecodeSteps& operator=(const DecodeSteps&) = delete;

    void Kernels() const {
        Require(advstep::RunKernel(step_->launch, step_->payload).code());
        Require(advstep::RunKernel(advance_->launch, advance_->payload).code());
    }
    void CallByCall() {
        batch_.RunStep(batch_.PlanStep(), stream_);
        batch_.RunAdvanceStep(batch_.PlanAdvanceStep(), stream_);
        Require(aclrtSynchronizeStream(stream_));
    }
    void Repeat() {
        batch_.RunStep(step_, stream_);
        batch_.RunAdvanceStep(advance_, stream_);
        Require(aclrtSynchronizeStream(stream_));
    }
    void Replay() {
        Require(aclmdlRIExecuteAsync(graph_, stream_));
        Require(aclrtSynchronizeStream(stream_));
    }

    // A round of kMostSteps steps. Times are kept of a few at a time, in nanoseconds of one: more
    // would be interrupted too often on a machine that does other work, fewer would time the clock.
    template <typename Run>
    void Time(std::vector<double>* times, Run&& run) {
        constexpr int kAtATime = 16;
        static_assert(DecodeBatch::kMostSteps % kAtATime == 0);
        batch_.Restore();
        for (int done = 0; done < DecodeBatch::kMostSteps; done += kAtATime) {
            const auto begin = std::chrono::steady_clock::now();
            for (int step = 0; step < kAtATime; ++step) {
                run();
            }
            const auto time = std::chrono::steady_clock::now() - begin;
            times->push_back(std::chrono::duration<double, std::nano>(time).count() / kAtATime);
        }
    }

 private:
    DecodeBatch batch_;
    aclrtStream stream_ = nullptr;
    aclOpExecutor* step_ = nullptr;
    aclOpExecutor* advance_ = nullptr;
    aclmdlRI graph_ = nullptr;
};

// One iteration is a round in each way; the counters are from the medians of all rounds.
void DecodeStep(benchmark::State& state) {
    constexpr double kSecondsPerNanosecond = 1e-9;
    DecodeSteps steps(state.range(0));
    std::vector<double> kernels, calls, repeats, replays;
    for (auto _ : state) {
        steps.Time(&kernels, [&] { steps.Kernels(); });
        steps.Time(&calls, [&] { steps.CallByCall(); });
        steps.Time(&repeats, [&] { steps.Repeat(); });
        steps.Time(&replays, [&] { steps.Replay(); });
        state.SetIterationTime(replays.back() * kSecondsPerNanosecond);
    }
    const double alone = Median(kernels);
    const double callHost = Median(calls) - alone;
    const double repeatHost = Median(repeats) - alone;
    const double replayHost = Median(replays) - alone;
    state.counters["kernels_ns"] = alone;
    state.counters["calls_ns"] = callHost;
    state.counters["repeat_ns"] = repeatHost;
    state.counters["replay_ns"] = replayHost;
    state.counters["replay/calls"] = replayHost / callHost;
    state.counters["replay/repeat"] = replayHost / repeatHost;
}

BENCHMARK(DecodeStep)->Arg(8)->Arg(256)->Iterations(200)->UseManualTime();

}  // namespace

int main(int argc, char** argv) {
    setenv("ADVANCE_STEP_CONFORMANCE", "vllm", 1);  // the two operators share their tensors
    return RunBenchmarks(argc, argv);
}
