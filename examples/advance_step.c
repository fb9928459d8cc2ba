// SPDX-License-Identifier: Apache-2.0
/* The smallest complete program: four rows, three of which move one token forward. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "acl/acl.h"
#include "aclnnop/aclnn_advance_step.h"

enum { kNumSeqs = 4, kNumQueries = 3, kMaxBlocks = 4, kBlockSize = 4 };

static void Check(int code, const char* call) {
    if (code != 0) {
        const char* message = aclGetRecentErrMsg();
        fprintf(stderr, "%s returned %d: %s\n", call, code, message ? message : "no message");
        exit(EXIT_FAILURE);
    }
}
#define CHECK(call) Check((call), #call)

/* A device copy of values, described as a contiguous tensor of the given shape. */
static aclTensor* MakeTensor(const int64_t* values, int64_t rows, int64_t columns, void** address) {
    const int64_t shape[2] = {rows, columns};
    const size_t bytes = (size_t)(rows * columns) * sizeof(int64_t);
    CHECK(aclrtMalloc(address, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMemcpy(*address, bytes, values, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
    aclTensor* tensor =
        aclCreateTensor(shape, 2, ACL_INT64, NULL, 0, ACL_FORMAT_ND, shape, 2, *address);
    Check(tensor == NULL, "aclCreateTensor");
    return tensor;
}

static void Print(const char* name, const void* address) {
    int64_t values[kNumSeqs];
    CHECK(aclrtMemcpy(values, sizeof values, address, sizeof values, ACL_MEMCPY_DEVICE_TO_HOST));
    printf("%-15s", name);
    for (int row = 0; row < kNumSeqs; ++row) {
        printf(" %5" PRId64, values[row]);
    }
    printf("\n");
}

int main(void) {
    const int64_t inputTokens[kNumSeqs] = {0};
    const int64_t sampledTokenIds[kNumQueries] = {501, 502, 503};
    const int64_t inputPositions[kNumSeqs] = {4, 7, 11, 0};
    const int64_t seqLens[kNumSeqs] = {5, 8, 12, 0};
    const int64_t slotMapping[kNumSeqs] = {0};
    /* Wide enough for the longest sequence and its next token: more than 12 / kBlockSize columns.
     */
    const int64_t blockTables[kNumSeqs * kMaxBlocks] = {
        2, 7, -1, -1, /* positions 0 to 7 */
        0, 5, 6,  -1, /* 0 to 11 */
        9, 1, 3,  8,  /* 0 to 15 */
        0, 0, 0,  0,  /* padding */
    };

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    aclrtStream stream;
    CHECK(aclrtCreateStream(&stream));

    void* memory[6];
    aclTensor* tensors[6];
    tensors[0] = MakeTensor(inputTokens, kNumSeqs, 1, &memory[0]);
    tensors[1] = MakeTensor(sampledTokenIds, kNumQueries, 1, &memory[1]);
    tensors[2] = MakeTensor(inputPositions, kNumSeqs, 1, &memory[2]);
    tensors[3] = MakeTensor(seqLens, kNumSeqs, 1, &memory[3]);
    tensors[4] = MakeTensor(slotMapping, kNumSeqs, 1, &memory[4]);
    tensors[5] = MakeTensor(blockTables, kNumSeqs, kMaxBlocks, &memory[5]);

    uint64_t workspaceSize = 0;
    aclOpExecutor* executor = NULL;
    CHECK(aclnnAdvanceStepGetWorkspaceSize(tensors[0], tensors[1], tensors[2], tensors[3],
                                           tensors[4], tensors[5], kNumSeqs, kNumQueries,
                                           kBlockSize, &workspaceSize, &executor));
    void* workspace = NULL;
    if (workspaceSize > 0) {
        CHECK(aclrtMalloc(&workspace, workspaceSize, ACL_MEM_MALLOC_HUGE_FIRST));
    }
    CHECK(aclnnAdvanceStep(workspace, workspaceSize, executor, stream));
    CHECK(aclrtSynchronizeStream(stream));

    Print("inputTokens", memory[0]);
    Print("inputPositions", memory[2]);
    Print("seqLens", memory[3]);
    Print("slotMapping", memory[4]);

    for (int i = 0; i < 6; ++i) {
        CHECK(aclDestroyTensor(tensors[i]));
        CHECK(aclrtFree(memory[i]));
    }
    if (workspace != NULL) {
        CHECK(aclrtFree(workspace));
    }
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return EXIT_SUCCESS;
}
