// One AdvanceStep call on the device: its six tensors, both phases, and what came of it.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_ADVANCE_STEP_BATCH_H_
#define ADVANCE_STEP_TESTS_SUPPORT_ADVANCE_STEP_BATCH_H_

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "aclnnop/aclnn_advance_step.h"
#include "reference/advance_step_reference.h"
#include "support/handles.h"
#include "support/tensor.h"

namespace support {

inline constexpr std::array<const char*, 6> kTensorNames = {
    "inputTokens", "sampledTokenIds", "inputPositions", "seqLens", "slotMapping", "blockTables"};
inline constexpr size_t kInputTokens = 0;
inline constexpr size_t kSampledTokenIds = 1;
inline constexpr size_t kInputPositions = 2;
inline constexpr size_t kSeqLens = 3;
inline constexpr size_t kSlotMapping = 4;
inline constexpr size_t kBlockTables = 5;

// How the six tensors lie in memory.
struct BatchLayout {
    std::array<aclDataType, 6> dtypes = {ACL_INT64, ACL_INT64, ACL_INT64,
                                         ACL_INT64, ACL_INT64, ACL_INT64};
    bool columns = false;     // [numSeqs, 1] for [numSeqs]
    int64_t rowStride = 0;    // of blockTables; 0: maxBlocks
    int64_t viewOffset = 0;   // elements of memory in front of every view
    int64_t behindView = 16;  // bytes of memory behind every view
};

class AdvanceStepBatch {
 public:
    explicit AdvanceStepBatch(reference::AdvanceStepData data, BatchLayout layout = {})
        : data_(std::move(data)), layout_(layout) {
        for (size_t i = 0; i < 6; ++i) {
            const std::vector<char> image = Image(i, *data_.Tensors()[i]);
            buffers_[i] = DeviceBuffer(image);
            tensors_[i] = Tensor(Spec(i));
        }
    }

    const reference::AdvanceStepData& Data() const { return data_; }
    aclTensor* TensorAt(size_t index) const { return tensors_[index].Get(); }
    void* Address(size_t index) const { return buffers_[index].Get(); }
    uint64_t WorkspaceSize() const { return workspaceSize_; }
    aclOpExecutor* Executor() const { return executor_; }

    TensorSpec Spec(size_t index) const {
        const int64_t length = static_cast<int64_t>(data_.Tensors()[index]->size());
        TensorSpec spec{{length}, Address(index), layout_.dtypes[index], {}, layout_.viewOffset};
        if (index == kBlockTables) {
            spec.shape = {data_.maxBlocks == 0 ? 0 : length / data_.maxBlocks, data_.maxBlocks};
            spec.strides = {RowStride(), 1};
        } else if (index == kSampledTokenIds || layout_.columns) {
            spec.shape.push_back(1);
        }
        return spec;
    }

    // Destroys the descriptions; the memory stays.
    void DestroyTensors() { tensors_ = {}; }
    // Frees the memory of one tensor.
    void FreeMemory(size_t index) { buffers_[index] = DeviceBuffer(); }

    // Phase one.
    aclnnStatus Plan() { return Plan(&workspaceSize_, &executor_); }
    aclnnStatus Plan(uint64_t* workspaceSize, aclOpExecutor** executor) const {
        return aclnnAdvanceStepGetWorkspaceSize(
            TensorAt(0), TensorAt(1), TensorAt(2), TensorAt(3), TensorAt(4), TensorAt(5),
            data_.numSeqs, data_.numQueries, data_.blockSize, workspaceSize, executor);
    }

    // Phase two, with a workspace that starts misalignment bytes into its memory.
    aclnnStatus Launch(aclrtStream stream, size_t misalignment = 0) {
        const size_t needed = workspaceSize_ + misalignment;
        if (needed > workspace_.Size()) {
            workspace_ = DeviceBuffer(needed);
        }
        void* workspace = needed == 0 ? nullptr : workspace_.At(misalignment);
        return aclnnAdvanceStep(workspace, workspaceSize_, executor_, stream);
    }

    // Both phases and the synchronisation; the first code that is not 0.
    int Run(aclrtStream stream, size_t misalignment = 0) {
        int status = Plan();
        if (status == ACLNN_SUCCESS) {
            status = Launch(stream, misalignment);
        }
        return status == ACLNN_SUCCESS ? aclrtSynchronizeStream(stream) : status;
    }

    // Puts the data back as it was before any run.
    void Upload() const {
        for (size_t i = 0; i < 6; ++i) {
            buffers_[i].Upload(Image(i, *data_.Tensors()[i]));
        }
    }

    // Whether the device holds exactly expected, and nothing beside the views has been written.
    testing::AssertionResult Holds(const reference::AdvanceStepData& expected) const {
        for (size_t i = 0; i < 6; ++i) {
            const testing::AssertionResult result = HoldsAt(i, expected);
            if (!result) {
                return result;
            }
        }
        return testing::AssertionSuccess();
    }
    // The same for one of the tensors.
    testing::AssertionResult HoldsAt(size_t index,
                                     const reference::AdvanceStepData& expected) const {
        const std::vector<char> image = buffers_[index].Download<char>();
        const std::vector<int64_t>& wanted = *expected.Tensors()[index];
        if (image == Image(index, wanted)) {
            return testing::AssertionSuccess();
        }
        for (size_t k = 0; k < wanted.size(); ++k) {
            const int64_t value = Element(index, image, k);
            if (value != wanted[k]) {
                return testing::AssertionFailure() << kTensorNames[index] << "[" << k << "] is "
                                                   << value << ", expected " << wanted[k];
            }
        }
        return testing::AssertionFailure() << kTensorNames[index] << ": written beside the view";
    }
    testing::AssertionResult IsUntouched() const { return Holds(data_); }

 private:
    int64_t RowStride() const {
        return layout_.rowStride == 0 ? data_.maxBlocks : layout_.rowStride;
    }
    size_t ElementSize(size_t tensor) const { return aclDataTypeSize(layout_.dtypes[tensor]); }
    size_t ByteOf(size_t tensor, size_t element) const {
        int64_t place = static_cast<int64_t>(element);
        if (tensor == kBlockTables && data_.maxBlocks > 0) {
            place = place / data_.maxBlocks * RowStride() + place % data_.maxBlocks;
        }
        return static_cast<size_t>(place + layout_.viewOffset) * ElementSize(tensor);
    }
    // The tensor's memory with values in its view and a pattern around it.
    std::vector<char> Image(size_t tensor, const std::vector<int64_t>& values) const {
        const size_t size = ElementSize(tensor);
        const size_t end = values.empty() ? 0 : ByteOf(tensor, values.size() - 1) + size;
        std::vector<char> image(end + static_cast<size_t>(layout_.behindView), '\x5a');
        for (size_t k = 0; k < values.size(); ++k) {
            const auto narrow = static_cast<int32_t>(values[k]);
            const void* from = size == sizeof(narrow) ? static_cast<const void*>(&narrow)
                                                      : static_cast<const void*>(&values[k]);
            std::memcpy(&image[ByteOf(tensor, k)], from, size);
        }
        return image;
    }
    int64_t Element(size_t tensor, const std::vector<char>& image, size_t element) const {
        if (ElementSize(tensor) == sizeof(int32_t)) {
            int32_t narrow = 0;
            std::memcpy(&narrow, &image[ByteOf(tensor, element)], sizeof(narrow));
            return narrow;
        }
        int64_t value = 0;
        std::memcpy(&value, &image[ByteOf(tensor, element)], sizeof(value));
        return value;
    }

    reference::AdvanceStepData data_;
    BatchLayout layout_;
    std::array<DeviceBuffer, 6> buffers_;
    std::array<Tensor, 6> tensors_;
    DeviceBuffer workspace_;
    uint64_t workspaceSize_ = 0;
    aclOpExecutor* executor_ = nullptr;
};

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_ADVANCE_STEP_BATCH_H_
