// SPDX-License-Identifier: Apache-2.0
// Sets up the emulated machine and the batch of a kernel benchmark.

#include "tests/benchmark/kernel_batch.h"

#include <cstdlib>
#include <random>
#include <vector>

#include "aclnnop/aclnn_advance_step.h"
#include "src/runtime/device/kernel_launch.h"
#include "tests/benchmark/require.h"

namespace {

constexpr size_t kSeqLens = 3;

void Set(const char* name, const char* value) {
    if (value != nullptr) {
        setenv(name, value, 1);
    } else {
        unsetenv(name);
    }
}

}  // namespace

KernelMachine::KernelMachine(const Choice& choice) {
    Set("ADVANCE_STEP_SOC", choice.soc);
    Set("ADVANCE_STEP_THREADS", choice.threads);
    Set("ADVANCE_STEP_ISA", choice.isa);
    Require(aclInit(nullptr));
}

KernelMachine::~KernelMachine() { Require(aclFinalize()); }

std::vector<int64_t> StartLengths(int64_t numSeqs, int64_t tokens, Lengths lengths) {
    std::mt19937_64 random(1);
    const auto half = static_cast<uint64_t>(tokens / 2);
    std::vector<int64_t> values(static_cast<size_t>(numSeqs), 17);
    for (size_t row = 0; lengths == Lengths::kMixed && row < values.size(); ++row) {
        values[row] = static_cast<int64_t>(random() % half);
    }
    return values;
}

KernelBatch::KernelBatch(int64_t numSeqs, int64_t maxBlocks, int64_t blockSize, Lengths lengths)
    : initial_(numSeqs, maxBlocks), steps_(maxBlocks * blockSize / 2) {
    initial_.seqLens = StartLengths(numSeqs, maxBlocks * blockSize, lengths);
    Require(aclrtSetDevice(0));
    const std::vector<int64_t>* const values[kTensors] = {
        &initial_.inputTokens, &initial_.sampledTokenIds, &initial_.inputPositions,
        &initial_.seqLens,     &initial_.slotMapping,     &initial_.blockTables};
    const std::vector<int64_t> shapes[kTensors] = {
        {numSeqs}, {numSeqs - 1, 1}, {numSeqs}, {numSeqs}, {numSeqs}, {numSeqs, maxBlocks}};
    for (size_t index = 0; index < kTensors; ++index) {
        const size_t bytes = values[index]->size() * sizeof(int64_t);
        Require(aclrtMalloc(&memory_[index], bytes, ACL_MEM_MALLOC_HUGE_FIRST));
        Require(aclrtMemcpy(memory_[index], bytes, values[index]->data(), bytes,
                            ACL_MEMCPY_HOST_TO_DEVICE));
        tensors_[index] = aclCreateTensor(shapes[index].data(), shapes[index].size(), ACL_INT64,
                                          nullptr, 0, ACL_FORMAT_ND, shapes[index].data(),
                                          shapes[index].size(), memory_[index]);
    }
    initial_.blockTables = {};  // large
    uint64_t workspaceSize = 0;
    Require(aclnnAdvanceStepGetWorkspaceSize(tensors_[0], tensors_[1], tensors_[2], tensors_[3],
                                             tensors_[4], tensors_[5], numSeqs, numSeqs - 1,
                                             blockSize, &workspaceSize, &executor_));
    Require(aclSetAclOpExecutorRepeatable(executor_));
}

KernelBatch::~KernelBatch() {
    Require(aclDestroyAclOpExecutor(executor_));
    EndTensors(tensors_, memory_);
    Require(aclrtResetDevice(0));
}

void KernelBatch::Run() const {
    Require(advstep::RunKernel(executor_->launch, executor_->payload).code());
}

void KernelBatch::Restore() {
    const size_t bytes = initial_.seqLens.size() * sizeof(int64_t);
    Require(aclrtMemcpy(memory_[kSeqLens], bytes, initial_.seqLens.data(), bytes,
                        ACL_MEMCPY_HOST_TO_DEVICE));
}
