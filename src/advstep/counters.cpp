// SPDX-License-Identifier: Apache-2.0
// The calls that read and reset the counters of a device.
#include "advance_step/counters.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "src/base/boundary.h"
#include "src/runtime/device/device.h"
#include "src/runtime/lifecycle/device_registry.h"

using namespace advstep;

namespace {

// The counters of the operators of this library, which are 0 before their first launch.
constexpr std::string_view kNames[] = {"advanced",  "padded",     "released",  "needed",
                                       "preempted", "dispatched", "recovered", "stalled"};

constexpr struct {
    std::string_view name;
    DeviceCounters::Counter counter;
} kCommonNames[] = {{"launches", DeviceCounters::kLaunches},
                    {"noProgress", DeviceCounters::kAllocationFailures},
                    {"dataErrors", DeviceCounters::kExceptions}};

Status ReadByName(const DeviceCounters& values, std::string_view name, uint64_t* value) {
    for (const auto& common : kCommonNames) {
        if (common.name == name) {
            *value = values.Read(common.counter);
            return {};
        }
    }
    if (std::find(std::begin(kNames), std::end(kNames), name) == std::end(kNames) &&
        !DeviceCounters::IsCounted(name)) {
        return Error(ACL_ERROR_INVALID_PARAM,
                     "name is \"{}\"; expected launches, advanced, padded, released, needed, "
                     "preempted, dispatched, recovered, stalled, noProgress, dataErrors, or a "
                     "counter of another operator that has run",
                     name);
    }
    *value = values.Read(name);
    return {};
}

}  // namespace

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

aclError advstepReadCounter(int32_t deviceId, const char* name, uint64_t* value) {
    return AclBoundary("advstepReadCounter", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(name, "name"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(value, "value"));
        const Device* device = nullptr;
        ADVSTEP_RETURN_IF_ERROR(TheDeviceRegistry().Find(deviceId, &device));
        return ReadByName(device->counters(), name, value);
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
