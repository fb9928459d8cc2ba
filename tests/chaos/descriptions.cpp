// SPDX-License-Identifier: Apache-2.0
// Calls that describe things or register functions: models, kernels, faults, callbacks, events of
// other processes.
#include "chaos/actions.h"

namespace chaos {
namespace {

void SeeException(aclrtExceptionInfo* info) {
    (void)aclrtGetErrorCodeFromExceptionInfo(info);
    (void)aclrtGetStreamIdFromExceptionInfo(info);
    (void)aclrtGetTaskIdFromExceptionInfo(info);
}

void SeeStream(aclrtStream stream, aclrtStreamState, void*) {
    int32_t id = 0;
    (void)aclrtStreamGetId(stream, &id);
}

int32_t SeeAbort(int32_t, aclrtDeviceTaskAbortStage, uint32_t, void*) { return 0; }

}  // namespace

void RegisterFunctions(Worker& worker) {
    const bool isSet = worker.random.OneIn(2);
    switch (worker.random.Between(0, 2)) {
        case 0:
            (void)CHAOS_CALL(aclrtSetExceptionInfoCallback, isSet ? SeeException : nullptr);
            break;
        case 1:
            (void)CHAOS_CALL(aclrtRegStreamStateCallback, "chaos", isSet ? SeeStream : nullptr,
                             nullptr);
            break;
        default:
            (void)CHAOS_CALL(aclrtSetDeviceTaskAbortCallback, "chaos", isSet ? SeeAbort : nullptr,
                             nullptr);
    }
}

void Describe(Worker& worker) {
    const auto device = static_cast<int32_t>(worker.random.Between(-1, worker.world.threads));
    aclrtErrorInfo error = {};
    aclrtMemUceInfo places[2] = {};
    aclrtMemUsageInfo usage[4] = {};
    size_t count = 0;
    aclrtEvent event = nullptr;
    aclrtEvent opened = nullptr;
    aclrtIpcEventHandle handle = {};
    aclrtStreamConfigHandle* config = nullptr;
    aclrtStream stream = nullptr;
    uint32_t priority = 3;
    switch (worker.random.Between(0, 6)) {
        case 0:
            (void)CHAOS_CALL(aclmdlRIDebugJsonPrint, worker.OneOf(worker.world.models), "/dev/null",
                             0);
            break;
        case 1:
            (void)CHAOS_CALL(aclrtGetErrorVerbose, device, &error);
            break;
        case 2:
            (void)CHAOS_CALL(aclrtGetMemUceInfo, device, places, 2, &count);
            break;
        case 3:
            (void)CHAOS_CALL(aclrtGetMemUsageInfo, device, usage, 4, &count);
            break;
        case 4:
            if (CHAOS_CALL(aclrtCreateEventExWithFlag, &event, ACL_EVENT_IPC) == 0) {
                if (CHAOS_CALL(aclrtIpcGetEventHandle, event, &handle) == 0 &&
                    CHAOS_CALL(aclrtIpcOpenEventHandle, handle, &opened) == 0) {
                    (void)CHAOS_CALL(aclrtDestroyEvent, opened);
                }
                (void)CHAOS_CALL(aclrtRecordEvent, event, worker.AnyStream());
                (void)CHAOS_CALL(aclrtDestroyEvent, event);
            }
            break;
        case 5:
            config = aclrtCreateStreamConfigHandle();
            (void)CHAOS_CALL(aclrtSetStreamConfigOpt, config, ACL_RT_STREAM_PRIORITY, &priority,
                             sizeof(priority));
            if (CHAOS_CALL(aclrtCreateStreamV2, &stream, config) == 0) {
                (void)CHAOS_CALL(aclrtDestroyStream, stream);
            }
            (void)CHAOS_CALL(aclrtDestroyStreamConfigHandle, config);
            break;
        default:
            // They return the last failure's code, so they are not entered as calls that fail.
            (void)aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL);
            (void)aclrtGetLastError(ACL_RT_THREAD_LEVEL);
    }
}

void DescribeKernels(Worker& worker) {
    aclrtFuncHandle function = nullptr;
    aclrtArgsHandle arguments = nullptr;
    aclrtParamHandle parameter = nullptr;
    char name[20] = {};
    int64_t value = 0;
    if (CHAOS_CALL(aclrtBinaryGetFunction, worker.OneOf(worker.world.binaries), "count_blocks",
                   &function) != 0) {
        return;
    }
    (void)CHAOS_CALL(aclrtGetFunctionName, function, sizeof(name), name);
    (void)CHAOS_CALL(aclrtGetFunctionAttribute, function, ACL_FUNC_ATTR_KERNEL_TYPE, &value);
    if (CHAOS_CALL(aclrtKernelArgsInit, function, &arguments) == 0) {
        (void)CHAOS_CALL(aclrtKernelArgsAppend, arguments, &value, sizeof(value), &parameter);
        (void)CHAOS_CALL(aclrtKernelArgsFinalize, arguments);
    }
}

}  // namespace chaos
