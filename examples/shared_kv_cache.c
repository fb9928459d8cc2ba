// SPDX-License-Identifier: Apache-2.0
/* A KV cache that two processes share: one writes keys, the other reads them where they lie. The
 * writer exports the cache by a shareable handle, and two notifies that hand it to and fro. The
 * reader is a process of its own, in the white lists by its process id. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "acl/acl.h"
#include "check.h"

enum { kSteps = 4, kKeys = 8, kCacheBytes = 2 << 20, kKeyText = 65 };

/* What the reader needs to know. */
typedef struct {
    uint64_t cache;
    char written[kKeyText];
    char read[kKeyText];
} Invitation;

static void RequireSystem(int holds, const char* what) {
    if (!holds) {
        perror(what);
        exit(1);
    }
}

static void* Map(aclrtDrvMemHandle memory) {
    void* address = NULL;
    CHECK(aclrtReserveMemAddress(&address, kCacheBytes, 0, NULL, 0));
    CHECK(aclrtMapMem(address, kCacheBytes, 0, memory, 0));
    return address;
}

static void Unmap(void* address, aclrtDrvMemHandle memory) {
    CHECK(aclrtUnmapMem(address));
    CHECK(aclrtFreePhysical(memory));
    CHECK(aclrtReleaseMemAddress(address));
}

static int Read(int from) {
    Invitation invitation;
    aclrtDrvMemHandle memory = NULL;
    aclrtNotify written = NULL;
    aclrtNotify seen = NULL;
    int32_t keys[kKeys];
    int wrong = 0;
    RequireSystem(read(from, &invitation, sizeof(invitation)) == (ssize_t)sizeof(invitation),
                  "read");
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtMemImportFromShareableHandle(invitation.cache, 0, &memory));
    CHECK(aclrtNotifyImportByKey(&written, invitation.written, 0));
    CHECK(aclrtNotifyImportByKey(&seen, invitation.read, 0));
    void* const cache = Map(memory);
    for (int step = 0; step < kSteps; ++step) {
        CHECK(aclrtWaitAndResetNotify(written, NULL, 0));
        CHECK(aclrtSynchronizeStream(NULL));
        CHECK(aclrtMemcpy(keys, sizeof(keys), cache, sizeof(keys), ACL_MEMCPY_DEVICE_TO_HOST));
        CHECK(aclrtRecordNotify(seen, NULL));
        CHECK(aclrtSynchronizeStream(NULL));
        printf("the reader sees step %d: keys %d to %d\n", step, keys[0], keys[kKeys - 1]);
        wrong += keys[0] != step * 100 || keys[kKeys - 1] != step * 100 + kKeys - 1;
    }
    Unmap(cache, memory);
    CHECK(aclrtDestroyNotify(written));
    CHECK(aclrtDestroyNotify(seen));
    CHECK(aclrtResetDevice(0));
    return wrong;
}

static void Write(int to, int32_t reader) {
    const aclrtPhysicalMemProp prop = {ACL_MEM_HANDLE_TYPE_NONE,
                                       ACL_MEM_ALLOCATION_TYPE_PINNED,
                                       ACL_HBM_MEM_HUGE,
                                       {0, ACL_MEM_LOCATION_TYPE_DEVICE},
                                       0};
    Invitation invitation;
    aclrtDrvMemHandle memory = NULL;
    aclrtNotify written = NULL;
    aclrtNotify seen = NULL;
    int32_t keys[kKeys];
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtMallocPhysical(&memory, kCacheBytes, &prop, 0));
    void* const cache = Map(memory);
    CHECK(aclrtCreateNotify(&written, ACL_NOTIFY_DEFAULT));
    CHECK(aclrtCreateNotify(&seen, ACL_NOTIFY_DEFAULT));
    CHECK(aclrtMemExportToShareableHandle(memory, ACL_MEM_HANDLE_TYPE_NONE, 0, &invitation.cache));
    CHECK(aclrtMemSetPidToShareableHandle(invitation.cache, &reader, 1));
    CHECK(aclrtNotifyGetExportKey(written, invitation.written, kKeyText, 0));
    CHECK(aclrtNotifySetImportPid(written, &reader, 1));
    CHECK(aclrtNotifyGetExportKey(seen, invitation.read, kKeyText, 0));
    CHECK(aclrtNotifySetImportPid(seen, &reader, 1));
    RequireSystem(write(to, &invitation, sizeof(invitation)) == (ssize_t)sizeof(invitation),
                  "write");
    for (int step = 0; step < kSteps; ++step) {
        for (int key = 0; key < kKeys; ++key) {
            keys[key] = step * 100 + key;
        }
        CHECK(aclrtMemcpy(cache, kCacheBytes, keys, sizeof(keys), ACL_MEMCPY_HOST_TO_DEVICE));
        CHECK(aclrtRecordNotify(written, NULL));
        CHECK(aclrtWaitAndResetNotify(seen, NULL, 0)); /* the next step overwrites the cache */
        CHECK(aclrtSynchronizeStream(NULL));
    }
    Unmap(cache, memory);
    CHECK(aclrtDestroyNotify(written));
    CHECK(aclrtDestroyNotify(seen));
    CHECK(aclrtResetDevice(0));
}

int main(void) {
    int ends[2];
    int status = 1;
    RequireSystem(pipe(ends) == 0, "pipe");
    const pid_t reader = fork(); /* before the runtime is used: each process has its own */
    RequireSystem(reader >= 0, "fork");
    if (reader == 0) {
        close(ends[1]);
        return Read(ends[0]);
    }
    close(ends[0]);
    Write(ends[1], reader);
    RequireSystem(waitpid(reader, &status, 0) == reader, "waitpid");
    printf(status == 0 ? "the reader saw every step\n" : "the reader failed\n");
    return status == 0 ? 0 : 1;
}
