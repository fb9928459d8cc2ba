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
    switch (worker.random.Between(0, 10)) {
        case 0:
            (void)CHAOS_CALL(aclrtGetDevice, &number);
            break;
        case 1:
            (void)CHAOS_CALL(aclrtGetDeviceCount, &count);
            break;
        case 2:
            (void)CHAOS_CALL(aclrtGetDeviceInfo, static_cast<uint32_t>(device),
                             ACL_DEV_ATTR_VECTOR_CORE_NUM, &value);
            break;
        case 3:
            (void)CHAOS_CALL(aclrtGetPrimaryCtxState, device, &count, &number);
            break;
        case 4:
            (void)CHAOS_CALL(aclrtDeviceEnablePeerAccess, device, 0);
            break;
        case 5:
            (void)CHAOS_CALL(aclrtDeviceDisablePeerAccess, device);
            break;
        case 6:
            (void)CHAOS_CALL(advstepReadCounters, device, &counters);
            break;
        case 7:
            (void)CHAOS_CALL(aclrtGetDeviceUtilizationRate, device, &utilization);
            break;
        case 8:
            (void)CHAOS_CALL(aclrtQueryDeviceStatus, device, &status);
            break;
        case 9:
            (void)CHAOS_CALL(aclrtDeviceGetUuid, device, &uuid);
            break;
        default:
            (void)CHAOS_CALL(aclrtGetMemInfo, ACL_HBM_MEM, &free, &total);
    }
}

void ChangeOptions(Worker& worker) {
    const auto option = static_cast<aclSysParamOpt>(worker.random.Between(0, 4));
    const int64_t number = worker.random.Between(0, 4);
    int64_t value = 0;
    uint32_t limit = 0;
    const auto type = static_cast<aclrtDevResLimitType>(worker.random.Between(0, 2));
    switch (worker.random.Between(0, 6)) {
        case 0:
            (void)CHAOS_CALL(aclrtSetSysParamOpt, option, number);
            break;
        case 1:
            (void)CHAOS_CALL(aclrtGetSysParamOpt, option, &value);
            break;
        case 2:
            (void)CHAOS_CALL(aclrtCtxSetSysParamOpt, option, number);
            break;
        case 3:
            (void)CHAOS_CALL(aclrtSetDeviceSatMode,
                             static_cast<aclrtFloatOverflowMode>(number % 3));
            break;
        case 4:
            (void)CHAOS_CALL(aclrtSetDeviceResLimit, AnyDevice(worker), type,
                             static_cast<uint32_t>(worker.random.Between(1, 8)));
            break;
        case 5:
            (void)CHAOS_CALL(aclrtGetDeviceResLimit, AnyDevice(worker), type, &limit);
            (void)CHAOS_CALL(aclrtResetDeviceResLimit, AnyDevice(worker));
            break;
        default:
            (void)CHAOS_CALL(aclrtGetResInCurrentThread, type, &limit);
    }
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
