// SPDX-License-Identifier: Apache-2.0
// Calls of AdvanceStep from C for peers.py, which has the tensors.

#pragma once

#include <cstdint>

#include "aclnn/acl_meta.h"

/// Full calls of one batch. peers.py has the same structure.
struct AdvanceStepCalls {
    int64_t runs;
    aclTensor* const* tensors;
    int64_t numSeqs;
    int64_t blockSize;
};

/// So many full calls: phase one, phase two, synchronisation. The first failure, or 0.
extern "C" int RunAdvanceStepCalls(const AdvanceStepCalls* calls);
