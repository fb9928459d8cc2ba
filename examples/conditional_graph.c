// SPDX-License-Identifier: Apache-2.0
/* A captured graph that decides on the device: a loop that adds as often as a variable says, and a
 * copy of the sum in one of two replays. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "acl/acl.h"
#include "check.h"

enum { kElements = 1000, kTurns = 7, kBytes = kElements * 4 };

/* Memory of the device, with the same number in all elements. */
static void* Filled(int32_t number) {
    static int32_t host[kElements];
    void* memory = NULL;
    for (int i = 0; i < kElements; ++i) {
        host[i] = number;
    }
    CHECK(aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMemcpy(memory, kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
    return memory;
}

static int32_t LastOf(const void* memory) {
    static int32_t host[kElements];
    CHECK(aclrtMemcpy(host, kBytes, memory, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
    return host[kElements - 1];
}

static void AddAsync(void* to, const void* added, uint64_t bytes, aclrtStream stream) {
    CHECK(aclrtReduceAsync(to, added, bytes, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_INT32, stream,
                           NULL));
}

/* Appends a task with one sub-graph, and begins the capture of that on `body`. */
static void BeginBody(aclmdlRICondHandle handle, aclmdlRICondTaskType type, aclrtStream stream,
                      aclrtStream body) {
    aclmdlRI part = NULL;
    const aclmdlRICondTaskParams params = {handle, type, 1, &part};
    CHECK(aclmdlRIAddCondTask(params, stream, 0));
    CHECK(aclmdlRICaptureToModelRIBegin(body, part, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
}

int main(void) {
    aclrtStream stream = NULL;
    aclrtStream body = NULL;
    aclmdlRI model = NULL;
    aclmdlRI ended = NULL;
    aclmdlRICaptureStatus status;
    aclmdlRICondHandle loop = NULL;
    aclmdlRICondHandle choice = NULL;
    uint64_t* turns = NULL;
    uint64_t* copies = NULL;

    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtCreateStream(&body));
    void* const sum = Filled(0);
    void* const copied = Filled(0);
    void* const three = Filled(3);
    void* const minusOne = Filled(-1);

    CHECK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
    CHECK(aclmdlRICaptureGetInfo(stream, &status, &model));
    /* The loop's variable is kTurns at the start of every replay; its body counts it down. */
    CHECK(aclmdlRICondHandleCreate(model, kTurns, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &loop));
    CHECK(aclmdlRICondHandleGetCondPtr(loop, &turns));
    BeginBody(loop, ACL_MODEL_RI_COND_TYPE_WHILE, stream, body);
    AddAsync(sum, three, kBytes, body);
    AddAsync(turns, minusOne, sizeof(int32_t), body);
    CHECK(aclmdlRICaptureEnd(body, &ended));
    /* The host sets this variable between replays. */
    CHECK(aclmdlRICondHandleCreate(model, 0, (aclmdlRICondHandleFlag)0, &choice));
    CHECK(aclmdlRICondHandleGetCondPtr(choice, &copies));
    BeginBody(choice, ACL_MODEL_RI_COND_TYPE_IF, stream, body);
    CHECK(aclrtMemcpyAsync(copied, kBytes, sum, kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE, body));
    CHECK(aclmdlRICaptureEnd(body, &ended));
    CHECK(aclmdlRICaptureEnd(stream, &model));

    int wrong = 0;
    for (int32_t replay = 0; replay < 2; ++replay) {
        const uint64_t copy = (uint64_t)replay;
        CHECK(aclrtMemcpy(copies, sizeof(copy), &copy, sizeof(copy), ACL_MEMCPY_HOST_TO_DEVICE));
        CHECK(aclmdlRIExecuteAsync(model, stream));
        CHECK(aclrtSynchronizeStream(stream));
        const int32_t added = LastOf(sum);
        const int32_t seen = LastOf(copied);
        printf("replay %d: the sum is %d, its copy %d\n", replay, added, seen);
        wrong += added != 3 * kTurns * (replay + 1) || seen != added * replay;
    }
    CHECK(aclmdlRIDestroy(model));
    CHECK(aclrtFree(sum));
    CHECK(aclrtFree(copied));
    CHECK(aclrtFree(three));
    CHECK(aclrtFree(minusOne));
    CHECK(aclrtDestroyStream(body));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    return wrong == 0 ? 0 : 1;
}
