// SPDX-License-Identifier: Apache-2.0
// Step and AdvanceStep on one batch, as a captured decode step has them.

#pragma once

#include <cstdint>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"

/// Step and AdvanceStep on one batch in device memory, as a captured decode step has them: with
/// conformance vllm they share lengths, block tables and the sampled tokens. Device 0 is set for as
/// long as it lives.
class DecodeBatch {
 public:
    /// Steps that can be made from the start.
    static constexpr int kMostSteps = 512;

    explicit DecodeBatch(int64_t numSeqs);
    ~DecodeBatch();
    DecodeBatch(const DecodeBatch&) = delete;
    DecodeBatch& operator=(const DecodeBatch&) = delete;

    /// Puts everything back to the start.
    void Restore();

    /// Ends the program if the tensors of both do not have the same contents.
    void RequireSame(const DecodeBatch& other) const;

    aclOpExecutor* PlanStep();
    aclOpExecutor* PlanAdvanceStep();
    /// Phase two on the context's default stream, or another.
    void RunStep(aclOpExecutor* executor, aclrtStream stream);
    void RunAdvanceStep(aclOpExecutor* executor, aclrtStream stream);

 private:
    struct DeviceTensor {
        std::vector<unsigned char> initial;
        void* memory;
        aclTensor* tensor;
    };

    template <typename T>
    void Add(aclDataType type, const std::vector<int64_t>& shape, const std::vector<T>& values);
    template <typename T>
    void AddSame(aclDataType type, const std::vector<int64_t>& shape, T value);

    int64_t numSeqs_;
    std::vector<DeviceTensor> tensors_;  // Step's 22, then what only AdvanceStep has
    void* workspace_ = nullptr;
    uint64_t workspaceSize_ = 0;
};
