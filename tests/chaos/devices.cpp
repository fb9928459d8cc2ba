// SPDX-License-Identifier: Apache-2.0
// Devices: uses, queries, options, resets, and the end of the runtime.
#include "acl/acl.h"
#include "advance_step/counters.h"
#include "chaos/actions.h"
#include "chaos/disturb.h"

namespace chaos {
namespace {

int32_t AnyDevice(Worker& worker) {
    return static_cast<int32_t>(worker.random.Between(0, worker.world.threads - 1));
}

}  // namespace

void SetDevices(Worker& worker) { (void)CHAOS_CALL(aclrtSetDevice, AnyDevice(worker)); }

void QueryDevices(Worker& worker) {
    const int32_t device = AnyDevice(worker);
    int32_t number = 0;
    uint32_t count = 0;
    int64_t value = 0;
    size_t free = 0;
    size_t total = 0;
    AdvStepCounters counters = {};
    aclrtUtilizationInfo utilization = {};
    aclrtDeviceStatus status = ACL_RT_DEVICE_STATUS_END;
    aclrtUuid uuid = {};
    worker.RunOneOf({CHAOS_CHOICE(aclrtGetDevice, &number),
                     CHAOS_CHOICE(aclrtGetDeviceCount, &count),
                     CHAOS_CHOICE(aclrtGetDeviceInfo, static_cast<uint32_t>(device),
                                  ACL_DEV_ATTR_VECTOR_CORE_NUM, &value),
                     CHAOS_CHOICE(aclrtGetPrimaryCtxState, device, &count, &number),
                     CHAOS_CHOICE(aclrtDeviceEnablePeerAccess, device, 0),
                     CHAOS_CHOICE(aclrtDeviceDisablePeerAccess, device),
                     CHAOS_CHOICE(advstepReadCounters, device, &counters),
                     CHAOS_CHOICE(aclrtGetDeviceUtilizationRate, device, &utilization),
                     CHAOS_CHOICE(aclrtQueryDeviceStatus, device, &status),
                     CHAOS_CHOICE(aclrtDeviceGetUuid, device, &uuid),
                     CHAOS_CHOICE(aclrtGetMemInfo, ACL_HBM_MEM, &free, &total)});
}

void ChangeOptions(Worker& worker) {
    const auto option = static_cast<aclSysParamOpt>(worker.random.Between(0, 4));
    const int64_t number = worker.random.Between(0, 4);
    int64_t value = 0;
    uint32_t limit = 0;
    const auto type = static_cast<aclrtDevResLimitType>(worker.random.Between(0, 2));
    worker.RunOneOf(
        {CHAOS_CHOICE(aclrtSetSysParamOpt, option, number),
         CHAOS_CHOICE(aclrtGetSysParamOpt, option, &value),
         CHAOS_CHOICE(aclrtCtxSetSysParamOpt, option, number),
         CHAOS_CHOICE(aclrtSetDeviceSatMode, static_cast<aclrtFloatOverflowMode>(number % 3)),
         CHAOS_CHOICE(aclrtSetDeviceResLimit, AnyDevice(worker), type,
                      static_cast<uint32_t>(worker.random.Between(1, 8))),
         [&] {
             (void)CHAOS_CALL(aclrtGetDeviceResLimit, AnyDevice(worker), type, &limit);
             (void)CHAOS_CALL(aclrtResetDeviceResLimit, AnyDevice(worker));
         },
         CHAOS_CHOICE(aclrtGetResInCurrentThread, type, &limit)});
}

void ResetDevices(Worker& worker) {
    const Disturbs disturbs(&worker.world);
    const int32_t device =
        worker.world.ends == Ends::kAll ? AnyDevice(worker) : worker.index % worker.world.threads;
    if (worker.random.OneIn(2)) {
        (void)CHAOS_CALL(aclrtResetDeviceForce, device);
    } else {
        (void)CHAOS_CALL(aclrtResetDevice, device);
    }
}

void EndRuntime(Worker& worker) {
    {
        const Disturbs disturbs(&worker.world);
        uint64_t references = 0;
        if (worker.random.OneIn(2)) {
            (void)CHAOS_CALL(aclFinalizeReference, &references);
        } else {
            (void)CHAOS_CALL(aclFinalize, );
        }
    }
    if (!worker.random.OneIn(3)) {
        (void)CHAOS_CALL(aclInit, nullptr);
        (void)CHAOS_CALL(aclrtSetDevice, AnyDevice(worker));
    }
}

}  // namespace chaos
