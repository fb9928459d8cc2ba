// SPDX-License-Identifier: Apache-2.0
// Keeps the tensors of aclnnAdvanceStep, and calls it for each step.
#include "decode_batch.h"

#include <stdexcept>
#include <string>

#include "aclnnop/aclnn_advance_step.h"

namespace {

enum { kTokens, kSampled, kPositions, kLengths, kSlots, kTable, kTensors };

void Check(int code, const char* call) {
    if (code != 0) {
        const char* const message = aclGetRecentErrMsg();
        throw std::runtime_error(std::string(call) + " returned " + std::to_string(code) + ": " +
                                 (message != nullptr ? message : "no message"));
    }
}

size_t Bytes(const std::vector<int64_t>& values) { return values.size() * sizeof(int64_t); }

void Upload(void* to, const std::vector<int64_t>& values) {
    Check(aclrtMemcpy(to, Bytes(values), values.data(), Bytes(values), ACL_MEMCPY_HOST_TO_DEVICE),
          "aclrtMemcpy");
}

}  // namespace

DecodeBatch::DecodeBatch(const std::vector<int64_t>& seqLens,
                         const std::vector<int64_t>& blockTable, int64_t blockSize)
    : blockSize_(blockSize),
      numQueries_(static_cast<int64_t>(seqLens.size())),
      memory_(kTensors),
      tensors_(kTensors) {
    const auto columns = static_cast<int64_t>(blockTable.size()) / numQueries_;
    for (int index = 0; index < kTensors; ++index) {
        // The operator wants at least one padding row after the queries.
        const int64_t shape[] = {index == kSampled ? numQueries_ : numQueries_ + 1,
                                 index == kTable ? columns : 1};
        const auto bytes = static_cast<size_t>(shape[0] * shape[1]) * sizeof(int64_t);
        Check(aclrtMalloc(&memory_[index], bytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
        tensors_[index] = aclCreateTensor(shape, 2, ACL_INT64, nullptr, 0, ACL_FORMAT_ND, shape, 2,
                                          memory_[index]);
    }
    Upload(memory_[kLengths], seqLens);
    Upload(memory_[kTable], blockTable);
}

DecodeBatch::~DecodeBatch() {
    for (int index = 0; index < kTensors; ++index) {
        aclDestroyTensor(tensors_[index]);
        aclrtFree(memory_[index]);
    }
}

std::vector<int64_t> DecodeBatch::Step(const std::vector<int64_t>& sampled, aclrtStream stream) {
    Upload(memory_[kSampled], sampled);
    uint64_t workspaceSize = 0;
    aclOpExecutor* executor = nullptr;
    Check(aclnnAdvanceStepGetWorkspaceSize(tensors_[kTokens], tensors_[kSampled],
                                           tensors_[kPositions], tensors_[kLengths],
                                           tensors_[kSlots], tensors_[kTable], numQueries_ + 1,
                                           numQueries_, blockSize_, &workspaceSize, &executor),
          "aclnnAdvanceStepGetWorkspaceSize");
    Check(aclnnAdvanceStep(nullptr, workspaceSize, executor, stream), "aclnnAdvanceStep");
    Check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
    std::vector<int64_t> slots(sampled.size());
    Check(aclrtMemcpy(slots.data(), Bytes(slots), memory_[kSlots], Bytes(slots),
                      ACL_MEMCPY_DEVICE_TO_HOST),
          "aclrtMemcpy");
    return slots;
}
