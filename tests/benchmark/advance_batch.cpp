#include "tests/benchmark/advance_batch.h"

#include <cstddef>
#include <vector>

#include "aclnnop/aclnn_advance_step.h"
#include "tests/benchmark/require.h"

AdvanceBatch::AdvanceBatch(const BareBatch& initial, int64_t blockSize)
    : numSeqs_(static_cast<int64_t>(initial.seqLens.size())),
      maxBlocks_(initial.maxBlocks),
      blockSize_(blockSize) {
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
    if (steps_ <= mostSteps()) {
        return;
    }
    const std::vector<int64_t> lengths(static_cast<size_t>(numSeqs_), kFirstLength);
    const size_t bytes = lengths.size() * sizeof(int64_t);
    Require(
        aclrtMemcpy(memory_[kSeqLens], bytes, lengths.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
    steps_ = steps;
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

void MakeRoom(BareBatch& batch, int64_t blockSize, int64_t steps) {
    if (batch.seqLens[0] + steps > batch.maxBlocks * blockSize) {
        batch.seqLens.assign(batch.seqLens.size(), AdvanceBatch::kFirstLength);
    }
}
