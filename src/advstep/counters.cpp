// SPDX-License-Identifier: Apache-2.0
// The calls that read and reset the counters of a device.
#include "advance_step/counters.h"
#include "src/base/boundary.h"
#include "src/runtime/device/device.h"
#include "src/runtime/lifecycle/device_registry.h"

using namespace advstep;

aclError advstepReadCounters(int32_t deviceId, AdvStepCounters* counters) {
    return AclBoundary("advstepReadCounters", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(counters, "counters"));
        const Device* device = nullptr;
        ADVSTEP_RETURN_IF_ERROR(DeviceRegistry::Instance().Find(deviceId, &device));
        const DeviceCounters::Values values = device->counters().Read();
        counters->launches = values.launches;
        counters->advanced = static_cast<uint64_t>(values.done.advanced);
        counters->padded = static_cast<uint64_t>(values.done.padded);
        counters->released = static_cast<uint64_t>(values.done.released);
        counters->needed = static_cast<uint64_t>(values.done.needed);
        counters->preempted = static_cast<uint64_t>(values.done.preempted);
        counters->dispatched = static_cast<uint64_t>(values.done.dispatched);
        counters->recovered = static_cast<uint64_t>(values.done.recovered);
        counters->noProgress = values.noProgress;
        counters->dataErrors = values.dataErrors;
        return {};
    });
}

aclError advstepResetCounters(int32_t deviceId) {
    return AclBoundary("advstepResetCounters", [&]() -> Status {
        const Device* device = nullptr;
        ADVSTEP_RETURN_IF_ERROR(DeviceRegistry::Instance().Find(deviceId, &device));
        device->counters().Reset();
        return {};
    });
}
