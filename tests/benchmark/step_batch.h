// SPDX-License-Identifier: Apache-2.0
// A batch that aclnnStep and SEED step from the same state, once and again.

#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "tests/benchmark/seed_step.h"

/// States of a decode batch before a step. Every slot has one block of the host's allocator and 1
/// to 4 dynamic ones; blocks have 16 tokens, which is vLLM's default.
enum class StepCase {
    /// One slot in 16 needs a block, as in steady decoding; one in 256 has finished. Blocks abound.
    kNoPressure,
    /// The last two fifths need a block and none is free: of the slots with most blocks, which are
    /// among the first two fifths, a tenth of the batch is preempted.
    kTenthPreempted,
    /// Every other slot waits for recovery, and there are blocks for all of them.
    kHalfRecovered,
};

/// Columns of the tensors of tokens. Only recovered slots look at tokens.
struct StepTokens {
    int64_t input = 128;  // of inputIds
    int64_t pre = 96;     // of preIds
};

SeedState MakeStepState(StepCase which, int64_t batch, const StepTokens& tokens = {});

/// The library's device tensors and SEED's vectors with the same state. Device 0 is set for as long
/// as it lives. Ends the program if one step of the library and one of SEED do not come to the
/// same.
class StepBatch {
 public:
    explicit StepBatch(const SeedState& start);
    ~StepBatch();
    StepBatch(StepBatch&&) = delete;

    /// What a step changes, and no more, put back by plain copies: not part of what is measured.
    void RestoreLibrary();
    void RestoreSeed();

    /// One public call, a run of a repeatable executor and the synchronisation, and one of SEED.
    void RunLibrary();
    void RunSeed();
    /// As RunLibrary, with phase one before.
    void CallLibrary();

    /// Slots that a step preempts, and recovers.
    int64_t preempted() const { return preempted_; }
    int64_t recovered() const { return recovered_; }
    /// Bytes that a step must look at, or changes.
    int64_t bytes() const { return bytes_; }
    /// The same in whole lines of the caches, where each row of the table is looked at.
    int64_t lineBytes() const;

 private:
    static constexpr size_t kTensors = 22;

    // A run of bytes that a step changes.
    struct Change {
        const unsigned char* start;
        unsigned char* seed;
        unsigned char* library;
        size_t size;
    };

    aclOpExecutor* PhaseOne();
    void PhaseTwo(aclOpExecutor* executor);
    void NoteChanges(const unsigned char* start, unsigned char* seed, void* library, size_t size);
    void RequireSame();

    SeedState start_, seed_;
    std::vector<Change> changes_;
    int64_t preempted_ = 0;
    int64_t recovered_ = 0;
    int64_t bytes_ = 0;
    std::array<void*, kTensors> memory_{};
    std::array<aclTensor*, kTensors> tensors_{};
    void* workspace_ = nullptr;
    uint64_t workspaceSize_ = 0;
    aclOpExecutor* executor_ = nullptr;
};
