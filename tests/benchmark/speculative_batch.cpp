// SPDX-License-Identifier: Apache-2.0
// Makes batches with spec tokens, on the host and on the device.

#include "tests/benchmark/speculative_batch.h"

#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>

#include "aclnnop/aclnn_advance_step_v2.h"
#include "tests/benchmark/require.h"

namespace {

int64_t LastSampledToken(const int64_t* sampled) {
    int64_t index = 0;
    while (index + 1 < kSpecRows && sampled[index + 1] >= 0) {
        ++index;
    }
    return sampled[index];
}

}  // namespace

PlainSpecBatch::PlainSpecBatch(int64_t queries)
    : inputTokens(static_cast<size_t>(queries * kSpecRows)),
      sampledTokenIds(inputTokens.size(), -1),
      inputPositions(inputTokens.size()),
      seqLens(inputTokens.size()),
      slotMapping(inputTokens.size()),
      blockTables(static_cast<size_t>(queries * kSpecBlocks)),
      specToken(static_cast<size_t>(queries * kSpecTokens), 7),
      acceptedNum(static_cast<size_t>(queries)) {
    std::iota(blockTables.begin(), blockTables.end(), int64_t{0});
    std::mt19937_64 random(1);
    for (size_t query = 0; query < acceptedNum.size(); ++query) {
        const auto length = static_cast<int64_t>(random() % (kSpecBlocks * kSpecBlockSize / 3));
        acceptedNum[query] = static_cast<int64_t>(random() % kSpecRows);
        for (size_t index = 0; index < kSpecRows; ++index) {
            const size_t row = query * kSpecRows + index;
            inputPositions[row] = length + static_cast<int64_t>(index);
            if (static_cast<int64_t>(index) <= acceptedNum[query]) {
                sampledTokenIds[row] = 5 + static_cast<int64_t>(index);
            }
        }
    }
}

std::array<std::vector<int64_t>*, 8> PlainSpecBatch::Tensors() {
    return {&inputTokens, &sampledTokenIds, &inputPositions, &seqLens,
            &slotMapping, &blockTables,     &specToken,      &acceptedNum};
}

[[gnu::noinline]] void AdvanceSpecPlainly(PlainSpecBatch* batch, int64_t blockSize) {
    for (size_t query = 0; query < batch->acceptedNum.size(); ++query) {
        for (size_t index = 0; index < kSpecRows; ++index) {
            const size_t row = query * kSpecRows + index;
            const int64_t position = batch->inputPositions[row] + batch->acceptedNum[query] + 1;
            const size_t entry = query * kSpecBlocks + static_cast<size_t>(position / blockSize);
            batch->inputTokens[row] =
                index == 0 ? LastSampledToken(&batch->sampledTokenIds[query * kSpecRows])
                           : batch->specToken[query * kSpecTokens + index - 1];
            batch->inputPositions[row] = position;
            batch->seqLens[row] = position + 1;
            batch->slotMapping[row] = batch->blockTables[entry] * blockSize + position % blockSize;
        }
    }
}

SpecBatch::SpecBatch(int64_t queries) : host_(queries) {
    const int64_t shapes[kTensors][2] = {{queries * kSpecRows, 1}, {queries, kSpecRows},
                                         {queries * kSpecRows, 1}, {queries * kSpecRows, 1},
                                         {queries * kSpecRows, 1}, {queries, kSpecBlocks},
                                         {queries, kSpecTokens},   {queries, 1}};
    for (size_t index = 0; index < kTensors; ++index) {
        const size_t bytes = host_.Tensors()[index]->size() * sizeof(int64_t);
        Require(aclrtMalloc(&memory_[index], bytes, ACL_MEM_MALLOC_HUGE_FIRST));
        Upload(index);
        const uint64_t rank = shapes[index][1] == 1 ? 1 : 2;
        tensors_[index] = aclCreateTensor(shapes[index], rank, ACL_INT64, nullptr, 0, ACL_FORMAT_ND,
                                          shapes[index], rank, memory_[index]);
    }
    uint64_t workspaceSize = 0;
    Require(aclnnAdvanceStepV2GetWorkspaceSize(
        tensors_[0], tensors_[1], tensors_[2], tensors_[3], tensors_[4], tensors_[5], tensors_[6],
        tensors_[7], queries, queries, kSpecBlockSize, &workspaceSize, &executor_));
    Require(aclSetAclOpExecutorRepeatable(executor_));
}

SpecBatch::~SpecBatch() {
    Require(aclDestroyAclOpExecutor(executor_));
    EndTensors(tensors_, memory_);
}

void SpecBatch::Run() const {
    Require(aclnnAdvanceStepV2(nullptr, 0, executor_, nullptr));
    Require(aclrtSynchronizeStream(nullptr));
}

void SpecBatch::RequireSame() {
    constexpr int kCompared = 20;
    PlainSpecBatch expected = host_;
    Restart();
    for (int step = 0; step < kCompared; ++step) {
        Run();
        AdvanceSpecPlainly(&expected, kSpecBlockSize);
    }
    for (size_t index = 0; index < kTensors; ++index) {
        const std::vector<int64_t>& values = *expected.Tensors()[index];
        std::vector<int64_t> got(values.size());
        const size_t bytes = values.size() * sizeof(int64_t);
        Require(aclrtMemcpy(got.data(), bytes, memory_[index], bytes, ACL_MEMCPY_DEVICE_TO_HOST));
        if (got != values) {
            std::fprintf(stderr, "AdvanceStepV2 and the plain loop differ in tensor %zu\n", index);
            std::exit(1);
        }
    }
}

void SpecBatch::Upload(size_t index) {
    const std::vector<int64_t>& values = *host_.Tensors()[index];
    const size_t bytes = values.size() * sizeof(int64_t);
    Require(aclrtMemcpy(memory_[index], bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
}
