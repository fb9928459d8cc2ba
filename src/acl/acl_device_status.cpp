// SPDX-License-Identifier: Apache-2.0
// Numbers, states and utilization of devices.
#include <strings.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "acl/acl_rt.h"
#include "src/base/boundary.h"
#include "src/runtime/device/device.h"
#include "src/runtime/lifecycle/device_registry.h"
#include "src/runtime/memory/memories.h"

using namespace advstep;

namespace {

// Checks a device number and converts it: a device has the same number for everyone.
aclError Convert(const char* call, const char* fromName, int32_t from, const char* toName,
                 int32_t* to) {
    return AclBoundary(call, [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(to, toName));
        if (from < 0) {
            return Error(ACL_ERROR_RT_PARAM_INVALID, "{} is {}; expected at least 0", fromName,
                         from);
        }
        const Device* device = nullptr;
        ADVSTEP_RETURN_IF_ERROR(TheDeviceRegistry().Find(from, &device, fromName));
        *to = from;
        return {};
    });
}

// Returns the address on a PCI bus. Bus 0 stays free; a domain has 256 buses.
std::string BusAddress(const Device& device) {
    constexpr int32_t kBuses = 256;
    const int32_t number = device.settings().PhysicalDevice(device.id()) + 1;
    char address[32];
    (void)std::snprintf(address, sizeof(address), "%04x:%02x:00.0",
                        static_cast<unsigned>(number / kBuses),
                        static_cast<unsigned>(number % kBuses));
    return address;
}

}  // namespace

aclError aclrtGetLogicDevIdByUserDevId(const int32_t userDevid, int32_t* const logicDevId) {
    return Convert("aclrtGetLogicDevIdByUserDevId", "userDevid", userDevid, "logicDevId",
                   logicDevId);
}

aclError aclrtGetUserDevIdByLogicDevId(const int32_t logicDevId, int32_t* const userDevid) {
    return Convert("aclrtGetUserDevIdByLogicDevId", "logicDevId", logicDevId, "userDevid",
                   userDevid);
}

aclError aclrtGetLogicDevIdByPhyDevId(const int32_t phyDevId, int32_t* const logicDevId) {
    return Convert("aclrtGetLogicDevIdByPhyDevId", "phyDevId", phyDevId, "logicDevId", logicDevId);
}

aclError aclrtGetPhyDevIdByLogicDevId(const int32_t logicDevId, int32_t* const phyDevId) {
    return Convert("aclrtGetPhyDevIdByLogicDevId", "logicDevId", logicDevId, "phyDevId", phyDevId);
}

aclError aclrtGetUserDevIdByPhyDevId(const int32_t phyDevId, int32_t* const userDevid) {
    return Convert("aclrtGetUserDevIdByPhyDevId", "phyDevId", phyDevId, "userDevid", userDevid);
}

aclError aclrtGetPhyDevIdByUserDevId(const int32_t userDevid, int32_t* const phyDevId) {
    return Convert("aclrtGetPhyDevIdByUserDevId", "userDevid", userDevid, "phyDevId", phyDevId);
}

aclError aclrtDeviceGetBareTgid(int32_t* pid) {
    return AclBoundary("aclrtDeviceGetBareTgid", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(pid, "pid"));
        *pid = static_cast<int32_t>(getpid());
        return {};
    });
}

aclError aclrtQueryDeviceStatus(int32_t deviceId, aclrtDeviceStatus* deviceStatus) {
    return AclBoundary("aclrtQueryDeviceStatus", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(deviceStatus, "deviceStatus"));
        const Device* device = nullptr;
        ADVSTEP_RETURN_IF_ERROR(TheDeviceRegistry().Find(deviceId, &device));
        *deviceStatus = ACL_RT_DEVICE_STATUS_NORMAL;
        return {};
    });
}

aclError aclrtGetDeviceUtilizationRate(int32_t deviceId, aclrtUtilizationInfo* utilizationInfo) {
    return AclBoundary("aclrtGetDeviceUtilizationRate", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(utilizationInfo, "utilizationInfo"));
        if (utilizationInfo->utilizationExtend != nullptr) {
            return Error(ACL_ERROR_INVALID_PARAM,
                         "utilizationInfo->utilizationExtend is not null; expected null");
        }
        aclrtUtilizationInfo answer = {-1, -1, -1, -1, nullptr};
        const Device* device = nullptr;
        if (TheDeviceRegistry().Find(deviceId, &device).ok()) {
            answer.vectorUtilization = device->usage().Percent(CoreUsage::Clock::now());
            answer.cubeUtilization = answer.vectorUtilization < 0 ? -1 : 0;
            answer.aicpuUtilization = 0;
        }
        *utilizationInfo = answer;
        return {};
    });
}

aclError aclrtDeviceGetUuid(int32_t deviceId, aclrtUuid* uuid) {
    return AclBoundary("aclrtDeviceGetUuid", [&]() -> Status {
        constexpr size_t kNameBytes = 12;
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(uuid, "uuid"));
        const Device* device = nullptr;
        ADVSTEP_RETURN_IF_ERROR(TheDeviceRegistry().Find(deviceId, &device));
        std::memset(uuid, 0, sizeof(*uuid));
        // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): it was found
        device->settings().soc.name.copy(uuid->bytes, kNameBytes);
        const auto number = static_cast<uint32_t>(device->settings().PhysicalDevice(device->id()));
        for (size_t i = kNameBytes; i < sizeof(uuid->bytes); ++i) {
            uuid->bytes[i] = static_cast<char>(number >> (8 * (i - kNameBytes)) & 0xFF);
        }
        return {};
    });
}

aclError aclrtGetMemUsageInfo(int32_t deviceId, aclrtMemUsageInfo* memUsageInfo, size_t inputNum,
                              size_t* outputNum) {
    return AclBoundary("aclrtGetMemUsageInfo", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(memUsageInfo, "memUsageInfo"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(outputNum, "outputNum"));
        if (inputNum == 0) {
            return Error(ACL_ERROR_RT_PARAM_INVALID, "inputNum is 0; expected at least 1");
        }
        const Device* device = nullptr;
        ADVSTEP_RETURN_IF_ERROR(TheDeviceRegistry().Find(deviceId, &device));
        aclrtMemUsageInfo use;
        std::memset(&use, 0, sizeof(use));
        std::memcpy(use.name, "APP", sizeof("APP"));
        (void)NarrowHeldMemory();
        // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): it was found
        TheDeviceMemory().ReadUse(*device, &use.curMemSize, &use.memPeakSize);
        memUsageInfo[0] = use;
        *outputNum = 1;
        return {};
    });
}

aclError aclrtDeviceGetPCIBusId(int32_t deviceId, char* pciBusId, int32_t len) {
    return AclBoundary("aclrtDeviceGetPCIBusId", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(pciBusId, "pciBusId"));
        const Device* device = nullptr;
        ADVSTEP_RETURN_IF_ERROR(TheDeviceRegistry().Find(deviceId, &device));
        // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): it was found
        const std::string address = BusAddress(*device);
        if (len < 0 || static_cast<size_t>(len) <= address.size()) {
            return Error(ACL_ERROR_RT_PARAM_INVALID,
                         "len is {}; expected at least {} for the address and its NUL", len,
                         address.size() + 1);
        }
        std::memcpy(pciBusId, address.c_str(), address.size() + 1);
        return {};
    });
}

aclError aclrtDeviceGetByPCIBusId(const char* pciBusId, int32_t* deviceId) {
    return AclBoundary("aclrtDeviceGetByPCIBusId", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(pciBusId, "pciBusId"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(deviceId, "deviceId"));
        uint32_t count = 0;
        ADVSTEP_RETURN_IF_ERROR(TheDeviceRegistry().Count(&count));
        for (int32_t id = 0; id < static_cast<int32_t>(count); ++id) {
            const Device* device = nullptr;
            ADVSTEP_RETURN_IF_ERROR(TheDeviceRegistry().Find(id, &device));
            // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): it was found
            if (strcasecmp(BusAddress(*device).c_str(), pciBusId) == 0) {
                *deviceId = id;
                return {};
            }
        }
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "pciBusId is \"{}\", which no device has; expected an address of "
                     "aclrtDeviceGetPCIBusId",
                     pciBusId);
    });
}
