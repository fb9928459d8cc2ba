// SPDX-License-Identifier: Apache-2.0
// Implements the calls from C.

#include "tests/benchmark/peer_calls.h"

#include "acl/acl.h"
#include "aclnnop/aclnn_advance_step.h"

int RunAdvanceStepCalls(const AdvanceStepCalls* calls) {
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
