// SPDX-License-Identifier: Apache-2.0
// Implements the fake engine: a decode step of AdvanceStep on a program's sequences.

#include "advance_step/testing/fake_engine.h"

#include <algorithm>
#include <array>

#include "aclnnop/aclnn_advance_step.h"

namespace advance_step::testing {

namespace {

// The tensors of one step, and the resources to free after it.
class DecodeStep {
 public:
    DecodeStep(const std::vector<FakeSequence>& sequences, int64_t blockSize, aclrtStream stream)
        : queries_(static_cast<int64_t>(sequences.size())), blockSize_(blockSize), stream_(stream) {
        for (const FakeSequence& sequence : sequences) {
            columns_ = std::max(columns_, static_cast<int64_t>(sequence.blocks.size()));
        }
        values_.assign(static_cast<size_t>(Rows() * (kTable + columns_)), 0);
        // -1 is no block: a sequence without one for its next token is an error.
        std::fill(values_.begin() + kTable * Rows(), values_.end(), -1);
        for (int64_t row = 0; row < queries_; ++row) {
            const FakeSequence& sequence = sequences[static_cast<size_t>(row)];
            At(kSampled, row) = sequence.token;
            At(kLengths, row) = sequence.length;
            std::copy(sequence.blocks.begin(), sequence.blocks.end(),
                      &At(kTable, 0) + row * columns_);
        }
    }
    DecodeStep(const DecodeStep&) = delete;
    DecodeStep& operator=(const DecodeStep&) = delete;
    ~DecodeStep() {
        for (const aclTensor* tensor : tensors_) {
            if (tensor != nullptr) {
                aclDestroyTensor(tensor);
            }
        }
        for (void* memory : {workspace_, memory_}) {
            if (memory != nullptr) {
                aclrtFree(memory);
            }
        }
    }

    // Returns ACL_SUCCESS, or the code of the first call that failed.
    int Run() {
        if (const int code = aclrtMalloc(&memory_, Bytes(), ACL_MEM_MALLOC_HUGE_FIRST)) {
            return code;
        }
        if (!MakeTensors()) {
            return ACL_ERROR_BAD_ALLOC;
        }
        if (const int code =
                aclrtMemcpy(memory_, Bytes(), values_.data(), Bytes(), ACL_MEMCPY_HOST_TO_DEVICE)) {
            return code;
        }
        if (const int code = Launch()) {
            return code;
        }
        if (const int code = aclrtSynchronizeStream(stream_)) {
            return code;
        }
        return aclrtMemcpy(values_.data(), Bytes(), memory_, Bytes(), ACL_MEMCPY_DEVICE_TO_HOST);
    }

    void ReadInto(std::vector<FakeSequence>& sequences) {
        for (int64_t row = 0; row < queries_; ++row) {
            FakeSequence& sequence = sequences[static_cast<size_t>(row)];
            sequence.length = At(kLengths, row);
            sequence.position = At(kPositions, row);
            sequence.slot = At(kSlots, row);
        }
    }

 private:
    // The arrays follow one another in values_ and memory_. Each has Rows() values; the table has
    // Rows() rows.
    enum Array : int64_t { kInput, kSampled, kPositions, kLengths, kSlots, kTable };

    int64_t Rows() const { return queries_ + 1; }  // the operator requires at least one padding row
    size_t Bytes() const { return values_.size() * sizeof(int64_t); }
    int64_t& At(Array array, int64_t row) {
        return values_[static_cast<size_t>(array * Rows() + row)];
    }

    bool MakeTensors() {
        for (int64_t array = kInput; array <= kTable; ++array) {
            const std::array<int64_t, 2> shape = {array == kSampled ? queries_ : Rows(),
                                                  array == kTable ? columns_ : 1};
            const uint64_t dimensions = array == kSampled || array == kTable ? 2 : 1;
            aclTensor* const tensor = aclCreateTensor(
                shape.data(), dimensions, ACL_INT64, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                dimensions, static_cast<int64_t*>(memory_) + array * Rows());
            if (tensor == nullptr) {
                return false;
            }
            tensors_[static_cast<size_t>(array)] = tensor;
        }
        return true;
    }

    int Launch() {
        uint64_t size = 0;
        aclOpExecutor* executor = nullptr;
        if (const int code = aclnnAdvanceStepGetWorkspaceSize(
                tensors_[kInput], tensors_[kSampled], tensors_[kPositions], tensors_[kLengths],
                tensors_[kSlots], tensors_[kTable], Rows(), queries_, blockSize_, &size,
                &executor)) {
            return code;
        }
        if (size > 0) {
            if (const int code = aclrtMalloc(&workspace_, size, ACL_MEM_MALLOC_HUGE_FIRST)) {
                aclDestroyAclOpExecutor(executor);
                return code;
            }
        }
        return aclnnAdvanceStep(workspace_, size, executor, stream_);
    }

    int64_t queries_;
    int64_t blockSize_;
    aclrtStream stream_;
    int64_t columns_ = 1;
    std::vector<int64_t> values_;
    void* memory_ = nullptr;
    void* workspace_ = nullptr;
    std::array<const aclTensor*, kTable + 1> tensors_{};
};

}  // namespace

int FakeEngine::Decode(std::vector<FakeSequence>& sequences, aclrtStream stream) {
    ++decodeCalls_;
    DecodeStep step(sequences, blockSize_, stream);
    const int code = step.Run();
    if (code == ACL_SUCCESS) {
        step.ReadInto(sequences);
        ++decodedSteps_;
        decodedTokens_ += sequences.size();
    }
    return code;
}

}  // namespace advance_step::testing
