// SPDX-License-Identifier: Apache-2.0
// Registers memory and copies from and to it.

#include "src/adxl/registered_memory.h"

#include <algorithm>
#include <cstring>

namespace advstep::transfer {
namespace {

bool IsOnDevice(uint64_t address) {
    aclrtPtrAttributes attributes{};
    return aclrtPointerGetAttributes(reinterpret_cast<const void*>(address), &attributes) ==
               ACL_SUCCESS &&
           attributes.location.type == ACL_MEM_LOCATION_TYPE_DEVICE;
}

// The bytes from `address` to the end of its block; 0: there is no block.
uint64_t RestOfBlock(uint64_t address) {
    void* base = nullptr;
    size_t bytes = 0;
    if (!IsOnDevice(address) ||
        aclrtMemGetAddressRange(reinterpret_cast<void*>(address), &base, &bytes) != ACL_SUCCESS) {
        return 0;
    }
    return reinterpret_cast<uint64_t>(base) + bytes - address;
}

// Blocks of device memory may lie side by side, as mappings in one reservation do.
Outcome RequireDevice(const adxl::MemDesc& mem) {
    uint64_t done = 0;
    while (done < mem.len) {
        const uint64_t rest = RestOfBlock(mem.addr + done);
        if (rest == 0) {
            return Fail(adxl::PARAM_INVALID,
                        "mem is of MEM_DEVICE, and {:#x} is no device memory; expected {} bytes of "
                        "it from {:#x}",
                        mem.addr + done, mem.len, mem.addr);
        }
        done += std::min(rest, mem.len - done);
    }
    return {};
}

Outcome RequireHost(const adxl::MemDesc& mem) {
    for (const uint64_t address : {mem.addr, mem.addr + mem.len - 1}) {
        if (IsOnDevice(address)) {
            return Fail(adxl::PARAM_INVALID,
                        "mem is of MEM_HOST, and {:#x} is device memory; expected MEM_DEVICE",
                        address);
        }
    }
    return {};
}

// Lets the calling thread copy: in a context, and also while another thread captures.
class CopyScope {
 public:
    explicit CopyScope(aclrtContext context) {
        aclrtContext now = nullptr;
        if (aclrtGetCurrentContext(&now) != ACL_SUCCESS || now == nullptr) {
            hasContext_ = aclrtSetCurrentContext(context) == ACL_SUCCESS;
        }
        (void)aclmdlRICaptureThreadExchangeMode(&mode_);
    }
    ~CopyScope() { (void)aclmdlRICaptureThreadExchangeMode(&mode_); }
    CopyScope(const CopyScope&) = delete;
    CopyScope& operator=(const CopyScope&) = delete;

    bool HasContext() const { return hasContext_; }

 private:
    bool hasContext_ = true;
    aclmdlRICaptureMode mode_ = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
};

Outcome NotRegistered(const Range& piece) {
    return Fail(
        adxl::FAILED,
        "the {} bytes at {:#x} were deregistered during the transfer; expected them to stay",
        piece.bytes, piece.address);
}

Outcome CopyOfDevice(bool fromDevice, aclrtContext context, Range piece, char* bytes) {
    const CopyScope scope(context);
    if (!scope.HasContext()) {
        return Fail(adxl::FAILED,
                    "the context of the memory at {:#x} has ended; expected it to stay until "
                    "DeregisterMem",
                    piece.address);
    }
    while (piece.bytes > 0) {
        const uint64_t part = std::min(piece.bytes, RestOfBlock(piece.address));
        void* const device = reinterpret_cast<void*>(piece.address);
        if (part == 0 ||
            aclrtMemcpy(fromDevice ? bytes : device, part, fromDevice ? device : bytes, part,
                        fromDevice ? ACL_MEMCPY_DEVICE_TO_HOST : ACL_MEMCPY_HOST_TO_DEVICE) !=
                ACL_SUCCESS) {
            return Fail(adxl::FAILED,
                        "the device memory at {:#x} was freed or its device has failed; expected "
                        "it to stay until DeregisterMem",
                        piece.address);
        }
        bytes += part;
        piece.address += part;
        piece.bytes -= part;
    }
    return {};
}

}  // namespace

Outcome RegisteredMemory::Register(const adxl::MemDesc& mem, adxl::MemType type,
                                   adxl::MemHandle* handle) {
    if (type != adxl::MEM_DEVICE && type != adxl::MEM_HOST) {
        return Fail(adxl::PARAM_INVALID, "type is {}; expected MEM_DEVICE or MEM_HOST",
                    static_cast<int>(type));
    }
    if (mem.addr == 0 || mem.len == 0 || mem.len > UINTPTR_MAX - mem.addr) {
        return Fail(adxl::PARAM_INVALID,
                    "mem has {} bytes from {:#x}; expected a range of at least one byte", mem.len,
                    mem.addr);
    }
    const bool isDevice = type == adxl::MEM_DEVICE;
    ADVSTEP_TRANSFER_RETURN_IF_ERROR(isDevice ? RequireDevice(mem) : RequireHost(mem));
    aclrtContext context = nullptr;
    if (isDevice && (aclrtGetCurrentContext(&context) != ACL_SUCCESS || context == nullptr)) {
        return Fail(adxl::FAILED, "the calling thread has no context; expected aclrtSetDevice");
    }
    const auto region = std::make_shared<Region>(Region{{mem.addr, mem.len}, isDevice, context});
    const std::lock_guard<std::mutex> lock(mutex_);
    const uint64_t number = lastHandle_ + 1;
    const auto entered = regions_.emplace(number, region).first;
    try {
        regionsByAddress_.emplace(mem.addr, region);
    } catch (...) {
        regions_.erase(entered);
        throw;
    }
    lastHandle_ = number;
    *handle = reinterpret_cast<adxl::MemHandle>(number);
    return {};
}

Outcome RegisteredMemory::Deregister(adxl::MemHandle handle) {
    std::unique_lock<std::mutex> lock(mutex_);
    const auto found = regions_.find(reinterpret_cast<uint64_t>(handle));
    if (found == regions_.end()) {
        return Fail(adxl::PARAM_INVALID,
                    "mem_handle is {}, no registration of this engine; expected one of RegisterMem",
                    handle);
    }
    const std::shared_ptr<Region> region = found->second;
    regions_.erase(found);
    const auto same = regionsByAddress_.equal_range(region->range.address);
    regionsByAddress_.erase(std::find_if(
        same.first, same.second, [&](const auto& entry) { return entry.second == region; }));
    unused_.wait(lock, [&] { return region->users == 0; });
    return {};
}

void RegisteredMemory::Clear() {
    std::unique_lock<std::mutex> lock(mutex_);
    const auto regions = std::move(regions_);
    regions_.clear();
    regionsByAddress_.clear();
    for (const auto& entry : regions) {
        unused_.wait(lock, [&] { return entry.second->users == 0; });
    }
}

// Registrations that begin behind the range are left out; those before it are tried from the
// nearest one on.
std::shared_ptr<RegisteredMemory::Region> RegisteredMemory::FindLocked(const Range& range) const {
    auto after = regionsByAddress_.upper_bound(range.address);
    while (after != regionsByAddress_.begin()) {
        --after;
        const Range& known = after->second->range;
        const uint64_t before = range.address - known.address;
        if (before <= known.bytes && range.bytes <= known.bytes - before) {
            return after->second;
        }
    }
    return nullptr;
}

bool RegisteredMemory::Holds(const Range& range) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return range.bytes > 0 && FindLocked(range) != nullptr;
}

Outcome RegisteredMemory::Copy(Way way, const Range& piece, char* bytes) {
    std::shared_ptr<Region> region;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        region = FindLocked(piece);
        if (region == nullptr) {
            return NotRegistered(piece);
        }
        ++region->users;
    }
    // No failure leaves the count behind: the message of one may find no memory.
    struct Leave {
        ~Leave() {
            const std::lock_guard<std::mutex> lock(memory.mutex_);
            if (--region.users == 0) {
                memory.unused_.notify_all();
            }
        }
        RegisteredMemory& memory;
        Region& region;
    } const leave{*this, *region};
    if (region->isDevice) {
        return CopyOfDevice(way == Way::kFrom, region->context, piece, bytes);
    }
    void* const host = reinterpret_cast<void*>(piece.address);
    std::memcpy(way == Way::kFrom ? bytes : host, way == Way::kFrom ? host : bytes, piece.bytes);
    return {};
}

Outcome RangeStream::Copy(RegisteredMemory::Way way, char* bytes, size_t count) {
    while (count > 0) {
        const Range& range = ranges_[range_];
        const uint64_t part = std::min<uint64_t>(range.bytes - offset_, count);
        ADVSTEP_TRANSFER_RETURN_IF_ERROR(memory_.Copy(way, {range.address + offset_, part}, bytes));
        bytes += part;
        count -= part;
        offset_ += part;
        if (offset_ == range.bytes) {
            ++range_;
            offset_ = 0;
        }
    }
    return {};
}

}  // namespace advstep::transfer
