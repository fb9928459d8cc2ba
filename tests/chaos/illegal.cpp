// SPDX-License-Identifier: Apache-2.0
// Calls with null pointers, handles of another kind, addresses that are none, and values out of
// range.
#include "aclnnop/aclnn_advance_step.h"
#include "advance_step/host_operator.h"
#include "chaos/actions.h"

namespace chaos {
namespace {

// A place that is no object of the library.
void* Rubbish(Worker& worker) {
    switch (worker.random.Between(0, 3)) {
        case 0:
            return &worker;
        case 1:
            return reinterpret_cast<void*>(static_cast<uintptr_t>(worker.random.Between(1, 4096)));
        case 2:
            return worker.OneOf(worker.world.events);
        default:
            return worker.OneOf(worker.world.notifies);
    }
}

}  // namespace

void PassNulls(Worker& worker) {
    switch (worker.random.Between(0, 15)) {
        case 0:
            (void)CHAOS_CALL(aclrtCreateStream, nullptr);
            break;
        case 1:
            (void)CHAOS_CALL(aclrtCreateEvent, nullptr);
            break;
        case 2:
            (void)CHAOS_CALL(aclrtCreateContext, nullptr, 0);
            break;
        case 3:
            (void)CHAOS_CALL(aclrtMalloc, nullptr, 100, ACL_MEM_MALLOC_HUGE_FIRST);
            break;
        case 4:
            (void)CHAOS_CALL(aclrtMemcpy, nullptr, 8, nullptr, 8, ACL_MEMCPY_DEVICE_TO_DEVICE);
            break;
        case 5:
            (void)CHAOS_CALL(aclrtMemcpyAsync, nullptr, 8, nullptr, 8, ACL_MEMCPY_HOST_TO_DEVICE,
                             worker.AnyStream());
            break;
        case 6:
            (void)CHAOS_CALL(aclmdlRICaptureEnd, nullptr, nullptr);
            break;
        case 7:
            (void)CHAOS_CALL(aclrtLaunchHostFunc, worker.AnyStream(), nullptr, nullptr);
            break;
        case 8:
            (void)CHAOS_CALL(advstepLaunchHostOperator, worker.AnyStream(), nullptr);
            break;
        case 9:
            (void)CHAOS_CALL(aclnnAdvanceStep, nullptr, 0, nullptr, worker.AnyStream());
            break;
        case 10:
            (void)CHAOS_CALL(aclrtSetCurrentContext, nullptr);
            break;
        case 11:
            (void)CHAOS_CALL(aclrtDestroyEvent, nullptr);
            break;
        case 12:
            (void)CHAOS_CALL(aclrtHostRegister, nullptr, 10, ACL_HOST_REGISTER_MAPPED, nullptr);
            break;
        case 13:
            (void)CHAOS_CALL(aclrtNotifyGetExportKey, worker.OneOf(worker.world.notifies), nullptr,
                             65, 0);
            break;
        case 14:
            (void)CHAOS_CALL(aclrtGetDevice, nullptr);
            break;
        default:
            (void)CHAOS_CALL(aclmdlRIExecuteAsync, nullptr, nullptr);
    }
}

void PassRubbish(Worker& worker) {
    void* const rubbish = Rubbish(worker);
    void* handle = nullptr;
    switch (worker.random.Between(0, 17)) {
        case 0:
            (void)CHAOS_CALL(aclrtDestroyStream, &worker);
            break;
        case 1:
            (void)CHAOS_CALL(aclrtSynchronizeStream, rubbish);
            break;
        case 2:
            (void)CHAOS_CALL(aclrtFree, &worker);
            break;
        case 3:
            (void)CHAOS_CALL(aclrtSetCurrentContext, rubbish);
            break;
        case 4:
            (void)CHAOS_CALL(aclrtRecordEvent, &worker, worker.AnyStream());
            break;
        case 5:
            (void)CHAOS_CALL(aclmdlRIExecute, rubbish, 5);
            break;
        case 6:
            (void)CHAOS_CALL(aclmdlRIDestroy, rubbish);
            break;
        case 7:
            (void)CHAOS_CALL(aclrtSetDevice, static_cast<int32_t>(worker.random.Between(-3, 200)));
            break;
        case 8:
            (void)CHAOS_CALL(aclrtHostUnregister, &worker);
            break;
        case 9:
            (void)CHAOS_CALL(aclrtBinaryUnLoad, rubbish);
            break;
        case 10:
            (void)CHAOS_CALL(aclrtBinaryGetFunction, rubbish, "none", &handle);
            break;
        case 11:
            (void)CHAOS_CALL(aclrtUnmapMem, &worker);
            break;
        case 12:
            (void)CHAOS_CALL(aclrtFreePhysical, rubbish);
            break;
        case 13:
            (void)CHAOS_CALL(aclrtReleaseMemAddress, &worker);
            break;
        case 14:
            (void)CHAOS_CALL(aclrtWaitAndResetNotify, &worker, worker.AnyStream(), 1);
            break;
        case 15:
            (void)CHAOS_CALL(aclmdlRICaptureTaskUpdateBegin, worker.AnyStream(), rubbish);
            break;
        case 16:
            (void)CHAOS_CALL(aclrtIpcMemImportByKey, &handle, "no key", 0);
            break;
        default:
            (void)CHAOS_CALL(aclrtMemset, &worker, 8, 1, 8);
    }
}

}  // namespace chaos
