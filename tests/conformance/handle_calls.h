// SPDX-License-Identifier: Apache-2.0
// Tables of the calls that take a stream or an event, for what all of them have in common.
#ifndef ADVANCE_STEP_TESTS_CONFORMANCE_HANDLE_CALLS_H_
#define ADVANCE_STEP_TESTS_CONFORMANCE_HANDLE_CALLS_H_

#include <string>
#include <vector>

#include "acl/acl.h"
#include "support/handles.h"
#include "support/host_work.h"

namespace conformance {

// Arguments of the calls. What is not under test is valid in the context that made it.
struct CallArguments {
    aclrtStream stream = nullptr;
    aclrtEvent event = nullptr;
    support::Event recorded = support::MakeEvent();
    support::Event resettable = support::MakeEventWithFlag(ACL_EVENT_SYNC);
    support::DeviceBuffer device{64};
    support::PinnedArray<char> pinned{64};
    // Outputs; a refused call leaves them as they are.
    int32_t number = -7;
    size_t bytes = 77;
    float ms = -7;
    uint32_t word = 7777;
    uint64_t microseconds = 7777;
    aclrtStreamAttrValue attribute = {};
    void* out = nullptr;
    aclrtEventWaitStatus waitStatus = ACL_EVENT_WAIT_STATUS_RESERVED;
    aclrtStreamStatus streamStatus = ACL_STREAM_STATUS_RESERVED;
    aclrtEventStatus eventStatus = ACL_EVENT_STATUS_RESERVED;
    aclrtEventRecordedStatus recordedStatus = ACL_EVENT_RECORDED_STATUS_COMPLETE;

    char host[64] = {};
    aclrtPhysicalMemProp property = {ACL_MEM_HANDLE_TYPE_NONE,
                                     ACL_MEM_ALLOCATION_TYPE_PINNED,
                                     ACL_HBM_MEM,
                                     {0, ACL_MEM_LOCATION_TYPE_DEVICE},
                                     0};

    // One good copy to the device.
    void* dst = device.Get();
    void* src = pinned.Get();
    size_t size = 64;
    aclrtMemcpyBatchAttr attr = {
        {0, ACL_MEM_LOCATION_TYPE_DEVICE}, {0, ACL_MEM_LOCATION_TYPE_HOST}, {}};
    size_t first = 0;
    size_t failIndex = 0;
    aclError CopyBatch(aclrtStream to) {
        return aclrtMemcpyBatchAsync(&dst, &size, &src, &size, 1, &attr, &first, 1, &failIndex, to);
    }
    aclError CopyBatchNow() {
        return aclrtMemcpyBatch(&dst, &size, &src, &size, 1, &attr, &first, 1, &failIndex);
    }

    CallArguments() {
        attribute.streamPriority = 5;
        EXPECT_EQ(aclrtRecordEvent(recorded.Get(), nullptr), ACL_SUCCESS);
        EXPECT_EQ(aclrtRecordEvent(resettable.Get(), nullptr), ACL_SUCCESS);
    }
    bool OutputsAreUntouched() const {
        return number == -7 && bytes == 77 && ms == -7 && word == 7777 && microseconds == 7777 &&
               out == nullptr && attribute.streamPriority == 5 &&
               waitStatus == ACL_EVENT_WAIT_STATUS_RESERVED &&
               streamStatus == ACL_STREAM_STATUS_RESERVED &&
               eventStatus == ACL_EVENT_STATUS_RESERVED &&
               recordedStatus == ACL_EVENT_RECORDED_STATUS_COMPLETE;
    }
};

struct CallCase {
    std::string name;      // of the case
    std::string function;  // as messages name it
    aclError (*call)(CallArguments& a);
};

#define ADVSTEP_CALL(name, ...)                                                       \
    CallCase {                                                                        \
#name, #name, [](CallArguments & a) -> aclError { return name(__VA_ARGS__); } \
    }

// Calls with a.stream that leave the stream there; NULL is the default stream.
inline std::vector<CallCase> StreamCalls() {
    return {ADVSTEP_CALL(aclrtSynchronizeStream, a.stream),
            ADVSTEP_CALL(aclrtStreamQuery, a.stream, &a.streamStatus),
            ADVSTEP_CALL(aclrtLaunchHostFunc, a.stream, &support::DoNothing, nullptr),
            ADVSTEP_CALL(aclrtSetStreamFailureMode, a.stream, ACL_CONTINUE_ON_FAILURE),
            ADVSTEP_CALL(aclrtStreamGetId, a.stream, &a.number),
            ADVSTEP_CALL(aclrtStreamGetPriority, a.stream, &a.word),
            ADVSTEP_CALL(aclrtStreamGetFlags, a.stream, &a.word),
            ADVSTEP_CALL(aclrtSetStreamAttribute, a.stream, ACL_STREAM_ATTR_PRIORITY, &a.attribute),
            ADVSTEP_CALL(aclrtGetStreamAttribute, a.stream, ACL_STREAM_ATTR_PRIORITY, &a.attribute),
            ADVSTEP_CALL(aclrtSetStreamResLimit, a.stream, ACL_RT_DEV_RES_VECTOR_CORE, 3),
            ADVSTEP_CALL(aclrtGetStreamResLimit, a.stream, ACL_RT_DEV_RES_VECTOR_CORE, &a.word),
            ADVSTEP_CALL(aclrtResetStreamResLimit, a.stream),
            ADVSTEP_CALL(aclrtUseStreamResInCurrentThread, a.stream),
            {"aclrtUnuseStreamResInCurrentThread", "aclrtUnuseStreamResInCurrentThread",
             [](CallArguments& a) {
                 aclrtUseStreamResInCurrentThread(nullptr);  // which only NULL ends
                 return aclrtUnuseStreamResInCurrentThread(a.stream);
             }},
            ADVSTEP_CALL(aclrtRecordEvent, a.recorded.Get(), a.stream),
            ADVSTEP_CALL(aclrtStreamWaitEvent, a.stream, a.recorded.Get()),
            ADVSTEP_CALL(aclrtResetEvent, a.resettable.Get(), a.stream),
            ADVSTEP_CALL(aclrtMemcpyAsync, a.device.Get(), 64, a.pinned.Get(), 64,
                         ACL_MEMCPY_HOST_TO_DEVICE, a.stream),
            ADVSTEP_CALL(aclrtMemcpy2dAsync, a.device.Get(), 8, a.pinned.Get(), 8, 8, 8,
                         ACL_MEMCPY_HOST_TO_DEVICE, a.stream),
            {"aclrtMemcpyBatchAsync", "aclrtMemcpyBatchAsync",
             [](CallArguments& a) { return a.CopyBatch(a.stream); }},
            ADVSTEP_CALL(aclrtMemsetAsync, a.device.Get(), 64, 0, 64, a.stream)};
}

inline std::vector<CallCase> DestroyStreamCalls() {
    return {ADVSTEP_CALL(aclrtDestroyStream, a.stream),
            ADVSTEP_CALL(aclrtDestroyStreamForce, a.stream)};
}

// Calls with a.event.
inline std::vector<CallCase> EventCalls() {
    return {
        ADVSTEP_CALL(aclrtDestroyEvent, a.event),
        ADVSTEP_CALL(aclrtRecordEvent, a.event, nullptr),
        ADVSTEP_CALL(aclrtStreamWaitEvent, nullptr, a.event),
        ADVSTEP_CALL(aclrtSynchronizeEvent, a.event),
        ADVSTEP_CALL(aclrtQueryEventStatus, a.event, &a.recordedStatus),
        ADVSTEP_CALL(aclrtQueryEvent, a.event, &a.eventStatus),
        ADVSTEP_CALL(aclrtResetEvent, a.event, nullptr),
        ADVSTEP_CALL(aclrtEventGetTimestamp, a.event, &a.microseconds),
        ADVSTEP_CALL(aclrtQueryEventWaitStatus, a.event, &a.waitStatus),
        ADVSTEP_CALL(aclrtGetEventId, a.event, &a.word),
        {"ElapsedTimeStart", "aclrtEventElapsedTime",
         [](CallArguments& a) { return aclrtEventElapsedTime(&a.ms, a.event, a.recorded.Get()); }},
        {"ElapsedTimeEnd", "aclrtEventElapsedTime",
         [](CallArguments& a) { return aclrtEventElapsedTime(&a.ms, a.recorded.Get(), a.event); }}};
}

// The other calls that are marked [context] in acl_rt.h.
inline std::vector<CallCase> ContextCalls() {
    return {ADVSTEP_CALL(aclrtGetDevice, &a.number),
            {"aclrtSynchronizeDevice", "aclrtSynchronizeDevice",
             [](CallArguments&) { return aclrtSynchronizeDevice(); }},
            ADVSTEP_CALL(aclrtGetMemInfo, ACL_HBM_MEM, &a.bytes, &a.bytes),
            ADVSTEP_CALL(aclrtGetCurrentContext, &a.out),
            ADVSTEP_CALL(aclrtCtxGetCurrentDefaultStream, &a.out),
            ADVSTEP_CALL(aclrtGetStreamAvailableNum, &a.word),
            ADVSTEP_CALL(aclrtGetResInCurrentThread, ACL_RT_DEV_RES_VECTOR_CORE, &a.word),
            {"aclrtDeviceEnablePeerAccess", "aclrtDeviceEnablePeerAccess",
             [](CallArguments&) { return aclrtDeviceEnablePeerAccess(1, 0); }},
            {"aclrtDeviceDisablePeerAccess", "aclrtDeviceDisablePeerAccess",
             [](CallArguments&) { return aclrtDeviceDisablePeerAccess(1); }},
            ADVSTEP_CALL(aclrtCreateStream, &a.out),
            ADVSTEP_CALL(aclrtCreateStreamWithConfig, &a.out, 0, 0),
            ADVSTEP_CALL(aclrtCreateEvent, &a.out),
            ADVSTEP_CALL(aclrtCreateEventWithFlag, &a.out, ACL_EVENT_SYNC),
            ADVSTEP_CALL(aclrtCreateEventExWithFlag, &a.out, ACL_EVENT_SYNC),
            ADVSTEP_CALL(aclrtMalloc, &a.out, 64, ACL_MEM_MALLOC_HUGE_FIRST),
            ADVSTEP_CALL(aclrtMallocAlign32, &a.out, 64, ACL_MEM_MALLOC_HUGE_FIRST),
            ADVSTEP_CALL(aclrtMallocHost, &a.out, 64),
            ADVSTEP_CALL(aclrtMemcpy, a.device.Get(), 64, a.pinned.Get(), 64,
                         ACL_MEMCPY_HOST_TO_DEVICE),
            ADVSTEP_CALL(aclrtMemset, a.device.Get(), 64, 0, 64)};
}

// More of them, for memory and copies.
inline std::vector<CallCase> MemoryCalls() {
    return {
        ADVSTEP_CALL(aclrtMemcpy2d, a.device.Get(), 8, a.pinned.Get(), 8, 8, 8,
                     ACL_MEMCPY_HOST_TO_DEVICE),
        {"aclrtMemcpyBatch", "aclrtMemcpyBatch", [](CallArguments& a) { return a.CopyBatchNow(); }},
        ADVSTEP_CALL(aclrtHostRegister, a.host, sizeof(a.host), ACL_HOST_REGISTER_MAPPED, &a.out)};
}

#undef ADVSTEP_CALL

}  // namespace conformance

#endif  // ADVANCE_STEP_TESTS_CONFORMANCE_HANDLE_CALLS_H_
