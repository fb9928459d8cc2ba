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
        ADVSTEP_RETURN_IF_ERROR(TheDeviceRegistry().Find(deviceId, &device));
        const DeviceCounters& values = device->counters();
        counters->launches = values.Read(DeviceCounters::kLaunches);
        counters->advanced = values.Read("advanced");
        counters->padded = values.Read("padded");
        counters->released = values.Read("released");
        counters->needed = values.Read("needed");
        counters->preempted = values.Read("preempted");
        counters->dispatched = values.Read("dispatched");
        counters->recovered = values.Read("recovered");
        counters->noProgress = values.Read(DeviceCounters::kAllocationFailures);
        counters->dataErrors = values.Read(DeviceCounters::kExceptions);
        return {};
    });
}

aclError advstepResetCounters(int32_t deviceId) {
    return AclBoundary("advstepResetCounters", [&]() -> Status {
        const Device* device = nullptr;
        ADVSTEP_RETURN_IF_ERROR(TheDeviceRegistry().Find(deviceId, &device));
        device->counters().Reset();
        return {};
    });
}
