// SPDX-License-Identifier: Apache-2.0
// Step as plain loops in the order of the specification. Knows no cores, tiling or device.
#ifndef ADVANCE_STEP_TESTS_REFERENCE_STEP_REFERENCE_H_
#define ADVANCE_STEP_TESTS_REFERENCE_STEP_REFERENCE_H_

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "reference/step_data.h"

namespace reference {

enum class StepOutcome { kOk, kNoProgress, kInvalid };

struct StepResult {
    StepOutcome outcome = StepOutcome::kOk;
    int64_t released = 0, needy = 0, preempted = 0, dispatched = 0, recovered = 0;  // slots
    int64_t needed = 0, free = 0;  // when the last victim had gone
};

// One run on data; use Step().
class StepModel {
 public:
    StepModel(StepData& data, bool isExact) : d_(data), isExact_(isExact) {}

    StepResult Run() {
        if (d_.dims.batch == 0) {
            return result_;
        }
        if (!IsConsistent()) {
            result_.outcome = StepOutcome::kInvalid;
            return result_;
        }
        Collect();
        if (!Preempt()) {
            result_.outcome = StepOutcome::kNoProgress;
            return result_;
        }
        Dispatch();
        if (!PlanRecovery()) {
            result_.outcome = StepOutcome::kInvalid;
            return result_;
        }
        ApplyRecovery();
        return result_;
    }

 private:
    bool IsConsistent() const {
        const StepDims& dims = d_.dims;
        if (d_[kFreeListLen][0] < 0 || d_[kFreeListLen][0] > dims.capacity ||
            d_[kStepLens][0] < 0 || d_[kStepLens][0] > dims.batch || d_[kNeedBlockLen][0] != 0 ||
            d_[kRecoverLens][0] != 0) {
            return false;
        }
        std::set<int64_t> stack;
        for (int64_t k = 0; k < d_[kStepLens][0]; ++k) {
            const int64_t slot = d_[kStepBlockList][k];
            if (slot < 0 || slot >= dims.batch || d_[kIsBlockStep][slot] == 0 ||
                !stack.insert(slot).second) {
                return false;
            }
        }
        int64_t blocks = d_[kFreeListLen][0];
        for (int64_t slot = 0; slot < dims.batch; ++slot) {
            const int64_t used = d_[kUsedListLen][slot];
            const int64_t first = d_[kEncoderBlockLens][slot];
            const bool isPreempted = d_[kIsBlockStep][slot] != 0;
            if (used < 0 ||
                (used > 0 && !isPreempted && (first < 0 || first + used > dims.columns))) {
                return false;
            }
            blocks += isPreempted ? 0 : used;
            const bool feeds =
                (d_[kStopFlags][slot] == 0 || isPreempted) && d_[kSeqLensThisTime][slot] != 0;
            const int64_t cached = d_[kSeqLensDecoder][slot];
            if (feeds && (cached < 0 || cached / dims.blockSize >= dims.columns)) {
                return false;
            }
        }
        return blocks <= dims.capacity;
    }

    int64_t NextColumn(int64_t slot) const { return d_[kSeqLensDecoder][slot] / d_.dims.blockSize; }
    void Push(int64_t block) { d_[kFreeList][d_[kFreeListLen][0]++] = block; }
    int64_t Pop() { return d_[kFreeList][--d_[kFreeListLen][0]]; }
    void PushDynamicBlocks(int64_t slot) {
        for (int64_t i = 0; i < d_[kUsedListLen][slot]; ++i) {
            int64_t& block = d_.Block(slot, d_[kEncoderBlockLens][slot] + i);
            Push(block);
            block = -1;
        }
    }

    void Collect() {
        int64_t& count = d_[kNeedBlockLen][0];
        for (int64_t slot = 0; slot < d_.dims.batch; ++slot) {
            if (d_[kStopFlags][slot] != 0 && d_[kIsBlockStep][slot] == 0) {
                d_[kFirstTokenIds][slot] = -1;
                if (d_[kUsedListLen][slot] > 0) {
                    PushDynamicBlocks(slot);
                    d_[kEncoderBlockLens][slot] = d_[kUsedListLen][slot] = 0;
                    ++result_.released;
                }
            } else if (d_[kSeqLensThisTime][slot] != 0 && d_.Block(slot, NextColumn(slot)) == -1) {
                d_[kNeedBlockList][count++] = slot;
            }
        }
        result_.needy = result_.needed = count;
    }

    // Those that may go, first the one with the most blocks, of several the first slot. To preempt
    // one changes nothing about the others.
    std::vector<int64_t> Victims(bool exemptsLongest) const {
        const std::vector<int64_t>& used = d_[kUsedListLen];
        const int64_t exempt = exemptsLongest ? d_.dims.inputIds / d_.dims.blockSize : -1;
        std::vector<int64_t> victims;
        for (int64_t slot = 0; slot < d_.dims.batch; ++slot) {
            if (d_[kIsBlockStep][slot] == 0 && used[slot] > 0 && used[slot] != exempt) {
                victims.push_back(slot);
            }
        }
        std::stable_sort(victims.begin(), victims.end(),
                         [&](int64_t a, int64_t b) { return used[a] > used[b]; });
        return victims;
    }
    bool HasEnough() const { return result_.needed <= d_[kFreeListLen][0]; }
    bool Preempt() {
        for (const bool exemptsLongest : {true, false}) {
            if (HasEnough()) {
                return true;
            }
            for (const int64_t victim : Victims(exemptsLongest)) {
                Preempt(victim);
                if (HasEnough()) {
                    return true;
                }
            }
        }
        result_.free = d_[kFreeListLen][0];
        return false;
    }
    void Preempt(int64_t victim) {
        PushDynamicBlocks(victim);
        d_[kStepBlockList][d_[kStepLens][0]++] = victim;
        const auto end = d_[kNeedBlockList].begin() + d_[kNeedBlockLen][0];
        const auto entry = std::find(d_[kNeedBlockList].begin(), end, victim);
        if (entry != end) {
            *entry = -1;
            --result_.needed;
        }
        d_[kStopFlags][victim] = d_[kIsBlockStep][victim] = 1;
        d_[kSeqLensThisTime][victim] = d_[kSeqLensDecoder][victim] = 0;
        ++result_.preempted;
    }

    void Dispatch() {
        for (int64_t k = 0; k < d_[kNeedBlockLen][0]; ++k) {
            const int64_t slot = d_[kNeedBlockList][k];
            if (slot != -1 && d_[kStopFlags][slot] == 0) {
                d_.Block(slot, NextColumn(slot)) = Pop();
                ++d_[kUsedListLen][slot];
                ++result_.dispatched;
            }
            d_[kNeedBlockList][k] = -1;
        }
    }

    // Whether every slot that is to be recovered can be.
    bool PlanRecovery() {
        const StepDims& dims = d_.dims;
        int64_t& depth = d_[kStepLens][0];
        int64_t budget = d_[kFreeListLen][0];
        const int64_t firstTop = depth == 0 ? 0 : d_[kStepBlockList][depth - 1];
        const int64_t shared = dims.inputIds / dims.blockSize - d_[kEncoderBlockLens][firstTop];
        for (; depth > 0; --depth) {
            const int64_t slot = d_[kStepBlockList][depth - 1];
            const int64_t used = d_[kUsedListLen][slot];
            const int64_t first = d_[kEncoderBlockLens][slot];
            const int64_t longest =
                dims.inputIds / dims.blockSize + (dims.inputIds % dims.blockSize != 0 ? 1 : 0);
            const int64_t limit = isExact_ ? shared : std::max(used, longest - first);
            const int64_t grant = std::min(used + 1, limit);
            if (budget < grant) {
                break;
            }
            const int64_t prompt = d_[kOriSeqLensEncoder][slot];
            const int64_t generated = d_[kStepIdx][slot];
            if (grant < 0 || first < 0 || first + grant > dims.columns || prompt < 0 ||
                generated < 0 || generated > dims.preIds || prompt + generated < 1 ||
                prompt + generated > dims.inputIds) {
                return false;
            }
            d_[kRecoverBlockList][d_[kRecoverLens][0]++] = slot;
            d_[kIsBlockStep][slot] = 0;
            d_[kUsedListLen][slot] = grant;
            d_[kStepBlockList][depth - 1] = -1;
            budget -= grant;
        }
        d_[kNeedBlockLen][0] = 0;
        return true;
    }

    void ApplyRecovery() {
        for (int64_t k = 0; k < d_[kRecoverLens][0]; ++k) {
            const int64_t slot = d_[kRecoverBlockList][k];
            const int64_t prompt = d_[kOriSeqLensEncoder][slot];
            const int64_t generated = d_[kStepIdx][slot];
            d_[kSeqLensThisTime][slot] = d_[kSeqLensEncoder][slot] = prompt + generated;
            d_[kStopFlags][slot] = 0;
            d_.InputId(slot, prompt + generated - 1) = d_[kNextTokens][slot];
            d_.InputId(slot, 0) = d_[kFirstTokenIds][slot];
            for (int64_t i = 0; i < d_[kUsedListLen][slot]; ++i) {
                d_.Block(slot, d_[kEncoderBlockLens][slot] + i) = Pop();
            }
            for (int64_t i = 0; i + 1 < generated; ++i) {
                d_.InputId(slot, prompt + i) = d_.PreId(slot, i + 1);
            }
            ++result_.recovered;
        }
        d_[kRecoverLens][0] = 0;
    }

    StepData& d_;
    bool isExact_;
    StepResult result_;
};

// One run; data changes only when the outcome is kOk.
inline StepResult Step(StepData& data, bool isExact) {
    StepData after = data;
    const StepResult result = StepModel(after, isExact).Run();
    if (result.outcome == StepOutcome::kOk) {
        data = std::move(after);
    }
    return result;
}

}  // namespace reference

#endif  // ADVANCE_STEP_TESTS_REFERENCE_STEP_REFERENCE_H_
