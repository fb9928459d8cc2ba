// SPDX-License-Identifier: Apache-2.0
// One call of an operator on the device: its tensors, both phases, and what came of it.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_OP_BATCH_H_
#define ADVANCE_STEP_TESTS_SUPPORT_OP_BATCH_H_

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "aclnn/aclnn_base.h"
#include "support/handles.h"
#include "support/tensor.h"

namespace support {

// A tensor argument and how it lies in memory. Values are int64, whatever the dtype.
struct OpTensor {
    const char* name = "";
    std::vector<int64_t> shape;
    std::vector<int64_t> values;
    aclDataType dtype = ACL_INT64;
    int64_t rowStride = 0;   // of a matrix; 0: contiguous
    int64_t viewOffset = 0;  // elements of memory in front of the view
};

class OpBatch {
 public:
    using Tensors = std::vector<const aclTensor*>;
    using PhaseOne = std::function<aclnnStatus(const Tensors&, uint64_t*, aclOpExecutor**)>;
    using PhaseTwo = aclnnStatus (*)(void*, uint64_t, aclOpExecutor*, aclrtStream);

    OpBatch(std::vector<OpTensor> tensors, PhaseOne phaseOne, PhaseTwo phaseTwo)
        : arguments_(std::move(tensors)), phaseOne_(std::move(phaseOne)), phaseTwo_(phaseTwo) {
        for (const OpTensor& argument : arguments_) {
            buffers_.emplace_back(Image(argument, argument.values));
            TensorSpec spec{argument.shape, buffers_.back().Get(), argument.dtype};
            spec.offset = argument.viewOffset;
            if (argument.rowStride != 0) {
                spec.strides = {argument.rowStride, 1};
            }
            tensors_.emplace_back(spec);
            handles_.push_back(tensors_.back().Get());
        }
    }

    aclOpExecutor* Executor() const { return executor_; }
    uint64_t WorkspaceSize() const { return workspaceSize_; }
    void* Address(size_t index) const { return buffers_[index].Get(); }
    aclTensor* TensorAt(size_t index) const { return tensors_[index].Get(); }
    const Tensors& Handles() const { return handles_; }

    // Destroys the descriptions; the memory stays.
    void DestroyTensors() {
        tensors_.clear();
        handles_.assign(handles_.size(), nullptr);
    }
    // Frees the memory of one tensor.
    void FreeMemory(size_t index) { buffers_[index] = DeviceBuffer(); }

    aclnnStatus Plan() { return Plan(&workspaceSize_, &executor_); }
    aclnnStatus Plan(uint64_t* workspaceSize, aclOpExecutor** executor) const {
        return phaseOne_(handles_, workspaceSize, executor);
    }

    // Phase two, with a workspace that starts misalignment bytes into its memory.
    aclnnStatus Launch(aclrtStream stream, size_t misalignment = 0) {
        const size_t needed = workspaceSize_ + misalignment;
        if (needed > workspace_.Size()) {
            workspace_ = DeviceBuffer(needed);
        }
        return phaseTwo_(needed == 0 ? nullptr : workspace_.At(misalignment), workspaceSize_,
                         executor_, stream);
    }

    // Both phases and the synchronisation; the first code that is not 0.
    int Run(aclrtStream stream, size_t misalignment = 0) {
        int status = Plan();
        if (status == ACLNN_SUCCESS) {
            status = Launch(stream, misalignment);
        }
        return status == ACLNN_SUCCESS ? aclrtSynchronizeStream(stream) : status;
    }

    // The same under capture, and one replay.
    int RunReplayed(aclrtStream stream, size_t misalignment = 0) {
        aclmdlRI model = nullptr;
        EXPECT_EQ(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL), 0);
        EXPECT_EQ(Plan(), ACLNN_SUCCESS);
        EXPECT_EQ(Launch(stream, misalignment), ACLNN_SUCCESS);
        EXPECT_EQ(aclmdlRICaptureEnd(stream, &model), 0);
        EXPECT_TRUE(IsUntouched()) << "a capture runs nothing";
        EXPECT_EQ(aclmdlRIExecuteAsync(model, stream), 0);
        const int status = aclrtSynchronizeStream(stream);
        EXPECT_EQ(aclmdlRIDestroy(model), 0);
        return status;
    }

    // Puts the data back as it was before any run.
    void Upload() const {
        for (size_t i = 0; i < arguments_.size(); ++i) {
            buffers_[i].Upload(Image(arguments_[i], arguments_[i].values));
        }
    }

    // Whether the device holds exactly these values, and nothing beside the views has been written.
    testing::AssertionResult Holds(const std::vector<std::vector<int64_t>>& expected) const {
        for (size_t i = 0; i < arguments_.size(); ++i) {
            const testing::AssertionResult result = HoldsAt(i, expected[i]);
            if (!result) {
                return result;
            }
        }
        return testing::AssertionSuccess();
    }
    // The same for one of the tensors.
    testing::AssertionResult HoldsAt(size_t index, const std::vector<int64_t>& expected) const {
        const OpTensor& argument = arguments_[index];
        const std::vector<char> image = buffers_[index].Download<char>();
        if (image == Image(argument, expected)) {
            return testing::AssertionSuccess();
        }
        for (size_t k = 0; k < expected.size(); ++k) {
            const int64_t value = Element(argument, image, k);
            if (value != expected[k]) {
                return testing::AssertionFailure() << argument.name << "[" << k << "] is " << value
                                                   << ", expected " << expected[k];
            }
        }
        return testing::AssertionFailure() << argument.name << ": written beside the view";
    }
    testing::AssertionResult IsUntouched() const {
        std::vector<std::vector<int64_t>> before;
        for (const OpTensor& argument : arguments_) {
            before.push_back(argument.values);
        }
        return Holds(before);
    }

 private:
    static constexpr size_t kBehindView = 16;  // bytes

    static size_t ByteOf(const OpTensor& argument, size_t element) {
        auto place = static_cast<int64_t>(element);
        if (argument.rowStride != 0) {
            place = place / argument.shape[1] * argument.rowStride + place % argument.shape[1];
        }
        return static_cast<size_t>(place + argument.viewOffset) * aclDataTypeSize(argument.dtype);
    }
    // The tensor's memory with values in its view and a pattern around it.
    static std::vector<char> Image(const OpTensor& argument, const std::vector<int64_t>& values) {
        const size_t size = aclDataTypeSize(argument.dtype);
        const size_t end = values.empty() ? 0 : ByteOf(argument, values.size() - 1) + size;
        std::vector<char> image(end + kBehindView, '\x5a');
        if (size == sizeof(int32_t)) {
            Fill<int32_t>(argument, values, &image);
        } else {
            Fill<int64_t>(argument, values, &image);
        }
        return image;
    }
    // Row by row, because an image of a million values is made often.
    template <typename T>
    static void Fill(const OpTensor& argument, const std::vector<int64_t>& values,
                     std::vector<char>* image) {
        const std::vector<T> elements(values.begin(), values.end());
        const size_t row =
            argument.rowStride == 0 ? values.size() : static_cast<size_t>(argument.shape[1]);
        for (size_t k = 0; k < values.size(); k += row) {
            std::memcpy(image->data() + ByteOf(argument, k), &elements[k], row * sizeof(T));
        }
    }
    static int64_t Element(const OpTensor& argument, const std::vector<char>& image, size_t k) {
        int32_t narrow = 0;
        int64_t value = 0;
        if (aclDataTypeSize(argument.dtype) == sizeof(narrow)) {
            std::memcpy(&narrow, &image[ByteOf(argument, k)], sizeof(narrow));
            return narrow;
        }
        std::memcpy(&value, &image[ByteOf(argument, k)], sizeof(value));
        return value;
    }

    std::vector<OpTensor> arguments_;
    PhaseOne phaseOne_;
    PhaseTwo phaseTwo_;
    std::vector<DeviceBuffer> buffers_;
    std::vector<Tensor> tensors_;
    Tensors handles_;  // of tensors_; kept, so that phase one allocates nothing of the test's
    DeviceBuffer workspace_;
    uint64_t workspaceSize_ = 0;
    aclOpExecutor* executor_ = nullptr;
};

// The values of reference data, in signature order.
template <class Data>
std::vector<std::vector<int64_t>> ValuesOf(const Data& data) {
    std::vector<std::vector<int64_t>> values;
    for (const std::vector<int64_t>* tensor : data.Tensors()) {
        values.push_back(*tensor);
    }
    return values;
}

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_OP_BATCH_H_
