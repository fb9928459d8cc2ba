// Full AdvanceStep calls, as a runtime makes them, beside the bare loop on the same shapes. Ratios
// of one run are what counts; docs/benchmarking.md.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_advance_step.h"
#include "tests/benchmark/bare_loop.h"

namespace {

constexpr int64_t kBlockSize = 16;
constexpr int64_t kMaxBlocks = 128;

void Require(int status) {
    if (status != 0) {
        const char* const message = aclGetRecentErrMsg();
        std::fprintf(stderr, "%d %s\n", status, message != nullptr ? message : "");
        std::exit(1);
    }
}

class DeviceBatch {
 public:
    explicit DeviceBatch(int64_t numSeqs) : numSeqs_(numSeqs), initial_(numSeqs, kMaxBlocks) {
        Require(aclrtSetDevice(0));
        const std::vector<int64_t>* const values[] = {
            &initial_.inputTokens, &initial_.sampledTokenIds, &initial_.inputPositions,
            &initial_.seqLens,     &initial_.slotMapping,     &initial_.blockTables};
        const std::vector<int64_t> shapes[] = {{numSeqs}, {numSeqs - 1, 1}, {numSeqs},
                                               {numSeqs}, {numSeqs},        {numSeqs, kMaxBlocks}};
        for (size_t index = 0; index < 6; ++index) {
            const size_t bytes = values[index]->size() * sizeof(int64_t);
            Require(aclrtMalloc(&memory_[index], bytes, ACL_MEM_MALLOC_HUGE_FIRST));
            Require(aclrtMemcpy(memory_[index], bytes, values[index]->data(), bytes,
                                ACL_MEMCPY_HOST_TO_DEVICE));
            tensors_[index] = aclCreateTensor(shapes[index].data(), shapes[index].size(), ACL_INT64,
                                              nullptr, 0, ACL_FORMAT_ND, shapes[index].data(),
                                              shapes[index].size(), memory_[index]);
        }
    }

    ~DeviceBatch() {
        for (size_t index = 0; index < 6; ++index) {
            aclDestroyTensor(tensors_[index]);
            Require(aclrtFree(memory_[index]));
        }
        Require(aclrtResetDevice(0));
    }

    aclOpExecutor* PhaseOne() const {
        uint64_t workspaceSize = 0;
        aclOpExecutor* executor = nullptr;
        Require(aclnnAdvanceStepGetWorkspaceSize(tensors_[0], tensors_[1], tensors_[2], tensors_[3],
                                                 tensors_[4], tensors_[5], numSeqs_, numSeqs_ - 1,
                                                 kBlockSize, &workspaceSize, &executor));
        return executor;
    }

    void RunAndWait(aclOpExecutor* executor) {
        Require(aclnnAdvanceStep(nullptr, 0, executor, nullptr));
        Require(aclrtSynchronizeStream(nullptr));
        constexpr int kStepsInTable = 1900;
        if (++steps_ == kStepsInTable) {
            const size_t bytes = initial_.seqLens.size() * sizeof(int64_t);
            Require(aclrtMemcpy(memory_[3], bytes, initial_.seqLens.data(), bytes,
                                ACL_MEMCPY_HOST_TO_DEVICE));
            steps_ = 0;
        }
    }

 private:
    int64_t numSeqs_;
    BareBatch initial_;
    void* memory_[6] = {};
    aclTensor* tensors_[6] = {};
    int steps_ = 0;
};

void SetRates(benchmark::State& state) {
    state.counters["rows/s"] = benchmark::Counter(static_cast<double>(state.range(0)),
                                                  benchmark::Counter::kIsIterationInvariantRate);
}

void BareLoop(benchmark::State& state) {
    BareBatch batch(state.range(0), kMaxBlocks);
    for (auto _ : state) {
        AdvanceBareLoop(batch, kBlockSize);
        benchmark::ClobberMemory();
        if (batch.seqLens[0] == 1900) {
            batch.seqLens.assign(batch.seqLens.size(), 17);
        }
    }
    SetRates(state);
}

void FullCall(benchmark::State& state) {
    DeviceBatch batch(state.range(0));
    for (auto _ : state) {
        batch.RunAndWait(batch.PhaseOne());
    }
    SetRates(state);
}

void RepeatableExecutor(benchmark::State& state) {
    DeviceBatch batch(state.range(0));
    aclOpExecutor* const executor = batch.PhaseOne();
    Require(aclSetAclOpExecutorRepeatable(executor));
    for (auto _ : state) {
        batch.RunAndWait(executor);
    }
    Require(aclDestroyAclOpExecutor(executor));
    SetRates(state);
}

// Decode batches of a small engine, of vLLM's default limit, and beyond.
BENCHMARK(BareLoop)->Arg(8)->Arg(256)->Arg(1024)->Arg(16384)->Arg(262144);
BENCHMARK(FullCall)->Arg(8)->Arg(256)->Arg(1024)->Arg(16384)->Arg(262144);
BENCHMARK(RepeatableExecutor)->Arg(8)->Arg(256)->Arg(1024)->Arg(16384)->Arg(262144);

}  // namespace
