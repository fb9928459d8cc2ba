// SPDX-License-Identifier: Apache-2.0
// A serving loop around Step: what the host and the model do between two runs, and states that are
// spoilt. Random has Between(first, last), OneIn(count) and OneOf(array).
#ifndef ADVANCE_STEP_TESTS_SUPPORT_STEP_SERVICE_H_
#define ADVANCE_STEP_TESTS_SUPPORT_STEP_SERVICE_H_

#include <algorithm>
#include <cstdint>
#include <utility>

#include "acl/acl.h"
#include "reference/step_reference.h"

namespace support {

// The first of the dynamic blocks; the host's are below.
inline constexpr int64_t kFirstDynamicBlock = 1000000;

// What the host and the model do between two steps, on a copy of the tensors.
template <class Random>
class StepService {
 public:
    StepService(const reference::StepDims& dims, Random random)
        : state_(reference::IdleStepData(dims)),
          random_(std::move(random)),
          admitOneIn_(random_.template OneOf<int64_t>({1, 2, 5})),
          finishOneIn_(random_.template OneOf<int64_t>({10, 30, 200})) {
        for (int64_t i = 0; i < dims.capacity; ++i) {
            state_[reference::kFreeList][i] = kFirstDynamicBlock + i;
        }
        state_[reference::kFreeListLen][0] = dims.capacity;
    }
    const reference::StepData& State() const { return state_; }
    void Take(const reference::StepData& state) { state_ = state; }

    void Advance() {
        for (int64_t slot = 0; slot < state_.dims.batch; ++slot) {
            if (state_[reference::kIsBlockStep][slot] != 0) {
                continue;
            }
            if (state_[reference::kStopFlags][slot] == 0) {
                Decode(slot);
            } else if (state_[reference::kFirstTokenIds][slot] == -1 &&
                       random_.OneIn(admitOneIn_)) {
                Admit(slot);
            }
        }
    }
    // Finishes one slot that runs, and perhaps more.
    void ShedLoad() {
        bool isFirst = true;
        for (int64_t slot = 0; slot < state_.dims.batch; ++slot) {
            if (state_[reference::kStopFlags][slot] == 0 && (isFirst || random_.OneIn(3))) {
                Finish(slot);
                isFirst = false;
            }
        }
    }

 private:
    void Admit(int64_t slot) {
        const reference::StepDims& dims = state_.dims;
        const int64_t prompt = random_.OneIn(4)
                                   ? random_.Between(0, 2)
                                   : random_.Between(1, std::max<int64_t>(1, dims.inputIds / 3));
        const int64_t fits = (prompt + dims.blockSize - 1) / dims.blockSize;
        const int64_t owned = prompt == 0 ? 0 : fits + random_.Between(0, 1);
        for (int64_t column = 0; column < dims.columns; ++column) {
            state_.Block(slot, column) = column < owned ? slot * dims.columns + column : -1;
        }
        state_[reference::kEncoderBlockLens][slot] = owned;
        state_[reference::kUsedListLen][slot] = 0;
        state_[reference::kOriSeqLensEncoder][slot] = prompt;
        for (int64_t i = 0; i < dims.inputIds; ++i) {
            state_.InputId(slot, i) = i < prompt ? random_.Between(0, 150000) : -1;
        }
        state_[reference::kFirstTokenIds][slot] = random_.Between(0, 150000);
        state_[reference::kNextTokens][slot] = random_.Between(0, 150000);
        state_[reference::kStopFlags][slot] = 0;
        const bool isPrefilled = prompt == 0 || random_.OneIn(2);
        state_[reference::kStepIdx][slot] = isPrefilled ? 1 : 0;
        state_[reference::kSeqLensThisTime][slot] = isPrefilled ? 1 : prompt;
        state_[reference::kSeqLensEncoder][slot] = isPrefilled ? 0 : prompt;
        state_[reference::kSeqLensDecoder][slot] = isPrefilled ? prompt : 0;
    }
    // The forward pass of a slot that fed tokens, and its next token.
    void Decode(int64_t slot) {
        if (state_[reference::kSeqLensThisTime][slot] != 0) {
            int64_t& prefill = state_[reference::kSeqLensEncoder][slot];
            int64_t& cached = state_[reference::kSeqLensDecoder][slot];
            cached = prefill > 0 ? prefill : cached + 1;
            prefill = 0;
            int64_t& generated = state_[reference::kStepIdx][slot];
            if (generated > 0) {
                state_.PreId(slot, generated) = state_[reference::kNextTokens][slot];
            }
            ++generated;
            state_[reference::kNextTokens][slot] = random_.Between(0, 150000);
            state_.InputId(slot, 0) = state_[reference::kNextTokens][slot];
            const int64_t total = state_[reference::kOriSeqLensEncoder][slot] + generated;
            if (total >= state_.dims.inputIds || generated + 1 >= state_.dims.preIds ||
                random_.OneIn(finishOneIn_)) {
                return Finish(slot);
            }
        }
        state_[reference::kSeqLensThisTime][slot] = random_.OneIn(15) ? 0 : 1;
    }
    void Finish(int64_t slot) {
        state_[reference::kStopFlags][slot] = 1;
        state_[reference::kSeqLensThisTime][slot] = 0;
    }

    reference::StepData state_;
    Random random_;
    int64_t admitOneIn_, finishOneIn_;
};

// Changes something that a run may find wrong, or not.
template <class Random>
void SpoilStep(Random& random, reference::StepData& data) {
    constexpr reference::StepTensor kTensors[] = {
        reference::kStopFlags,      reference::kSeqLensThisTime, reference::kOriSeqLensEncoder,
        reference::kSeqLensDecoder, reference::kStepBlockTables, reference::kIsBlockStep,
        reference::kStepBlockList,  reference::kStepLens,        reference::kRecoverLens,
        reference::kNeedBlockLen,   reference::kUsedListLen,     reference::kFreeListLen,
        reference::kStepIdx,        reference::kEncoderBlockLens};
    for (int64_t count = random.Between(1, 2); count > 0; --count) {
        const reference::StepTensor tensor = random.OneOf(kTensors);
        if (!data[tensor].empty()) {
            int64_t& value =
                data[tensor][random.Between(0, static_cast<int64_t>(data[tensor].size()) - 1)];
            value = reference::IsStepFlag(tensor) ? (value == 0 ? random.Between(1, 255) : 0)
                    : random.OneIn(2)             ? value + random.Between(-2, 2)
                    : random.OneIn(10)            ? INT32_MIN
                    : random.OneIn(10)            ? INT32_MAX
                                                  : random.Between(-2, 30);
            value = std::clamp<int64_t>(value, INT32_MIN, INT32_MAX);
        }
    }
}

// What the synchronisation after a run returns.
inline int StepCode(reference::StepOutcome outcome) {
    return outcome == reference::StepOutcome::kOk           ? ACL_SUCCESS
           : outcome == reference::StepOutcome::kNoProgress ? ACL_ERROR_RT_RESOURCE_ALLOC_FAIL
                                                            : ACL_ERROR_RT_VECTOR_CORE_EXCEPTION;
}

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_STEP_SERVICE_H_
