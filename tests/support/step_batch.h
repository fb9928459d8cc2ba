// SPDX-License-Identifier: Apache-2.0
// One Step call on the device: its 22 tensors, both phases, and what came of it.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_STEP_BATCH_H_
#define ADVANCE_STEP_TESTS_SUPPORT_STEP_BATCH_H_

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "aclnnop/aclnn_step.h"
#include "reference/step_reference.h"
#include "support/handles.h"
#include "support/tensor.h"

namespace support {

inline constexpr size_t kStepTensors = reference::kStepTensorCount;

inline constexpr std::array<const char*, kStepTensors> kStepTensorNames = {
    "stopFlags",        "seqLensThisTime",  "oriSeqLensEncoder", "seqLensEncoder", "seqLensDecoder",
    "blockTables",      "encoderBlockLens", "isBlockStep",       "stepBlockList",  "stepLens",
    "recoverBlockList", "recoverLens",      "needBlockList",     "needBlockLen",   "usedListLen",
    "freeList",         "freeListLen",      "inputIds",          "preIds",         "stepIdx",
    "nextTokens",       "firstTokenIds"};

inline aclDataType StepDtype(size_t tensor) {
    if (reference::IsStepFlag(tensor)) {
        return ACL_BOOL;
    }
    return tensor >= reference::kInputIds ? ACL_INT64 : ACL_INT32;
}

// The tensors that a run never writes.
inline bool IsStepInput(size_t tensor) {
    return tensor == reference::kOriSeqLensEncoder || tensor == reference::kPreIds ||
           tensor == reference::kStepIdx || tensor == reference::kNextTokens;
}

// [S] or [S, 1], as a view that starts viewOffset elements into its memory.
struct StepLayout {
    bool columns = false;
    int64_t viewOffset = 0;
};

inline TensorSpec StepSpec(const reference::StepDims& dims, size_t tensor, bool columns) {
    TensorSpec spec;
    spec.shape = reference::StepShape(dims, tensor);
    spec.dtype = StepDtype(tensor);
    const bool isPerSlot = spec.shape.size() == 1 && tensor != reference::kStepLens &&
                           tensor != reference::kRecoverLens &&
                           tensor != reference::kNeedBlockLen && tensor != reference::kFreeList &&
                           tensor != reference::kFreeListLen;
    if (columns && isPerSlot) {
        spec.shape.push_back(1);
    }
    return spec;
}

// Phase one on these descriptions, a null one for a null pointer.
inline aclnnStatus PlanStep(const std::array<const aclTensor*, kStepTensors>& t, int64_t blockSize,
                            uint64_t* workspaceSize, aclOpExecutor** executor) {
    return aclnnStepGetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8], t[9],
                                     t[10], t[11], t[12], t[13], t[14], t[15], t[16], t[17], t[18],
                                     t[19], t[20], t[21], blockSize, 1, workspaceSize, executor);
}

class StepBatch {
 public:
    explicit StepBatch(reference::StepData data, StepLayout layout = {})
        : data_(std::move(data)), layout_(layout) {
        for (size_t i = 0; i < kStepTensors; ++i) {
            buffers_[i] = DeviceBuffer(Image(i, data_.tensors[i]));
            TensorSpec spec = StepSpec(data_.dims, i, layout_.columns);
            spec.data = buffers_[i].Get();
            spec.offset = layout_.viewOffset;
            tensors_[i] = Tensor(spec);
        }
    }
    StepBatch(const StepBatch&) = delete;
    StepBatch& operator=(const StepBatch&) = delete;
    ~StepBatch() {
        if (isRepeatable_) {
            EXPECT_TRUE(IsOk(aclDestroyAclOpExecutor(executor_)));
        }
    }

    // What the host last put into the tensors.
    const reference::StepData& Data() const { return data_; }
    uint64_t WorkspaceSize() const { return workspaceSize_; }
    aclOpExecutor* Executor() const { return executor_; }
    aclTensor* TensorAt(size_t index) const { return tensors_[index].Get(); }

    // Puts data into the tensors, of the same dims.
    void Upload(const reference::StepData& data) {
        for (size_t i = 0; i < kStepTensors; ++i) {
            buffers_[i].Upload(Image(i, data.tensors[i]));
        }
        data_ = data;
    }

    // Phase one.
    int Plan() {
        std::array<const aclTensor*, kStepTensors> tensors{};
        for (size_t i = 0; i < kStepTensors; ++i) {
            tensors[i] = tensors_[i].Get();
        }
        return PlanStep(tensors, data_.dims.blockSize, &workspaceSize_, &executor_);
    }
    // Phase one for any number of launches.
    int PlanRepeatable() {
        const int status = Plan();
        if (status != ACLNN_SUCCESS) {
            return status;
        }
        isRepeatable_ = true;
        return aclSetAclOpExecutorRepeatable(executor_);
    }
    // Phase two, with a workspace that starts misalignment bytes into its memory.
    int Launch(aclrtStream stream, size_t misalignment = 1) {
        if (workspace_.Size() < workspaceSize_ + kMargin) {
            workspace_ = DeviceBuffer(workspaceSize_ + kMargin);
        }
        return aclnnStep(workspace_.At(misalignment), workspaceSize_, executor_, stream);
    }
    // Phase two and the synchronisation; the first code that is not 0.
    int LaunchAndWait(aclrtStream stream, size_t misalignment = 1) {
        const int status = Launch(stream, misalignment);
        return status == ACLNN_SUCCESS ? aclrtSynchronizeStream(stream) : status;
    }
    int Run(aclrtStream stream, size_t misalignment = 1) {
        const int status = Plan();
        return status == ACLNN_SUCCESS ? LaunchAndWait(stream, misalignment) : status;
    }

    // Whether the device holds exactly expected, and nothing beside the views has been written.
    testing::AssertionResult Holds(const reference::StepData& expected) const {
        for (size_t i = 0; i < kStepTensors; ++i) {
            const std::vector<char> image = buffers_[i].Download<char>();
            if (image == Image(i, expected.tensors[i])) {
                continue;
            }
            const std::vector<int64_t>& wanted = expected.tensors[i];
            const std::vector<int64_t> values = ValuesIn(i, image, wanted.size());
            for (size_t k = 0; k < wanted.size(); ++k) {
                if (values[k] != wanted[k]) {
                    return testing::AssertionFailure() << kStepTensorNames[i] << "[" << k << "] is "
                                                       << values[k] << ", expected " << wanted[k];
                }
            }
            return testing::AssertionFailure()
                   << kStepTensorNames[i] << ": written beside the view";
        }
        return testing::AssertionSuccess();
    }
    testing::AssertionResult IsUntouched() const { return Holds(data_); }

    // What the device holds.
    reference::StepData Download() const {
        reference::StepData data = data_;
        for (size_t i = 0; i < kStepTensors; ++i) {
            const std::vector<char> image = buffers_[i].Download<char>();
            data.tensors[i] = ValuesIn(i, image, data.tensors[i].size());
        }
        return data;
    }

 private:
    static constexpr size_t kMargin = 64;
    static constexpr size_t kBehindView = 16;

    size_t FirstByte(size_t tensor) const {
        return static_cast<size_t>(layout_.viewOffset) * aclDataTypeSize(StepDtype(tensor));
    }
    template <typename T>
    static void Narrow(const std::vector<int64_t>& values, char* to) {
        const std::vector<T> narrow(values.begin(), values.end());
        if (!narrow.empty()) {  // whose data may be null, which memcpy does not take
            std::memcpy(to, narrow.data(), narrow.size() * sizeof(T));
        }
    }
    template <typename T>
    static std::vector<int64_t> Widen(const char* from, size_t count) {
        std::vector<T> narrow(count);
        if (count > 0) {
            std::memcpy(narrow.data(), from, count * sizeof(T));
        }
        return {narrow.begin(), narrow.end()};
    }
    // The tensor's memory with values in its view and a pattern around it.
    std::vector<char> Image(size_t tensor, const std::vector<int64_t>& values) const {
        const size_t size = aclDataTypeSize(StepDtype(tensor));
        const size_t first = FirstByte(tensor);
        std::vector<char> image(first + values.size() * size + kBehindView, '\x5a');
        if (size == sizeof(int64_t)) {
            Narrow<int64_t>(values, &image[first]);
        } else if (size == sizeof(int32_t)) {
            Narrow<int32_t>(values, &image[first]);
        } else {
            Narrow<uint8_t>(values, &image[first]);
        }
        return image;
    }
    std::vector<int64_t> ValuesIn(size_t tensor, const std::vector<char>& image,
                                  size_t count) const {
        const char* const from = &image[FirstByte(tensor)];
        if (reference::IsStepFlag(tensor)) {
            return Widen<uint8_t>(from, count);
        }
        return StepDtype(tensor) == ACL_INT64 ? Widen<int64_t>(from, count)
                                              : Widen<int32_t>(from, count);
    }

    reference::StepData data_;
    StepLayout layout_;
    std::array<DeviceBuffer, kStepTensors> buffers_;
    std::array<Tensor, kStepTensors> tensors_;
    DeviceBuffer workspace_;
    uint64_t workspaceSize_ = 0;
    aclOpExecutor* executor_ = nullptr;
    bool isRepeatable_ = false;
};

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_STEP_BATCH_H_
