// SPDX-License-Identifier: Apache-2.0
// Makes mixed batches, and the tensors of AdvanceStep on them.

#include "tests/benchmark/advance_batch.h"

#include <algorithm>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

#include "aclnnop/aclnn_advance_step.h"
#include "tests/benchmark/require.h"

namespace {

int64_t StepsFrom(const BareBatch& initial, int64_t blockSize) {
    return initial.maxBlocks * blockSize -
           *std::max_element(initial.seqLens.begin(), initial.seqLens.end());
}

}  // namespace

BareBatch MakeMixedBatch(int64_t numSeqs, int64_t maxBlocks, int64_t blockSize) {
    BareBatch batch(numSeqs, maxBlocks);
    std::mt19937_64 random(1);
    const auto half = static_cast<uint64_t>(maxBlocks * blockSize / 2);
    for (int64_t& length : batch.seqLens) {
        length = static_cast<int64_t>(random() % half);
    }
    return batch;
}

BareSteps::BareSteps(BareBatch initial, int64_t blockSize)
    : batch_(std::move(initial)),
      lengths_(batch_.seqLens),
      blockSize_(blockSize),
      mostSteps_(StepsFrom(batch_, blockSize)) {}

void BareSteps::MakeRoom(int64_t steps) {
    steps_ += steps;
    if (steps_ > mostSteps_) {
        batch_.seqLens = lengths_;
        steps_ = steps;
    }
}

AdvanceBatch::AdvanceBatch(const BareBatch& initial, int64_t blockSize)
    : lengths_(initial.seqLens),
      numSeqs_(static_cast<int64_t>(initial.seqLens.size())),
      maxBlocks_(initial.maxBlocks),
      blockSize_(blockSize),
      mostSteps_(StepsFrom(initial, blockSize)) {
    const std::vector<int64_t>* const values[kTensors] = {
        &initial.inputTokens, &initial.sampledTokenIds, &initial.inputPositions,
        &initial.seqLens,     &initial.slotMapping,     &initial.blockTables};
    for (size_t index = 0; index < kTensors; ++index) {
        const size_t bytes = values[index]->size() * sizeof(int64_t);
        Require(aclrtMalloc(&memory_[index], bytes, ACL_MEM_MALLOC_HUGE_FIRST));
        Require(aclrtMemcpy(memory_[index], bytes, values[index]->data(), bytes,
                            ACL_MEMCPY_HOST_TO_DEVICE));
    }
    CreateTensors(&tensors_);
}

AdvanceBatch::~AdvanceBatch() {
    DestroyTensors(tensors_);
    for (void* const memory : memory_) {
        Require(aclrtFree(memory));
    }
}

void AdvanceBatch::CreateTensors(Tensors* tensors) const {
    const int64_t shapes[kTensors][2] = {{numSeqs_, 0}, {numSeqs_ - 1, 1}, {numSeqs_, 0},
                                         {numSeqs_, 0}, {numSeqs_, 0},     {numSeqs_, maxBlocks_}};
    for (size_t index = 0; index < kTensors; ++index) {
        const uint64_t rank = shapes[index][1] == 0 ? 1 : 2;
        (*tensors)[index] = aclCreateTensor(shapes[index], rank, ACL_INT64, nullptr, 0,
                                            ACL_FORMAT_ND, shapes[index], rank, memory_[index]);
    }
}

void AdvanceBatch::DestroyTensors(const Tensors& tensors) {
    for (const aclTensor* const tensor : tensors) {
        Require(aclDestroyTensor(tensor));
    }
}

void AdvanceBatch::MakeRoom(int64_t steps) {
    steps_ += steps;
    if (steps_ <= mostSteps_) {
        return;
    }
    const size_t bytes = lengths_.size() * sizeof(int64_t);
    Require(
        aclrtMemcpy(memory_[kSeqLens], bytes, lengths_.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
    steps_ = steps;
}

BareBatch AdvanceBatch::Outputs() const {
    BareBatch batch(numSeqs_, 0);
    const std::pair<size_t, std::vector<int64_t>&> outputs[] = {
        {kInputTokens, batch.inputTokens},
        {kInputPositions, batch.inputPositions},
        {kSeqLens, batch.seqLens},
        {kSlotMapping, batch.slotMapping}};
    for (const auto& [index, values] : outputs) {
        const size_t bytes = values.size() * sizeof(int64_t);
        Require(
            aclrtMemcpy(values.data(), bytes, memory_[index], bytes, ACL_MEMCPY_DEVICE_TO_HOST));
    }
    return batch;
}

aclOpExecutor* AdvanceBatch::PhaseOne(const Tensors& t) const {
    uint64_t workspaceSize = 0;
    aclOpExecutor* executor = nullptr;
    Require(aclnnAdvanceStepGetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], t[5], numSeqs_,
                                             numSeqs_ - 1, blockSize_, &workspaceSize, &executor));
    return executor;
}

void AdvanceBatch::PhaseTwo(aclOpExecutor* executor) const {
    Require(aclnnAdvanceStep(nullptr, 0, executor, nullptr));
}

void AdvanceBatch::Call() const {
    PhaseTwo(PhaseOne());
    Require(aclrtSynchronizeStream(nullptr));
}

void AdvanceBatch::CallWithNewTensors() const {
    Tensors tensors;
    CreateTensors(&tensors);
    PhaseTwo(PhaseOne(tensors));
    Require(aclrtSynchronizeStream(nullptr));
    DestroyTensors(tensors);
}
