// SPDX-License-Identifier: Apache-2.0
// AdvanceStepV2 with spec tokens beside the same update as a plain loop, one row after the other
// with / and %, no checks, no device. In turns, so that the ratio is what counts;
// docs/internals/benchmarking.md.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_advance_step_v2.h"
#include "tests/benchmark/interleaved.h"
#include "tests/benchmark/require.h"

namespace {

constexpr int64_t kSpecTokens = 4;
constexpr int64_t kRows = kSpecTokens + 1;  // of a query
constexpr int64_t kMaxBlocks = 128;
constexpr int64_t kBlockSize = 16;
constexpr int64_t kMostSteps = 256;  // by up to kRows positions, from the first half of the table

/// Rows of a query are next to each other.
struct PlainBatch {
    explicit PlainBatch(int64_t queries)
        : inputTokens(static_cast<size_t>(queries * kRows)),
          sampledTokenIds(inputTokens.size(), -1),
          inputPositions(inputTokens.size()),
          seqLens(inputTokens.size()),
          slotMapping(inputTokens.size()),
          blockTables(static_cast<size_t>(queries * kMaxBlocks)),
          specToken(static_cast<size_t>(queries * kSpecTokens), 7),
          acceptedNum(static_cast<size_t>(queries)) {
        std::iota(blockTables.begin(), blockTables.end(), int64_t{0});
        std::mt19937_64 random(1);
        for (size_t query = 0; query < acceptedNum.size(); ++query) {
            const auto length = static_cast<int64_t>(random() % (kMaxBlocks * kBlockSize / 3));
            acceptedNum[query] = static_cast<int64_t>(random() % kRows);
            for (size_t index = 0; index < kRows; ++index) {
                const size_t row = query * kRows + index;
                inputPositions[row] = length + static_cast<int64_t>(index);
                if (static_cast<int64_t>(index) <= acceptedNum[query]) {
                    sampledTokenIds[row] = 5;
                }
            }
        }
    }

    std::array<std::vector<int64_t>*, 8> Tensors() {
        return {&inputTokens, &sampledTokenIds, &inputPositions, &seqLens,
                &slotMapping, &blockTables,     &specToken,      &acceptedNum};
    }

    std::vector<int64_t> inputTokens, sampledTokenIds, inputPositions, seqLens, slotMapping,
        blockTables, specToken, acceptedNum;
};

int64_t LastSampled(const int64_t* sampled) {
    int64_t index = 0;
    while (index + 1 < kRows && sampled[index + 1] >= 0) {
        ++index;
    }
    return sampled[index];
}

[[gnu::noinline]] void AdvancePlainly(PlainBatch& batch, int64_t blockSize) {
    for (size_t query = 0; query < batch.acceptedNum.size(); ++query) {
        for (size_t index = 0; index < kRows; ++index) {
            const size_t row = query * kRows + index;
            const int64_t position = batch.inputPositions[row] + batch.acceptedNum[query] + 1;
            const size_t entry = query * kMaxBlocks + static_cast<size_t>(position / blockSize);
            batch.inputTokens[row] = index == 0 ? LastSampled(&batch.sampledTokenIds[query * kRows])
                                                : batch.specToken[query * kSpecTokens + index - 1];
            batch.inputPositions[row] = position;
            batch.seqLens[row] = position + 1;
            batch.slotMapping[row] = batch.blockTables[entry] * blockSize + position % blockSize;
        }
    }
}

/// The same batch in device memory, and a repeatable executor of AdvanceStepV2. Device 0 must be
/// set.
class DeviceBatch {
 public:
    explicit DeviceBatch(int64_t queries) : host_(queries) {
        const int64_t shapes[kTensors][2] = {{queries * kRows, 1},   {queries, kRows},
                                             {queries * kRows, 1},   {queries * kRows, 1},
                                             {queries * kRows, 1},   {queries, kMaxBlocks},
                                             {queries, kSpecTokens}, {queries, 1}};
        for (size_t index = 0; index < kTensors; ++index) {
            const size_t bytes = host_.Tensors()[index]->size() * sizeof(int64_t);
            Require(aclrtMalloc(&memory_[index], bytes, ACL_MEM_MALLOC_HUGE_FIRST));
            Upload(index);
            const uint64_t rank = shapes[index][1] == 1 ? 1 : 2;
            tensors_[index] = aclCreateTensor(shapes[index], rank, ACL_INT64, nullptr, 0,
                                              ACL_FORMAT_ND, shapes[index], rank, memory_[index]);
        }
        uint64_t workspaceSize = 0;
        Require(aclnnAdvanceStepV2GetWorkspaceSize(
            tensors_[0], tensors_[1], tensors_[2], tensors_[3], tensors_[4], tensors_[5],
            tensors_[6], tensors_[7], queries, queries, kBlockSize, &workspaceSize, &executor_));
        Require(aclSetAclOpExecutorRepeatable(executor_));
    }
    ~DeviceBatch() {
        Require(aclDestroyAclOpExecutor(executor_));
        for (size_t index = 0; index < kTensors; ++index) {
            Require(aclDestroyTensor(tensors_[index]));
            Require(aclrtFree(memory_[index]));
        }
    }
    DeviceBatch(const DeviceBatch&) = delete;
    DeviceBatch& operator=(const DeviceBatch&) = delete;

    void Restart() { Upload(kInputPositions); }
    void Run() const {
        Require(aclnnAdvanceStepV2(nullptr, 0, executor_, nullptr));
        Require(aclrtSynchronizeStream(nullptr));
    }

 private:
    static constexpr size_t kTensors = 8;
    static constexpr size_t kInputPositions = 2;

    void Upload(size_t index) {
        const std::vector<int64_t>& values = *host_.Tensors()[index];
        const size_t bytes = values.size() * sizeof(int64_t);
        Require(
            aclrtMemcpy(memory_[index], bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
    }

    PlainBatch host_;  // at the start
    void* memory_[kTensors] = {};
    aclTensor* tensors_[kTensors] = {};
    aclOpExecutor* executor_ = nullptr;
};

// One iteration is all pairs.
void SpeculativeCall(benchmark::State& state) {
    const DeviceInUse device;
    const auto library = std::make_shared<DeviceBatch>(state.range(0));
    const auto start = std::make_shared<const PlainBatch>(state.range(0));
    const auto plain = std::make_shared<PlainBatch>(*start);
    const bench::Comparison comparison = {
        bench::InARow([=](int64_t) { library->Restart(); }, [=] { library->Run(); }, kMostSteps),
        bench::InARow([=](int64_t) { plain->inputPositions = start->inputPositions; },
                      [=] {
                          AdvancePlainly(*plain, kBlockSize);
                          benchmark::ClobberMemory();
                      },
                      kMostSteps)};
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
