// SPDX-License-Identifier: Apache-2.0
// Makes the tensors of a decode step and plans both operators.

#include "tests/benchmark/decode_batch.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>

#include "aclnnop/aclnn_advance_step.h"
#include "aclnnop/aclnn_step.h"
#include "tests/benchmark/require.h"

namespace {

constexpr int64_t kDecodeBlockSize = 16;
constexpr int64_t kDecodeFirstLength = 3;  // tokens in the one block that the host has given
constexpr int64_t kDecodeWidth =
    (DecodeBatch::kMostSteps + kDecodeFirstLength) / kDecodeBlockSize + 1;
constexpr int64_t kDecodeMostTokens = kDecodeWidth * kDecodeBlockSize;

// Where the two operators' shared tensors are, and those that only AdvanceStep has.
enum { kSeqLens = 4, kTables = 5, kSampled = 20, kInputTokens = 22, kPositions, kSlots };

}  // namespace

template <typename T>
void DecodeBatch::Add(aclDataType type, const std::vector<int64_t>& shape,
                      const std::vector<T>& values) {
    DeviceTensor added;
    added.initial.resize(values.size() * sizeof(T));
    std::memcpy(added.initial.data(), values.data(), added.initial.size());
    Require(aclrtMalloc(&added.memory, added.initial.size(), ACL_MEM_MALLOC_HUGE_FIRST));
    added.tensor = aclCreateTensor(shape.data(), shape.size(), type, nullptr, 0, ACL_FORMAT_ND,
                                   shape.data(), shape.size(), added.memory);
    tensors_.push_back(std::move(added));
}

template <typename T>
void DecodeBatch::AddSame(aclDataType type, const std::vector<int64_t>& shape, T value) {
    const auto count =
        std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<int64_t>());
    Add<T>(type, shape, std::vector<T>(static_cast<size_t>(count), value));
}

DecodeBatch::DecodeBatch(int64_t numSeqs) : numSeqs_(numSeqs) {
    Require(aclrtSetDevice(0));
    const std::vector<int64_t> rows = {numSeqs};
    const auto ints = [&](int32_t value) { AddSame<int32_t>(ACL_INT32, rows, value); };
    const auto flags = [&] { AddSame<uint8_t>(ACL_BOOL, rows, 0); };
    const auto scalar = [&](int32_t value) { AddSame<int32_t>(ACL_INT32, {1}, value); };
    std::vector<int32_t> tables(static_cast<size_t>(numSeqs * kDecodeWidth), -1);
    for (int64_t row = 0; row < numSeqs; ++row) {
        tables[static_cast<size_t>(row * kDecodeWidth)] = static_cast<int32_t>(row);
    }
    std::vector<int32_t> pool(static_cast<size_t>(numSeqs * (kDecodeWidth - 1)));
    std::iota(pool.begin(), pool.end(), static_cast<int32_t>(numSeqs));

    flags();                                                             // stopFlags
    ints(1);                                                             // seqLensThisTime
    ints(kDecodeFirstLength);                                            // oriSeqLensEncoder
    ints(0);                                                             // seqLensEncoder
    ints(kDecodeFirstLength);                                            // seqLensDecoder
    Add<int32_t>(ACL_INT32, {numSeqs, kDecodeWidth}, tables);            // blockTables
    ints(1);                                                             // encoderBlockLens
    flags();                                                             // isBlockStep
    ints(-1);                                                            // stepBlockList
    scalar(0);                                                           // stepLens
    ints(-1);                                                            // recoverBlockList
    scalar(0);                                                           // recoverLens
    ints(-1);                                                            // needBlockList
    scalar(0);                                                           // needBlockLen
    ints(0);                                                             // usedListLen
    Add<int32_t>(ACL_INT32, {static_cast<int64_t>(pool.size())}, pool);  // freeList
    scalar(static_cast<int32_t>(pool.size()));                           // freeListLen
    AddSame<int64_t>(ACL_INT64, {numSeqs, kDecodeMostTokens}, 1);        // inputIds
    AddSame<int64_t>(ACL_INT64, {numSeqs, kDecodeMostTokens}, 1);        // preIds
    AddSame<int64_t>(ACL_INT64, rows, 1);                                // stepIdx
    AddSame<int64_t>(ACL_INT64, {numSeqs, 1}, 7);  // nextTokens, sampledTokenIds
    AddSame<int64_t>(ACL_INT64, rows, 1);          // firstTokenIds
    AddSame<int64_t>(ACL_INT64, rows, 0);          // inputTokens
    AddSame<int64_t>(ACL_INT64, rows, 0);          // inputPositions
    AddSame<int64_t>(ACL_INT64, rows, -1);         // slotMapping
}

DecodeBatch::~DecodeBatch() {
    for (const DeviceTensor& tensor : tensors_) {
        Require(aclDestroyTensor(tensor.tensor));
    }
    Require(aclrtResetDevice(0));
}

void DecodeBatch::Restore() {
    for (const DeviceTensor& tensor : tensors_) {
        Require(aclrtMemcpy(tensor.memory, tensor.initial.size(), tensor.initial.data(),
                            tensor.initial.size(), ACL_MEMCPY_HOST_TO_DEVICE));
    }
}

void DecodeBatch::RequireSame(const DecodeBatch& other) const {
    const auto read = [](const DeviceTensor& tensor) {
        std::vector<unsigned char> bytes(tensor.initial.size());
        Require(aclrtMemcpy(bytes.data(), bytes.size(), tensor.memory, bytes.size(),
                            ACL_MEMCPY_DEVICE_TO_HOST));
        return bytes;
    };
    for (size_t index = 0; index < tensors_.size(); ++index) {
        if (read(tensors_[index]) != read(other.tensors_[index])) {
            std::fprintf(stderr, "two ways of a decode step differ in tensor %zu\n", index);
            std::exit(1);
        }
    }
}

aclOpExecutor* DecodeBatch::PlanStep() {
    const auto t = [&](size_t index) { return tensors_[index].tensor; };
    aclOpExecutor* executor = nullptr;
    Require(aclnnStepGetWorkspaceSize(t(0), t(1), t(2), t(3), t(4), t(5), t(6), t(7), t(8), t(9),
                                      t(10), t(11), t(12), t(13), t(14), t(15), t(16), t(17), t(18),
                                      t(19), t(20), t(21), kDecodeBlockSize, 0, &workspaceSize_,
                                      &executor));
    if (workspace_ == nullptr) {
        Require(aclrtMalloc(&workspace_, workspaceSize_, ACL_MEM_MALLOC_HUGE_FIRST));
    }
    return executor;
}

aclOpExecutor* DecodeBatch::PlanAdvanceStep() {
    const auto t = [&](size_t index) { return tensors_[index].tensor; };
    uint64_t workspaceSize = 0;
    aclOpExecutor* executor = nullptr;
    Require(aclnnAdvanceStepGetWorkspaceSize(t(kInputTokens), t(kSampled), t(kPositions),
                                             t(kSeqLens), t(kSlots), t(kTables), numSeqs_, numSeqs_,
                                             kDecodeBlockSize, &workspaceSize, &executor));
    return executor;
}

void DecodeBatch::RunStep(aclOpExecutor* executor, aclrtStream stream) {
    Require(aclnnStep(workspace_, workspaceSize_, executor, stream));
}

void DecodeBatch::RunAdvanceStep(aclOpExecutor* executor, aclrtStream stream) {
    Require(aclnnAdvanceStep(nullptr, 0, executor, stream));
}
