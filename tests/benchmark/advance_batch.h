// SPDX-License-Identifier: Apache-2.0
// Batches of AdvanceStep and of the bare loop, for the benchmarks.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "tests/benchmark/bare_loop.h"
#include "tests/benchmark/require.h"

/// A batch of the bare loop as serving has it: lengths of all sizes, up to half of what the block
/// table has room for; the same in every run. With equal ones the block ids that a step reads would
/// share few sets of the caches.
BareBatch MakeMixedBatch(int64_t numSeqs, int64_t maxBlocks, int64_t blockSize);

/// Steps of AdvanceStep's peer, the bare loop.
class BareSteps {
 public:
    BareSteps(BareBatch initial, int64_t blockSize);

    /// Steps that the block table has room for from the initial lengths.
    int64_t mostSteps() const { return mostSteps_; }
    /// Begins anew if so many steps do not fit any more.
    void MakeRoom(int64_t steps);
    void Run() { AdvanceBareLoop(batch_, blockSize_); }
    const BareBatch& batch() const { return batch_; }

 private:
    BareBatch batch_;
    std::vector<int64_t> lengths_;
    int64_t blockSize_;
    int64_t mostSteps_;
    int64_t steps_ = 0;
};

/// AdvanceStep on a batch in device memory, with one padding row. Device 0 must be set.
class AdvanceBatch {
 public:
    /// Copies a batch.
    AdvanceBatch(const BareBatch& initial, int64_t blockSize);
    ~AdvanceBatch();
    AdvanceBatch(AdvanceBatch&&) = delete;

    /// As BareSteps.
    int64_t mostSteps() const { return mostSteps_; }
    void MakeRoom(int64_t steps);

    aclOpExecutor* PhaseOne() const { return PhaseOne(tensors_); }
    void PhaseTwo(aclOpExecutor* executor) const;

    /// Phase two and the synchronisation, once an iteration of the benchmark. Ends the executor.
    template <typename State>
    void Repeat(State& state, aclOpExecutor* executor) {
        Require(aclSetAclOpExecutorRepeatable(executor));
        for (auto _ : state) {
            MakeRoom(1);
            PhaseTwo(executor);
            Require(aclrtSynchronizeStream(nullptr));
        }
        Require(aclDestroyAclOpExecutor(executor));
    }

    /// Copies tokens, positions, lengths and slots to the host. The other members are not set.
    BareBatch Outputs() const;

    /// Both phases and the synchronisation.
    void Call() const;
    /// The same, with six tensors that are created before and destroyed after.
    void CallWithNewTensors() const;

 private:
    static constexpr size_t kTensors = 6;
    // The places of the tensors that a step writes.
    static constexpr size_t kInputTokens = 0;
    static constexpr size_t kInputPositions = 2;
    static constexpr size_t kSeqLens = 3;
    static constexpr size_t kSlotMapping = 4;
    using Tensors = std::array<aclTensor*, kTensors>;

    void CreateTensors(Tensors* tensors) const;
    static void DestroyTensors(const Tensors& tensors);
    aclOpExecutor* PhaseOne(const Tensors& tensors) const;

    std::vector<int64_t> lengths_;
    int64_t numSeqs_;
    int64_t maxBlocks_;
    int64_t blockSize_;
    int64_t mostSteps_;
    int64_t steps_ = 0;
    void* memory_[kTensors] = {};
    Tensors tensors_{};
};
