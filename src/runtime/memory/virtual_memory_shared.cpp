// SPDX-License-Identifier: Apache-2.0
// Physical memory that processes share, and the rights to use mappings.
#include <algorithm>
#include <iterator>
#include <utility>

#include "acl/acl_rt.h"
#include "src/runtime/device/device.h"
#include "src/runtime/memory/address_range.h"
#include "src/runtime/memory/memory_sharing.h"
#include "src/runtime/memory/virtual_memory.h"

namespace advstep {
namespace {

Status NotMapped(const void* address) {
    return Error(ACL_ERROR_RT_PARAM_INVALID,
                 "virPtr is {}, where no memory is mapped; expected an address of aclrtMapMem",
                 address);
}

}  // namespace

// Returns the mapping around an address. Null: no memory is mapped there.
const VirtualMemory::Mapping* VirtualMemory::FindMapped(const void* address) const {
    const auto found = FindOverlap(mappings_, reinterpret_cast<uintptr_t>(address), 1);
    return found == mappings_.end() || found->second.retired ? nullptr : &found->second;
}

Status VirtualMemory::Retain(const void* address, Handle* handle, bool* again) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const Mapping* const mapping = FindMapped(address);
    if (mapping == nullptr) {
        return NotMapped(address);
    }
    PhysicalMemory& physical = *mapping->physical;
    *again = physical.handle == 0;
    physical.handle = physical.name;
    ++physical.uses;
    *handle = physical.name;
    return {};
}

Status VirtualMemory::Describe(Handle handle, const Device** device, int32_t* attribute) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    PhysicalMemory* physical = nullptr;
    ADVSTEP_RETURN_IF_ERROR(FindPhysical(handle, &physical));
    *device = physical->device;
    *attribute = physical->attribute;
    return {};
}

Status VirtualMemory::Export(Handle handle, bool open, uint64_t* key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    PhysicalMemory* physical = nullptr;
    ADVSTEP_RETURN_IF_ERROR(FindPhysical(handle, &physical));
    if (physical->shareKey != 0) {
        return Error(
            ACL_ERROR_RT_PARAM_INVALID, "handle {} {}; expected {}", ToPointer(handle),
            physical->pages != nullptr ? "has been exported already" : "is of another process",
            physical->pages != nullptr ? "one export of each handle"
                                       : "a handle of aclrtMallocPhysical");
    }
    ShareOffer offer;
    offer.kind = ShareKind::kPhysical;
    offer.pool = &BarePages();
    offer.pages = physical->pages;
    offer.length = physical->bytes;
    offer.device = physical->device->id();
    offer.open = open;
    ADVSTEP_RETURN_IF_ERROR(TheShareServer().Publish(offer, &physical->shareKey));
    *key = physical->shareKey;
    return {};
}

Status VirtualMemory::CheckNotImported(uint64_t key) {
    bool known = false;
    physical_.ForEach([&](const PhysicalMemory& physical) {
        known = known || (physical.grant != nullptr && physical.shareKey == key);
    });
    return known ? Error(ACL_ERROR_RT_PARAM_INVALID,
                         "shareableHandle is {:#x}, which this process has imported; expected one "
                         "import in each process",
                         key)
                 : Status();
}

// It holds no lock while it asks the other process.
Status VirtualMemory::Import(const Device* device, uint64_t key, Handle* handle, int32_t* owner) {
    if (TheShareServer().Mine(key)) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "shareableHandle is {:#x}, of this process; expected another process's", key);
    }
    auto grant = std::make_unique<ShareGrant>();
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        ADVSTEP_RETURN_IF_ERROR(CheckNotImported(key));
    }
    ADVSTEP_RETURN_IF_ERROR(FetchShared(ShareKind::kPhysical, key, "shareableHandle", grant.get()));
    const std::lock_guard<std::mutex> lock(mutex_);
    ReclaimLocked();
    ADVSTEP_RETURN_IF_ERROR(CheckNotImported(key));  // another thread may have done so meanwhile
    retired_.try_emplace(device);
    const auto entry = physical_.Acquire();
    OpenPhysical(entry.object, entry.handle, device, grant->length);
    *owner = grant->device;
    entry.object->shareKey = key;
    entry.object->grant = std::move(grant);
    *handle = entry.handle;
    return {};
}

Status VirtualMemory::SetAccess(const void* address, size_t bytes,
                                const std::vector<Access>& access) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = mappings_.find(reinterpret_cast<uintptr_t>(address));
    if (found == mappings_.end() || found->second.retired || found->second.bytes != bytes) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "virPtr is {} with size {}, not a whole mapping; expected those of one "
                     "aclrtMapMem",
                     address, bytes);
    }
    Mapping& mapping = found->second;
    std::vector<Access> merged = mapping.access;
    if (merged.empty()) {
        merged.push_back({ACL_MEM_LOCATION_TYPE_DEVICE,
                          static_cast<uint32_t>(mapping.physical->device->id()),
                          ACL_RT_MEM_ACCESS_FLAGS_READWRITE});
    }
    for (const Access& wanted : access) {
        const auto known = std::find_if(merged.begin(), merged.end(), [&](const Access& other) {
            return other.type == wanted.type && other.id == wanted.id;
        });
        if (known == merged.end()) {
            merged.push_back(wanted);
        } else if (known->rights != wanted.rights) {
            return Error(ACL_ERROR_RT_DRV_INTERNAL_ERROR,
                         "desc gives location {} of type {} the rights {}; expected the {} that it "
                         "has at virPtr {}",
                         wanted.id, wanted.type, wanted.rights, known->rights, address);
        }
    }
    mapping.access = std::move(merged);
    return {};
}

Status VirtualMemory::GetAccess(const void* address, uint32_t type, uint32_t id,
                                uint32_t* rights) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const Mapping* const mapping = FindMapped(address);
    if (mapping == nullptr) {
        return NotMapped(address);
    }
    const bool own = type == ACL_MEM_LOCATION_TYPE_DEVICE &&
                     id == static_cast<uint32_t>(mapping->physical->device->id());
    *rights = own ? ACL_RT_MEM_ACCESS_FLAGS_READWRITE : ACL_RT_MEM_ACCESS_FLAGS_NONE;
    for (const Access& known : mapping->access) {
        if (known.type == type && known.id == id) {
            *rights = known.rights;
        }
    }
    return {};
}

bool VirtualMemory::FindMapping(const void* address, void** begin, size_t* bytes) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const Mapping* const mapping = FindMapped(address);
    if (mapping == nullptr) {
        return false;
    }
    *begin = reinterpret_cast<void*>(mapping->begin);
    *bytes = mapping->bytes;
    return true;
}

}  // namespace advstep
