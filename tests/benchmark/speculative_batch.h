// SPDX-License-Identifier: Apache-2.0
// A batch of AdvanceStepV2 with spec tokens, and the same update as a plain loop.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"

constexpr int64_t kSpecTokens = 4;
constexpr int64_t kSpecRows = kSpecTokens + 1;  // of a query
constexpr int64_t kSpecBlocks = 128;            // block ids of a query
constexpr int64_t kSpecBlockSize = 16;
/// Steps from the start, by up to kSpecRows positions, which begin in the first third of the table.
constexpr int64_t kMostSpecSteps = 256;

/// The tensors on the host. Rows of a query are next to each other.
struct PlainSpecBatch {
    explicit PlainSpecBatch(int64_t queries);

    /// In the order of the operator's arguments.
    std::array<std::vector<int64_t>*, 8> Tensors();

    std::vector<int64_t> inputTokens, sampledTokenIds, inputPositions, seqLens, slotMapping,
        blockTables, specToken, acceptedNum;
};

/// The update: one row after the other with / and %, no checks, no device.
void AdvanceSpecPlainly(PlainSpecBatch* batch, int64_t blockSize);

/// The same batch in device memory, and a repeatable executor of AdvanceStepV2. Device 0 must be
/// set.
class SpecBatch {
 public:
    explicit SpecBatch(int64_t queries);
    ~SpecBatch();
    SpecBatch(SpecBatch&&) = delete;

    /// Puts the positions back to the start.
    void Restart() { Upload(kInputPositions); }
    /// Phase two and the synchronisation.
    void Run() const;
    /// Ends the program if some steps from the start do not come to what the plain loop comes to.
    void RequireSame();

 private:
    static constexpr size_t kTensors = 8;
    static constexpr size_t kInputPositions = 2;

    void Upload(size_t index);

    PlainSpecBatch host_;  // at the start
    void* memory_[kTensors] = {};
    aclTensor* tensors_[kTensors] = {};
    aclOpExecutor* executor_ = nullptr;
};
