// SPDX-License-Identifier: Apache-2.0
/* A tour of the runtime with the functions of the CANN documentation and nothing else: device and
 * context, two streams, events with timing, pinned memory and asynchronous copies, a callback
 * thread, a notify, timed synchronisation, capture with fork and join, replay, and errors. Every
 * result is checked; the exit status is 1 at the first that is wrong. Compiles as C and as C++. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"
#include "check.h"

enum { kCount = 4096, kHalf = kCount / 2, kPatience = 60000 /* ms */ };
static const size_t kBytes = kCount * sizeof(int32_t);
static const size_t kHalfBytes = kHalf * sizeof(int32_t);

/* A call that is to be refused, with a message that names it. */
static void Refused(int code, int expected, const char* name, const char* call) {
    const char* message = aclGetRecentErrMsg();
    if (code != expected || message == NULL || strstr(message, name) == NULL) {
        fprintf(stderr, "%s returned %d: %s; expected %d\n", call, code,
                message ? message : "no message", expected);
        exit(EXIT_FAILURE);
    }
    printf("  %d  %s\n", code, message);
}
#define REFUSED(expected, name, call) Refused((call), (expected), (name), #call)

typedef struct {
    aclrtStream compute;
    aclrtStream copy;
    int32_t* input;  /* pinned */
    int32_t* output; /* pinned */
    char* device;
} Tour;

static void Fill(int32_t* values, int32_t first, int32_t step) {
    for (int32_t i = 0; i < kCount; ++i) {
        values[i] = first + i * step;
    }
}

static void* PinnedMemory(void) {
    void* memory = NULL;
    CHECK(aclrtMallocHost(&memory, kBytes));
    return memory;
}

static aclrtEvent SyncEvent(void) {
    aclrtEvent event = NULL;
    CHECK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    return event;
}

/* One stream copies in, the other copies out once that has happened. */
static void CopiesAndEvents(const Tour* tour) {
    aclrtEvent begin = NULL;
    aclrtEvent end = NULL;
    aclrtEvent copied = SyncEvent();
    CHECK(aclrtCreateEvent(&begin));
    CHECK(aclrtCreateEvent(&end));

    Fill(tour->input, 7, 3);
    Fill(tour->output, -1, 0);
    CHECK(aclrtRecordEvent(begin, tour->compute));
    CHECK(aclrtMemcpyAsync(tour->device, kBytes, tour->input, kBytes, ACL_MEMCPY_HOST_TO_DEVICE,
                           tour->compute));
    CHECK(aclrtRecordEvent(copied, tour->compute));
    CHECK(aclrtStreamWaitEvent(tour->copy, copied));
    CHECK(aclrtMemcpyAsync(tour->output, kBytes, tour->device, kBytes, ACL_MEMCPY_DEVICE_TO_HOST,
                           tour->copy));
    CHECK(aclrtRecordEvent(end, tour->copy));
    CHECK(aclrtSynchronizeEvent(end));
    REQUIRE(memcmp(tour->input, tour->output, kBytes) == 0);

    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    CHECK(aclrtQueryEventStatus(copied, &status));
    REQUIRE(status == ACL_EVENT_RECORDED_STATUS_COMPLETE);
    float milliseconds = -1.0F;
    CHECK(aclrtEventElapsedTime(&milliseconds, begin, end));
    REQUIRE(milliseconds >= 0.0F);
    printf("copies through two streams: %.3f ms\n", (double)milliseconds);

    CHECK(aclrtDestroyEvent(begin));
    CHECK(aclrtDestroyEvent(end));
    CHECK(aclrtDestroyEvent(copied));
}

typedef struct {
    pthread_mutex_t mutex; /* guards subscribed */
    pthread_cond_t changed;
    int subscribed;
    int ended;      /* of the callback thread alone */
    int32_t* input; /* what Produce writes */
} Callbacks;

/* aclrtProcessReport runs one callback at a time, until one has ended the thread. */
static void* CallbackThread(void* argument) {
    Callbacks* callbacks = (Callbacks*)argument;
    pthread_mutex_lock(&callbacks->mutex);
    while (!callbacks->subscribed) {
        pthread_cond_wait(&callbacks->changed, &callbacks->mutex);
    }
    pthread_mutex_unlock(&callbacks->mutex);
    while (!callbacks->ended) {
        CHECK(aclrtProcessReport(kPatience));
    }
    return NULL;
}

static void Produce(void* argument) { Fill(((Callbacks*)argument)->input, 100, 2); }
static void End(void* argument) { ((Callbacks*)argument)->ended = 1; }

/* A callback in the middle of a stream writes what the copy behind it takes. */
static void CallbackInAStream(const Tour* tour) {
    Callbacks callbacks;
    memset(&callbacks, 0, sizeof callbacks);
    callbacks.input = tour->input;
    REQUIRE(pthread_mutex_init(&callbacks.mutex, NULL) == 0);
    REQUIRE(pthread_cond_init(&callbacks.changed, NULL) == 0);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, &CallbackThread, &callbacks) == 0);
    CHECK(aclrtSubscribeReport((uint64_t)thread, tour->compute));
    pthread_mutex_lock(&callbacks.mutex);
    callbacks.subscribed = 1;
    pthread_cond_signal(&callbacks.changed);
    pthread_mutex_unlock(&callbacks.mutex);

    Fill(tour->input, 0, 0);
    CHECK(aclrtLaunchCallback(&Produce, &callbacks, ACL_CALLBACK_BLOCK, tour->compute));
    CHECK(aclrtMemcpyAsync(tour->device, kBytes, tour->input, kBytes, ACL_MEMCPY_HOST_TO_DEVICE,
                           tour->compute));
    CHECK(aclrtMemcpyAsync(tour->output, kBytes, tour->device, kBytes, ACL_MEMCPY_DEVICE_TO_HOST,
                           tour->compute));
    CHECK(aclrtLaunchCallback(&End, &callbacks, ACL_CALLBACK_NO_BLOCK, tour->compute));
    CHECK(aclrtSynchronizeStream(tour->compute));
    REQUIRE(tour->output[0] == 100 && tour->output[kCount - 1] == 100 + 2 * (kCount - 1));

    REQUIRE(pthread_join(thread, NULL) == 0);
    CHECK(aclrtUnSubscribeReport((uint64_t)thread, tour->compute));
    pthread_cond_destroy(&callbacks.changed);
    pthread_mutex_destroy(&callbacks.mutex);
    printf("callbacks ran on a thread of the program\n");
}

/* A stream waits for a flag that another stream sets later; meanwhile a timed wait runs out. */
static void NotifyAndTimeout(const Tour* tour) {
    aclrtNotify notify = NULL;
    CHECK(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
    CHECK(aclrtWaitAndResetNotify(notify, tour->copy, 0));
    CHECK(aclrtMemcpyAsync(tour->output, kBytes, tour->device, kBytes, ACL_MEMCPY_DEVICE_TO_HOST,
                           tour->copy));
    printf("a stream waits for a flag that nobody has set:\n");
    REFUSED(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, "aclrtSynchronizeStreamWithTimeout",
            aclrtSynchronizeStreamWithTimeout(tour->copy, 10));

    CHECK(aclrtMemsetAsync(tour->device, kBytes, 0x11, kBytes, tour->compute));
    CHECK(aclrtRecordNotify(notify, tour->compute));
    CHECK(aclrtSynchronizeStreamWithTimeout(tour->copy, kPatience));
    REQUIRE(tour->output[0] == 0x11111111 && tour->output[kCount - 1] == 0x11111111);
    CHECK(aclrtSynchronizeStream(tour->compute));
    CHECK(aclrtDestroyNotify(notify));
}

/* Copies the input in; then one stream clears the second half while the other copies the first half
 * out; then the second half follows. */
static void ForkAndJoin(const Tour* tour, aclrtEvent forked, aclrtEvent joined) {
    CHECK(aclrtMemcpyAsync(tour->device, kBytes, tour->input, kBytes, ACL_MEMCPY_HOST_TO_DEVICE,
                           tour->compute));
    CHECK(aclrtRecordEvent(forked, tour->compute));
    CHECK(aclrtStreamWaitEvent(tour->copy, forked));
    CHECK(aclrtMemsetAsync(tour->device + kHalfBytes, kHalfBytes, 0, kHalfBytes, tour->compute));
    CHECK(aclrtMemcpyAsync(tour->output, kHalfBytes, tour->device, kHalfBytes,
                           ACL_MEMCPY_DEVICE_TO_HOST, tour->copy));
    CHECK(aclrtRecordEvent(joined, tour->copy));
    CHECK(aclrtStreamWaitEvent(tour->compute, joined));
    CHECK(aclrtMemcpyAsync(tour->output + kHalf, kHalfBytes, tour->device + kHalfBytes, kHalfBytes,
                           ACL_MEMCPY_DEVICE_TO_HOST, tour->compute));
}

static void RequireForkedAndJoined(const Tour* tour) {
    REQUIRE(memcmp(tour->input, tour->output, kHalfBytes) == 0);
    for (int i = kHalf; i < kCount; ++i) {
        REQUIRE(tour->output[i] == 0);
    }
}

static void CaptureAndReplay(const Tour* tour) {
    aclrtEvent forked = SyncEvent();
    aclrtEvent joined = SyncEvent();
    Fill(tour->output, -1, 0);
    CHECK(aclmdlRICaptureBegin(tour->compute, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    ForkAndJoin(tour, forked, joined);

    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    CHECK(aclmdlRICaptureGetInfo(tour->copy, &status, NULL));
    REQUIRE(status == ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE); /* it has joined */
    printf("refused while a capture is under way, which goes on:\n");
    REFUSED(ACL_ERROR_RT_STREAM_CAPTURED, "aclrtSynchronizeStream",
            aclrtSynchronizeStream(tour->compute));
    REFUSED(ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT, "aclrtMemcpy",
            aclrtMemcpy(tour->device, kBytes, tour->input, kBytes, ACL_MEMCPY_HOST_TO_DEVICE));

    aclmdlRI model = NULL;
    CHECK(aclmdlRICaptureEnd(tour->compute, &model));
    CHECK(aclrtSynchronizeStream(tour->compute));
    REQUIRE(tour->output[0] == -1); /* recorded, not run */

    for (int32_t round = 1; round <= 3; ++round) {
        Fill(tour->input, 1000 * round, round);
        Fill(tour->output, -1, 0);
        CHECK(aclmdlRIExecuteAsync(model, tour->compute));
        CHECK(aclrtSynchronizeStreamWithTimeout(tour->compute, kPatience));
        RequireForkedAndJoined(tour);
    }
    Fill(tour->input, 5, 5);
    CHECK(aclmdlRIExecute(model, kPatience));
    RequireForkedAndJoined(tour);
    printf("a capture over two streams was replayed four times\n");

    CHECK(aclmdlRIDestroy(model));
    CHECK(aclrtDestroyEvent(forked));
    CHECK(aclrtDestroyEvent(joined));
}

static void Errors(const Tour* tour) {
    printf("errors say what was wrong:\n");
    REFUSED(ACL_ERROR_RT_PARAM_INVALID, "aclrtMemcpy",
            aclrtMemcpy(tour->device, kHalfBytes, tour->input, kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
    REFUSED(ACL_ERROR_INVALID_PARAM, "aclrtMalloc",
            aclrtMalloc(NULL, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
    REQUIRE(aclGetRecentErrMsg() == NULL); /* reading it has cleared it */
    REQUIRE(aclrtGetLastError(ACL_RT_THREAD_LEVEL) == ACL_ERROR_INVALID_PARAM);
    aclrtStream gone = NULL;
    CHECK(aclrtCreateStream(&gone));
    CHECK(aclrtDestroyStream(gone));
    REFUSED(ACL_ERROR_RT_INVALID_HANDLE, "aclrtSynchronizeStream", aclrtSynchronizeStream(gone));
}

int main(void) {
    uint32_t devices = 0;
    aclrtContext context = NULL;
    void* device = NULL;
    Tour tour;
    CHECK(aclInit(NULL));
    CHECK(aclrtGetDeviceCount(&devices));
    REQUIRE(devices > 0);
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateContext(&context, 0));
    printf("%u devices, %s\n", devices, aclrtGetSocName());
    CHECK(aclrtCreateStream(&tour.compute));
    CHECK(aclrtCreateStream(&tour.copy));
    tour.input = (int32_t*)PinnedMemory();
    tour.output = (int32_t*)PinnedMemory();
    CHECK(aclrtMalloc(&device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
    tour.device = (char*)device;

    CopiesAndEvents(&tour);
    CallbackInAStream(&tour);
    NotifyAndTimeout(&tour);
    CaptureAndReplay(&tour);
    Errors(&tour);

    CHECK(aclrtFree(device));
    CHECK(aclrtFreeHost(tour.input));
    CHECK(aclrtFreeHost(tour.output));
    CHECK(aclrtDestroyStream(tour.compute));
    CHECK(aclrtDestroyStream(tour.copy));
    CHECK(aclrtDestroyContext(context));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    printf("all as expected\n");
    return EXIT_SUCCESS;
}
