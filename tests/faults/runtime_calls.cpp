// SPDX-License-Identifier: Apache-2.0
// Start and end, devices, contexts, errors, events, and the project's own calls.
#include "faults/scene.h"

namespace faults {
namespace {

void StreamState(aclrtStream, aclrtStreamState, void*) {}
void Exception(aclrtExceptionInfo*) {}

int AskInfo(uint32_t (*ask)(const aclrtExceptionInfo*)) {
    return ask(nullptr) == 0xFFFFFFFFU ? 0 : -1;
}

int CheckEmptyState() {
    AdvStepKvState state{};
    int32_t zero = 0;
    state.blockSize = 1;
    state.freeList = &zero;
    char text[16];
    return advstepCheckKvInvariants(&state, text, sizeof(text));
}

}  // namespace

std::vector<Call> RuntimeCalls() {
    return {
        {"aclInit", [](Scene& s) { return First({s.Close()}); },
         [](Scene&) -> int { return aclInit(nullptr); },
         [](Scene& s) -> int {
             return First({aclFinalize(), s.Open()});
         }},
        {"aclFinalize", nullptr, [](Scene&) -> int { return aclFinalize(); }, nullptr, true},
        {"aclFinalizeReference", nullptr,
         [](Scene& s) -> int { return aclFinalizeReference(&s.number); }, nullptr, true},
        {"aclrtSetDevice", nullptr, [](Scene&) -> int { return aclrtSetDevice(1); },
         [](Scene&) -> int {
             return First({aclrtResetDevice(1), aclrtSetDevice(0), aclrtResetDevice(0)});
         }},
        {"aclrtResetDevice",
         [](Scene& s) -> int {
             return First({aclrtSetDevice(1), aclrtCreateStream(&s.made),
                           aclrtMalloc(&s.more, 64, ACL_MEM_MALLOC_HUGE_FIRST),
                           aclrtCreateEvent(&s.more), aclrtCreateNotify(&s.more, 0),
                           aclrtLaunchHostFunc(s.made, &Nothing, nullptr),
                           aclrtSetCurrentContext(s.context)});
         },
         [](Scene&) -> int { return aclrtResetDevice(1); }, nullptr},
        {"aclrtResetDeviceForce",
         [](Scene& s) -> int {
             return First({aclrtSetDevice(1), aclrtSetDevice(1), aclrtCreateStream(&s.made),
                           aclrtSetCurrentContext(s.context)});
         },
         [](Scene&) -> int { return aclrtResetDeviceForce(1); }, nullptr},
        ADVSTEP_PLAIN(aclrtSynchronizeDeviceWithTimeout, 10000),
        ADVSTEP_PLAIN(advstepReadCounter, 0, "stalled", reinterpret_cast<uint64_t*>(s.host)),
        ADVSTEP_PLAIN(aclrtGetMemInfo, ACL_HBM_MEM, reinterpret_cast<size_t*>(s.host),
                      reinterpret_cast<size_t*>(s.host)),
        ADVSTEP_PLAIN(aclrtGetDeviceInfo, 0, ACL_DEV_ATTR_VECTOR_CORE_NUM,
                      reinterpret_cast<int64_t*>(s.host)),
        ADVSTEP_PLAIN(aclrtGetPrimaryCtxState, 0, nullptr, reinterpret_cast<int32_t*>(s.host)),
        ADVSTEP_PLAIN(aclrtDeviceCanAccessPeer, reinterpret_cast<int32_t*>(s.host), 0, 1),
        {"aclrtDeviceEnablePeerAccess", nullptr,
         [](Scene&) -> int { return aclrtDeviceEnablePeerAccess(1, 0); },
         [](Scene&) -> int { return aclrtDeviceDisablePeerAccess(1); }},
        {"aclrtDeviceDisablePeerAccess",
         [](Scene&) -> int { return aclrtDeviceEnablePeerAccess(1, 0); },
         [](Scene&) -> int { return aclrtDeviceDisablePeerAccess(1); }, nullptr},
        {"aclrtGetSocName", nullptr,
         [](Scene&) { return aclrtGetSocName() != nullptr ? 0 : ACL_ERROR_BAD_ALLOC; }, nullptr},
        ADVSTEP_PLAIN(aclrtPeekAtLastError, ACL_RT_THREAD_LEVEL),
        ADVSTEP_PLAIN(aclrtGetLastError, ACL_RT_THREAD_LEVEL),
        {"aclGetRecentErrMsg", nullptr,
         [](Scene&) { return aclGetRecentErrMsg() == nullptr ? 0 : -1; }, nullptr},
        {"aclDataTypeSize", nullptr,
         [](Scene&) { return aclDataTypeSize(ACL_INT64) == 8 ? 0 : -1; }, nullptr},

        {"aclrtCreateContext", nullptr,
         [](Scene& s) -> int { return aclrtCreateContext(&s.made, 0); },
         [](Scene& s) -> int {
             return First({aclrtDestroyContext(s.made), aclrtSetCurrentContext(s.context)});
         }},
        {"aclrtDestroyContext",
         [](Scene& s) -> int {
             return First({aclrtCreateContext(&s.made, 0), aclrtCreateStream(&s.more),
                           aclmdlRICaptureBegin(s.more, ACL_MODEL_RI_CAPTURE_MODE_RELAXED),
                           aclrtCreateStream(&s.more),
                           aclrtLaunchHostFunc(s.more, &Nothing, nullptr),
                           aclrtSetCurrentContext(s.context)});
         },
         [](Scene& s) -> int { return aclrtDestroyContext(s.made); }, nullptr},
        ADVSTEP_PLAIN(aclrtGetCurrentContext, &s.made),
        ADVSTEP_PLAIN(aclrtCtxGetCurrentDefaultStream, &s.made),

        ADVSTEP_MAKES(aclrtCreateEvent, aclrtDestroyEvent, &s.made),
        ADVSTEP_MAKES(aclrtCreateEventWithFlag, aclrtDestroyEvent, &s.made, ACL_EVENT_SYNC),
        ADVSTEP_MAKES(aclrtCreateEventExWithFlag, aclrtDestroyEvent, &s.made, ACL_EVENT_SYNC),
        ADVSTEP_TAKES(aclrtDestroyEvent, aclrtCreateEvent(&s.made), s.made),
        ADVSTEP_PLAIN(aclrtStreamWaitEventWithTimeout, s.stream, s.event, 10),
        ADVSTEP_PLAIN(aclrtSynchronizeEventWithTimeout, s.event, 10000),
        ADVSTEP_PLAIN(aclrtQueryEvent, s.plain, reinterpret_cast<aclrtEventStatus*>(s.host)),
        ADVSTEP_PLAIN(aclrtResetEvent, s.resettable, s.stream),
        ADVSTEP_PLAIN(aclrtEventElapsedTime, reinterpret_cast<float*>(s.host), s.event, s.plain),
        ADVSTEP_PLAIN(aclrtEventGetTimestamp, s.event, &s.number),
        ADVSTEP_PLAIN(aclrtQueryEventWaitStatus, s.plain,
                      reinterpret_cast<aclrtEventWaitStatus*>(s.host)),
        {"aclrtSetOpWaitTimeout", nullptr, [](Scene&) -> int { return aclrtSetOpWaitTimeout(7); },
         nullptr},

        {"aclrtRegStreamStateCallback", nullptr,
         [](Scene&) -> int {
             return aclrtRegStreamStateCallback("a name of more than sixteen bytes", &StreamState,
                                                nullptr);
         },
         [](Scene&) -> int {
             return aclrtRegStreamStateCallback("a name of more than sixteen bytes", nullptr,
                                                nullptr);
         }},
        {"aclrtSetExceptionInfoCallback", nullptr,
         [](Scene&) -> int { return aclrtSetExceptionInfoCallback(&Exception); },
         [](Scene&) -> int { return aclrtSetExceptionInfoCallback(nullptr); }},
        {"aclrtExceptionInfoCallbackRegister", nullptr,
         [](Scene&) -> int { return aclrtExceptionInfoCallbackRegister(&Exception); },
         [](Scene&) -> int { return aclrtExceptionInfoCallbackUnregister(&Exception); }},
        {"aclrtExceptionInfoCallbackUnregister",
         [](Scene&) -> int { return aclrtExceptionInfoCallbackRegister(&Exception); },
         [](Scene&) -> int { return aclrtExceptionInfoCallbackUnregister(&Exception); }, nullptr},
        {"aclrtGetTaskIdFromExceptionInfo", nullptr,
         [](Scene&) { return AskInfo(&aclrtGetTaskIdFromExceptionInfo); }, nullptr},
        {"aclrtGetStreamIdFromExceptionInfo", nullptr,
         [](Scene&) { return AskInfo(&aclrtGetStreamIdFromExceptionInfo); }, nullptr},
        {"aclrtGetThreadIdFromExceptionInfo", nullptr,
         [](Scene&) { return AskInfo(&aclrtGetThreadIdFromExceptionInfo); }, nullptr},
        {"aclrtGetDeviceIdFromExceptionInfo", nullptr,
         [](Scene&) { return AskInfo(&aclrtGetDeviceIdFromExceptionInfo); }, nullptr},
        {"aclrtGetErrorCodeFromExceptionInfo", nullptr,
         [](Scene&) { return AskInfo(&aclrtGetErrorCodeFromExceptionInfo); }, nullptr},

        {"advstepReadCounters", nullptr,
         [](Scene&) -> int {
             AdvStepCounters counters;
             return advstepReadCounters(0, &counters);
         },
         nullptr},
        {"advstepCheckKvInvariants", nullptr, [](Scene&) { return CheckEmptyState(); }, nullptr},
        {"advstepFailLaunch", nullptr,
         [](Scene&) -> int { return advstepFailLaunch(1, 1, ADVSTEP_FAULT_AT_CALL); }, nullptr},
        {"advstepFailStream", nullptr,
         [](Scene& s) -> int { return advstepFailStream(s.stream, ACL_ERROR_RT_WAIT_TIMEOUT); },
         [](Scene& s) {
             return aclrtSynchronizeStream(s.stream) == ACL_ERROR_RT_WAIT_TIMEOUT ? 0 : -1;
         }},
        ADVSTEP_PLAIN(advstepDelayStream, s.stream, 10),
        {"advstepHoldStream", nullptr,
         [](Scene& s) -> int { return advstepHoldStream(s.stream, &s.hold); },
         [](Scene& s) -> int { return advstepReleaseHold(s.hold); }},
        {"advstepReleaseHold", [](Scene& s) -> int { return advstepHoldStream(s.stream, &s.hold); },
         [](Scene& s) -> int { return advstepReleaseHold(s.hold); }, nullptr},
        OfAclnn({"aclnnInit", nullptr, [](Scene&) -> int { return aclnnInit(nullptr); }, nullptr}),
        {"aclnnFinalize", nullptr, [](Scene&) -> int { return aclnnFinalize(); }, nullptr},
    };
}

}  // namespace faults
