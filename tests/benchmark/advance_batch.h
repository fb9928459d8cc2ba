#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "tests/benchmark/bare_loop.h"

/// AdvanceStep on a batch in device memory, with one padding row. Device 0 must be set.
class AdvanceBatch {
 public:
    static constexpr int64_t kFirstLength = 17;

    /// Copies a batch; all its lengths are kFirstLength.
    AdvanceBatch(const BareBatch& initial, int64_t blockSize);
    ~AdvanceBatch();
    AdvanceBatch(const AdvanceBatch&) = delete;
    AdvanceBatch& operator=(const AdvanceBatch&) = delete;

    /// Steps that the block table has room for, from the first length.
    int64_t mostSteps() const { return maxBlocks_ * blockSize_ - kFirstLength; }
    /// Begins anew if so many steps do not fit any more.
    void MakeRoom(int64_t steps);

    aclOpExecutor* PhaseOne() const { return PhaseOne(tensors_); }
    void PhaseTwo(aclOpExecutor* executor) const;

    /// Both phases and the synchronisation.
    void Call() const;
    /// The same, with six tensors that are created before and destroyed after.
    void CallWithNewTensors() const;

 private:
    static constexpr size_t kTensors = 6;
    static constexpr size_t kSeqLens = 3;
    using Tensors = std::array<aclTensor*, kTensors>;

    void CreateTensors(Tensors* tensors) const;
    static void DestroyTensors(const Tensors& tensors);
    aclOpExecutor* PhaseOne(const Tensors& tensors) const;

    int64_t numSeqs_;
    int64_t maxBlocks_;
    int64_t blockSize_;
    int64_t steps_ = 0;
    void* memory_[kTensors] = {};
    Tensors tensors_{};
};

/// Puts a batch of the bare loop back to the first length if so many steps do not fit any more.
void MakeRoom(BareBatch& batch, int64_t blockSize, int64_t steps);
