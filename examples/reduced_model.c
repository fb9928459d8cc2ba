// SPDX-License-Identifier: Apache-2.0
/* Streams made of configurations, a reduction on the vector cores that is captured and replayed,
 * the tasks of the model as a file for a trace viewer, and a copy whose addresses lie on the
 * device.
 *
 *   reduced_model [FILE]      writes the model's tasks to FILE */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "acl/acl.h"
#include "check.h"

enum { kElements = 1000, kReplays = 3, kBytes = kElements * 4 };

static aclrtStream MakeStream(uint32_t priority) {
    aclrtStream stream = NULL;
    aclrtStreamConfigHandle* const config = aclrtCreateStreamConfigHandle();
    CHECK(aclrtSetStreamConfigOpt(config, ACL_RT_STREAM_PRIORITY, &priority, sizeof(priority)));
    CHECK(aclrtCreateStreamV2(&stream, config));
    CHECK(aclrtDestroyStreamConfigHandle(config));
    return stream;
}

int main(int argc, char** argv) {
    static int32_t host[kElements];
    void* sum = NULL;
    void* added = NULL;
    void* copied = NULL;
    void* pointers = NULL;
    aclmdlRI model = NULL;
    uint32_t number = 0;
    int wrong = 0;

    CHECK(aclrtSetDevice(0));
    CHECK(aclrtMalloc(&sum, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMalloc(&added, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMalloc(&copied, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMalloc(&pointers, 2 * sizeof(void*), ACL_MEM_MALLOC_HUGE_FIRST));
    for (int i = 0; i < kElements; ++i) {
        host[i] = i;
    }
    CHECK(aclrtMemset(sum, kBytes, 0, kBytes));
    CHECK(aclrtMemcpy(added, kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
    void* const places[2] = {copied, sum};
    CHECK(aclrtMemcpy(pointers, sizeof(places), places, sizeof(places), ACL_MEMCPY_HOST_TO_DEVICE));

    const aclrtStream stream = MakeStream(2);
    CHECK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
    CHECK(aclrtReduceAsync(sum, added, kBytes, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_INT32, stream,
                           NULL));
    void** const to = (void**)pointers;
    CHECK(aclrtMemcpyAsyncWithOffset(to, kBytes, 0, (const void**)(to + 1), kBytes, 0,
                                     ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream));
    CHECK(aclmdlRICaptureEnd(stream, &model));
    CHECK(aclmdlRIGetId(model, &number));
    if (argc > 1) {
        CHECK(aclmdlRIDebugJsonPrint(model, argv[1], ACL_MDLRI_DEBUG_JSON_PRINT_VERBOSE));
        printf("the tasks of model %u are in %s\n", number, argv[1]);
    }
    for (int i = 0; i < kReplays; ++i) {
        CHECK(aclmdlRIExecuteAsync(model, stream));
    }
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtMemcpy(host, kBytes, copied, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
    for (int i = 0; i < kElements; ++i) {
        wrong += host[i] != kReplays * i;
    }
    printf("element %d was added %d times: %d\n", kElements - 1, kReplays, host[kElements - 1]);
    CHECK(aclmdlRIDestroy(model));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtFree(sum));
    CHECK(aclrtFree(added));
    CHECK(aclrtFree(copied));
    CHECK(aclrtFree(pointers));
    CHECK(aclrtResetDevice(0));
    return wrong == 0 ? 0 : 1;
}
