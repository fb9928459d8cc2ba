// SPDX-License-Identifier: Apache-2.0
// Allocates device and pinned memory for calls, after the checks of their arguments.
#include "src/acl/allocate.h"
#include "src/acl/pinned_bytes.h"

#include <utility>

#include "src/base/boundary.h"
#include "src/base/live_objects.h"
#include "src/runtime/device/device.h"
#include "src/runtime/memory/address_range.h"
#include "src/runtime/memory/memories.h"
#include "src/runtime/stream/current.h"

namespace advstep {
namespace {

constexpr uint32_t kPolicyBits = 0xFF;
constexpr uint32_t kMemoryTypeBits =
    ACL_MEM_TYPE_LOW_BAND_WIDTH | ACL_MEM_TYPE_HIGH_BAND_WIDTH | ACL_MEM_ACCESS_USER_SPACE_READONLY;

Status CheckAttribute(const aclrtMallocAttribute& attribute, size_t index) {
    switch (static_cast<int>(attribute.attr)) {
        case ACL_RT_MEM_ATTR_RSV:
        case ACL_RT_MEM_ATTR_MODULE_ID:
        case ACL_RT_MEM_ATTR_VA_FLAG:  // host memory has the same address on every device anyway
            return {};
        case ACL_RT_MEM_ATTR_DEVICE_ID: {
            ContextRef current;
            ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
            const auto own = static_cast<uint32_t>(current.device->id());
            return attribute.value.deviceId == own
                       ? Status()
                       : Error(ACL_ERROR_RT_PARAM_INVALID,
                               "cfg->attrs[{}].value.deviceId is {}; expected the current "
                               "context's device {}",
                               index, attribute.value.deviceId, own);
        }
        default:
            return Error(ACL_ERROR_INVALID_PARAM,
                         "cfg->attrs[{}].attr is {}; expected an aclrtMallocAttrType", index,
                         static_cast<int>(attribute.attr));
    }
}

}  // namespace

Status CheckSize(uint64_t size) {
    return size > 0 ? Status()
                    : Error(ACL_ERROR_INVALID_PARAM, "size is 0; expected at least 1 byte");
}

Status AllocateDevice(const char* call, void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(devPtr, "devPtr"));
    ADVSTEP_RETURN_IF_ERROR(CheckSize(size));
    const auto bits = static_cast<uint32_t>(policy);
    if ((bits & kPolicyBits) > ACL_MEM_MALLOC_HUGE1G_ONLY_P2P ||
        (bits & ~(kPolicyBits | kMemoryTypeBits)) != 0) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "policy is {:#x}; expected an aclrtMemMallocPolicy", bits);
    }
    ContextRef current;
    ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
    Status made = TakeDeviceMemory(current.device, [&] {
        return TheDeviceMemory().Allocate(MemoryKind::kDevice, current.device, size, devPtr);
    });
    return NoteIfMade(std::move(made), ObjectKind::kDeviceMemory, call, devPtr, size);
}

Status AllocatePinned(const char* call, void** hostPtr, size_t size) {
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(hostPtr, "hostPtr"));
    ADVSTEP_RETURN_IF_ERROR(CheckSize(size));
    ContextRef current;
    ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
    Status made = PinCounted(*current.device, size, hostPtr, [&] {
        return TheDeviceMemory().Allocate(MemoryKind::kPinnedHost, nullptr, size, hostPtr);
    });
    return NoteIfMade(std::move(made), ObjectKind::kPinnedMemory, call, hostPtr, size);
}

Status FreeMemory(MemoryKind kind, void* address) {
    Status freed =
        Freeing(kind == MemoryKind::kDevice ? ObjectKind::kDeviceMemory : ObjectKind::kPinnedMemory,
                address, [&] {
                    const auto free = [&] { return TheDeviceMemory().Free(kind, address); };
                    return kind == MemoryKind::kPinnedHost ? UnpinCounted(address, free) : free();
                });
    if (TheDeviceMemory().NarrowIsDue()) {
        (void)NarrowHeldMemory();
    }
    return freed;
}

Status CheckHostRange(const void* ptr, uint64_t size) {
    if (size > UINTPTR_MAX - reinterpret_cast<uintptr_t>(ptr) ||
        TheVirtualMemory().Reserved(ptr, size) || !HasMemory(ptr, size)) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "ptr is {} with size {}; expected a range of the program's own memory", ptr,
                     size);
    }
    return {};
}

Status CheckStartsPage(const void* ptr) {
    constexpr uintptr_t kPage = 4096;
    return reinterpret_cast<uintptr_t>(ptr) % kPage == 0
               ? Status()
               : Error(ACL_ERROR_RT_PARAM_INVALID, "ptr is {}; expected a multiple of {}", ptr,
                       kPage);
}

Status CheckMallocConfig(const aclrtMallocConfig* cfg) {
    if (cfg == nullptr || cfg->numAttrs == 0) {
        return {};
    }
    if (cfg->attrs == nullptr) {
        return Error(ACL_ERROR_INVALID_PARAM,
                     "cfg->attrs is null with cfg->numAttrs {}; expected that many attributes",
                     cfg->numAttrs);
    }
    for (size_t i = 0; i < cfg->numAttrs; ++i) {
        ADVSTEP_RETURN_IF_ERROR(CheckAttribute(cfg->attrs[i], i));
    }
    return {};
}

}  // namespace advstep
