// SPDX-License-Identifier: Apache-2.0
// Calls of AdvanceStep from C for peers.py, which has the tensors: without what ctypes costs.
#include <cstdint>

#include "acl/acl.h"
#include "aclnnop/aclnn_advance_step.h"

/// Full calls of one batch. peers.py has the same structure.
struct AdvanceStepCalls {
    int64_t runs;
    aclTensor* const* tensors;
    int64_t numSeqs;
    int64_t blockSize;
};

/// So many full calls: phase one, phase two, synchronisation. The first failure, or 0.
extern "C" int RunAdvanceStepCalls(const AdvanceStepCalls* calls) {
    aclTensor* const* const tensors = calls->tensors;
    const int64_t numSeqs = calls->numSeqs;
    for (int64_t done = 0; done < calls->runs; ++done) {
        uint64_t workspaceSize = 0;
        aclOpExecutor* executor = nullptr;
        int code = aclnnAdvanceStepGetWorkspaceSize(tensors[0], tensors[1], tensors[2], tensors[3],
                                                    tensors[4], tensors[5], numSeqs, numSeqs - 1,
                                                    calls->blockSize, &workspaceSize, &executor);
        if (code == 0) {
            code = aclnnAdvanceStep(nullptr, 0, executor, nullptr);
        }
        if (code == 0) {
            code = aclrtSynchronizeStream(nullptr);
        }
        if (code != 0) {
            return code;
        }
    }
    return 0;
}
