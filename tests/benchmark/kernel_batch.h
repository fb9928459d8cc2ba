// SPDX-License-Identifier: Apache-2.0
// A planned AdvanceStep launch without the calls around it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "acl/acl.h"
#include "src/aclnn/executor.h"
#include "tests/benchmark/bare_loop.h"

/// The emulated machine of a benchmark, for as long as it lives; one at a time.
class KernelMachine {
 public:
    /// Values of the settings; null leaves the default.
    struct Choice {
        const char* soc = nullptr;
        const char* threads = nullptr;
        const char* isa = nullptr;
    };

    explicit KernelMachine(const Choice& choice);
    ~KernelMachine();
    KernelMachine(const KernelMachine&) = delete;
    KernelMachine& operator=(const KernelMachine&) = delete;
};

/// Lengths of the sequences at the start. Equal ones are the caches' worst case: with 128 columns
/// of 8 bytes, the block ids that a step reads are 1 KiB apart, so they share an eighth of the sets
/// of the first cache or less.
enum class Lengths { kMixed, kEqual };

/// As many, in the first half of tables of so many tokens; the same in every run.
std::vector<int64_t> StartLengths(int64_t numSeqs, int64_t tokens, Lengths lengths);

/// A planned AdvanceStep launch on BareBatch's values, but for the lengths, in the memory of device
/// 0, to be run without stream and queue. Needs the static twin. Device 0 is set for as long as it
/// lives.
class KernelBatch {
 public:
    KernelBatch(int64_t numSeqs, int64_t maxBlocks, int64_t blockSize,
                Lengths lengths = Lengths::kMixed);
    ~KernelBatch();
    KernelBatch(const KernelBatch&) = delete;
    KernelBatch& operator=(const KernelBatch&) = delete;

    /// What seqLens holds at the start.
    const std::vector<int64_t>& start() const { return initial_.seqLens; }

    /// Steps from the start until a query would leave its table.
    int64_t steps() const { return steps_; }

    /// One step: all checks, then the update.
    void Run() const;

    /// Puts the lengths back to the start.
    void Restore();

    /// The repeatable executor whose launch this is.
    aclOpExecutor* executor() const { return executor_; }

 private:
    static constexpr size_t kTensors = 6;

    BareBatch initial_;
    int64_t steps_;
    void* memory_[kTensors] = {};
    aclTensor* tensors_[kTensors] = {};
    aclOpExecutor* executor_ = nullptr;
};
