// SPDX-License-Identifier: Apache-2.0
// The code under test: the state of a decode batch in device memory.

#pragma once

#include <cstdint>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"

/// Sequences on a paged KV cache. All sequences get one token in each step.
class DecodeBatch {
 public:
    /// `blockTable` has a row of block ids for each sequence.
    DecodeBatch(const std::vector<int64_t>& seqLens, const std::vector<int64_t>& blockTable,
                int64_t blockSize);
    ~DecodeBatch();
    DecodeBatch(const DecodeBatch&) = delete;
    DecodeBatch& operator=(const DecodeBatch&) = delete;

    /// Advances every sequence by its sampled token. Returns the slots of the new tokens in the KV
    /// cache. Throws std::runtime_error with the device's message; nothing has changed then.
    std::vector<int64_t> Step(const std::vector<int64_t>& sampled, aclrtStream stream);

 private:
    int64_t blockSize_;
    int64_t numQueries_;
    std::vector<void*> memory_;
    std::vector<aclTensor*> tensors_;
};
