// SPDX-License-Identifier: Apache-2.0
// The devices of the machine, for a library of src/cann.

#include "src/advstep/machine.h"

#include "src/base/boundary.h"
#include "src/runtime/lifecycle/device_registry.h"

using namespace advstep;

aclError advstepCountMachineDevices(const char* call, int32_t* count) {
    return AclBoundary(call, [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(count, "count"));
        Settings settings;
        ADVSTEP_RETURN_IF_ERROR(TheDeviceRegistry().ReadSettings(&settings));
        *count = settings.machineDevices;
        return {};
    });
}
