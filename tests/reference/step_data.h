// SPDX-License-Identifier: Apache-2.0
// The tensors of Step as vectors. All values are int64, whatever the tensors hold.
#ifndef ADVANCE_STEP_TESTS_REFERENCE_STEP_DATA_H_
#define ADVANCE_STEP_TESTS_REFERENCE_STEP_DATA_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace reference {

// The tensors in the order of the signature.
enum StepTensor : size_t {
    kStopFlags,
    kSeqLensThisTime,
    kOriSeqLensEncoder,
    kSeqLensEncoder,
    kSeqLensDecoder,
    kStepBlockTables,
    kEncoderBlockLens,
    kIsBlockStep,
    kStepBlockList,
    kStepLens,
    kRecoverBlockList,
    kRecoverLens,
    kNeedBlockList,
    kNeedBlockLen,
    kUsedListLen,
    kFreeList,
    kFreeListLen,
    kInputIds,
    kPreIds,
    kStepIdx,
    kNextTokens,
    kFirstTokenIds,
    kStepTensorCount
};

struct StepDims {
    int64_t batch = 0;     // B
    int64_t slots = 0;     // S
    int64_t columns = 0;   // W
    int64_t capacity = 0;  // F
    int64_t inputIds = 0;  // L
    int64_t preIds = 0;    // P
    int64_t blockSize = 1;
};

struct StepData {
    StepDims dims;
    std::array<std::vector<int64_t>, kStepTensorCount> tensors;

    std::vector<int64_t>& operator[](StepTensor tensor) { return tensors[tensor]; }
    const std::vector<int64_t>& operator[](StepTensor tensor) const { return tensors[tensor]; }
    int64_t& Block(int64_t slot, int64_t column) {
        return tensors[kStepBlockTables][static_cast<size_t>(slot * dims.columns + column)];
    }
    int64_t Block(int64_t slot, int64_t column) const {
        return tensors[kStepBlockTables][static_cast<size_t>(slot * dims.columns + column)];
    }
    int64_t& InputId(int64_t slot, int64_t position) {
        return tensors[kInputIds][static_cast<size_t>(slot * dims.inputIds + position)];
    }
    int64_t& PreId(int64_t slot, int64_t token) {
        return tensors[kPreIds][static_cast<size_t>(slot * dims.preIds + token)];
    }
};

inline std::vector<int64_t> StepShape(const StepDims& dims, size_t tensor) {
    switch (tensor) {
        case kSeqLensThisTime:
            return {dims.batch};
        case kStepBlockTables:
            return {dims.slots, dims.columns};
        case kStepLens:
        case kRecoverLens:
        case kNeedBlockLen:
        case kFreeListLen:
            return {1};
        case kFreeList:
            return {dims.capacity};
        case kInputIds:
            return {dims.slots, dims.inputIds};
        case kPreIds:
            return {dims.slots, dims.preIds};
        default:
            return {dims.slots};
    }
}

inline bool IsStepFlag(size_t tensor) { return tensor == kStopFlags || tensor == kIsBlockStep; }

// All slots free, no block anywhere.
inline StepData IdleStepData(const StepDims& dims) {
    StepData data;
    data.dims = dims;
    for (size_t i = 0; i < kStepTensorCount; ++i) {
        const std::vector<int64_t> shape = StepShape(dims, i);
        const bool isEmpty = i == kStepBlockTables || i == kStepBlockList ||
                             i == kRecoverBlockList || i == kNeedBlockList || i == kFreeList ||
                             i == kPreIds || i == kFirstTokenIds;
        int64_t count = 1;
        for (const int64_t length : shape) {
            count *= length;
        }
        data.tensors[i].assign(static_cast<size_t>(count), isEmpty ? -1 : i == kStopFlags ? 1 : 0);
    }
    return data;
}

}  // namespace reference

#endif  // ADVANCE_STEP_TESTS_REFERENCE_STEP_DATA_H_
