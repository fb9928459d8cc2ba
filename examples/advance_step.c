// SPDX-License-Identifier: Apache-2.0
// The program of the README: two sequences move one token forward. Both calls of the operator.
// [program]
#include <inttypes.h>
#include <stdio.h>

#include "acl/acl.h"
#include "aclnnop/aclnn_advance_step.h"

int main(void) {
    // Two sequences of 5 and 8 tokens and a row of padding, on a KV cache with blocks of 4 tokens.
    int64_t tokens[3] = {0}, sampled[2] = {101, 102}, positions[3] = {0}, lengths[3] = {5, 8, 0};
    int64_t slots[3] = {0}, blocks[9] = {2, 7, 0, 4, 6, 9, 0, 0, 0};
    int64_t* const host[6] = {tokens, sampled, positions, lengths, slots, blocks};
    const int64_t shapes[6][2] = {{3, 1}, {2, 1}, {3, 1}, {3, 1}, {3, 1}, {3, 3}};

    if (aclInit(NULL) != 0 || aclrtSetDevice(0) != 0) {
        fprintf(stderr, "%s\n", aclGetRecentErrMsg());
        return 1;
    }
    void* memory[6] = {NULL};
    aclTensor* tensors[6];
    for (int i = 0; i < 6; ++i) {
        const size_t bytes = (size_t)(shapes[i][0] * shapes[i][1]) * sizeof(int64_t);
        aclrtMalloc(&memory[i], bytes, ACL_MEM_MALLOC_HUGE_FIRST);
        aclrtMemcpy(memory[i], bytes, host[i], bytes, ACL_MEMCPY_HOST_TO_DEVICE);
        tensors[i] = aclCreateTensor(shapes[i], 2, ACL_INT64, NULL, 0, ACL_FORMAT_ND, shapes[i], 2,
                                     memory[i]);
    }

    uint64_t workspaceSize = 0;
    aclOpExecutor* executor = NULL;
    int code =
        aclnnAdvanceStepGetWorkspaceSize(tensors[0], tensors[1], tensors[2], tensors[3], tensors[4],
                                         tensors[5], 3, 2, 4, &workspaceSize, &executor);
    if (code == 0) code = aclnnAdvanceStep(NULL, workspaceSize, executor, NULL);
    if (code == 0) code = aclrtSynchronizeStream(NULL);
    if (code != 0) fprintf(stderr, "%d: %s\n", code, aclGetRecentErrMsg());

    aclrtMemcpy(slots, sizeof slots, memory[4], sizeof slots, ACL_MEMCPY_DEVICE_TO_HOST);
    printf("the new tokens go to slots %" PRId64 " and %" PRId64 "\n", slots[0], slots[1]);
    for (int i = 0; i < 6; ++i) {
        aclDestroyTensor(tensors[i]);
        aclrtFree(memory[i]);
    }
    aclrtResetDevice(0);
    aclFinalize();
    return code != 0;
}
// [/program]
