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
    worker.RunOneOf(
        {CHAOS_CHOICE(aclrtCreateStream, nullptr), CHAOS_CHOICE(aclrtCreateEvent, nullptr),
         CHAOS_CHOICE(aclrtCreateContext, nullptr, 0),
         CHAOS_CHOICE(aclrtMalloc, nullptr, 100, ACL_MEM_MALLOC_HUGE_FIRST),
         CHAOS_CHOICE(aclrtMemcpy, nullptr, 8, nullptr, 8, ACL_MEMCPY_DEVICE_TO_DEVICE),
         CHAOS_CHOICE(aclrtMemcpyAsync, nullptr, 8, nullptr, 8, ACL_MEMCPY_HOST_TO_DEVICE,
                      worker.AnyStream()),
         CHAOS_CHOICE(aclmdlRICaptureEnd, nullptr, nullptr),
         CHAOS_CHOICE(aclrtLaunchHostFunc, worker.AnyStream(), nullptr, nullptr),
         CHAOS_CHOICE(advstepLaunchHostOperator, worker.AnyStream(), nullptr),
         CHAOS_CHOICE(aclnnAdvanceStep, nullptr, 0, nullptr, worker.AnyStream()),
         CHAOS_CHOICE(aclrtSetCurrentContext, nullptr), CHAOS_CHOICE(aclrtDestroyEvent, nullptr),
         CHAOS_CHOICE(aclrtHostRegister, nullptr, 10, ACL_HOST_REGISTER_MAPPED, nullptr),
         CHAOS_CHOICE(aclrtNotifyGetExportKey, worker.OneOf(worker.world.notifies), nullptr, 65, 0),
         CHAOS_CHOICE(aclrtGetDevice, nullptr),
         CHAOS_CHOICE(aclmdlRIExecuteAsync, nullptr, nullptr)});
}

void PassRubbish(Worker& worker) {
    void* const rubbish = Rubbish(worker);
    void* handle = nullptr;
    worker.RunOneOf(
        {CHAOS_CHOICE(aclrtDestroyStream, &worker), CHAOS_CHOICE(aclrtSynchronizeStream, rubbish),
         CHAOS_CHOICE(aclrtFree, &worker), CHAOS_CHOICE(aclrtSetCurrentContext, rubbish),
         CHAOS_CHOICE(aclrtRecordEvent, &worker, worker.AnyStream()),
         CHAOS_CHOICE(aclmdlRIExecute, rubbish, 5), CHAOS_CHOICE(aclmdlRIDestroy, rubbish),
         CHAOS_CHOICE(aclrtSetDevice, static_cast<int32_t>(worker.random.Between(-3, 200))),
         CHAOS_CHOICE(aclrtHostUnregister, &worker), CHAOS_CHOICE(aclrtBinaryUnLoad, rubbish),
         CHAOS_CHOICE(aclrtBinaryGetFunction, rubbish, "none", &handle),
         CHAOS_CHOICE(aclrtUnmapMem, &worker), CHAOS_CHOICE(aclrtFreePhysical, rubbish),
         CHAOS_CHOICE(aclrtReleaseMemAddress, &worker),
         CHAOS_CHOICE(aclrtWaitAndResetNotify, &worker, worker.AnyStream(), 1),
         CHAOS_CHOICE(aclmdlRICaptureTaskUpdateBegin, worker.AnyStream(), rubbish),
         CHAOS_CHOICE(aclrtIpcMemImportByKey, &handle, "no key", 0),
         CHAOS_CHOICE(aclrtMemset, &worker, 8, 1, 8)});
}

}  // namespace chaos
