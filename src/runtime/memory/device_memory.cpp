// SPDX-License-Identifier: Apache-2.0
// Enters memory in the map and finds it there, and defers frees until earlier work has run.

#include "src/runtime/memory/device_memory.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <new>
#include <utility>

#include "acl/acl_base.h"
#include "src/runtime/device/device.h"
#include "src/runtime/memory/address_range.h"
#include "src/runtime/memory/fork_records.h"
#include "src/runtime/memory/guarded_memory.h"
#include "src/runtime/memory/memory_block.h"
#include "src/runtime/memory/memory_sharing.h"
#include "src/runtime/memory/page_pool.h"
#include "src/runtime/sanitizer/device_sanitizer.h"
#include "src/runtime/task/ticket.h"

namespace advstep {

/// The resources of a block of another process that is mapped into this one, beside its addresses.
struct ImportedBlock {
    uint64_t number = 0;  // in the order of the imports
    void* pages = nullptr;
    size_t bytes = 0;  // of the pages
    Descriptor file;   // the child of a fork maps it anew
    ForkRecord* forkRange = nullptr;

    ImportedBlock() = default;
    ImportedBlock(const ImportedBlock&) = delete;
    ImportedBlock& operator=(const ImportedBlock&) = delete;
    ~ImportedBlock() {
        ForgetForkRecord(forkRange);
        if (pages != nullptr) {
            ReleaseAddresses(pages, bytes);
        }
    }
};

namespace {

Status AlreadyRegistered(const void* address, size_t bytes, uintptr_t begin, size_t known) {
    return Error(ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
                 "ptr is {}, a range of {} bytes that meets the {} bytes pinned at {:#x}; expected "
                 "memory that is not pinned, or a range inside one block of aclrtMallocHost",
                 address, bytes, known, begin);
}

Block::Kind KindOf(const Allocation& allocation) {
    switch (allocation.origin) {
        case MemoryOrigin::kRegistered:
            return Block::Kind::kRegistered;
        case MemoryOrigin::kMapped:
            return Block::Kind::kMapped;
        case MemoryOrigin::kImported:
            return Block::Kind::kImported;
        case MemoryOrigin::kAllocated:
            break;
    }
    return allocation.OfDevice() ? Block::Kind::kDevice : Block::Kind::kPinned;
}

// Tells the sanitizer of memory. Without memory for its own it misses that.
void TellAllocated(const Allocation& allocation) noexcept {
    const Block::Kind kind = KindOf(allocation);
    try {
        const uint64_t filled =
            TheDeviceSanitizer().Allocated(kind, allocation.begin, allocation.bytes,
                                           allocation.OfDevice() ? allocation.device : nullptr);
        std::memset(reinterpret_cast<void*>(allocation.begin), 0xA5, filled);
    } catch (const std::bad_alloc&) {
    }
}

void TellEnded(uintptr_t begin) noexcept {
    if (SanitizingWork()) {
        try {
            TheDeviceSanitizer().Ended(begin);
        } catch (const std::bad_alloc&) {
        }
    }
}

void TellFreedWrongly(MemoryKind kind, const void* address) noexcept {
    if (SanitizingWork()) {
        try {
            TheDeviceSanitizer().FreedWrongly(address, kind == MemoryKind::kDevice);
        } catch (const std::bad_alloc&) {
        }
    }
}

}  // namespace

// Blocks.

Status DeviceMemory::Allocate(MemoryKind kind, const Device* device, size_t bytes, void** address,
                              std::optional<MemoryHold>* hold) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    ReclaimLocked();
    kept_.Allocates();
    if (kind == MemoryKind::kDevice) {
        ADVSTEP_RETURN_IF_ERROR(ChargeLocked(device, bytes));
    }
    Owned& owned = owned_[device];
    Allocation allocation{0, bytes, kind, device};
    void* memory = nullptr;
    try {
        BlockSource source;
        if (Status taken = TakeBlock(bytes, device, &source, &memory); !taken.ok()) {
            UncountLocked(allocation);
            return taken;
        }
        allocation.guard = source.guard;
        allocation.pages = source.pages;
    } catch (...) {
        UncountLocked(allocation);
        throw;
    }
    allocation.begin = reinterpret_cast<uintptr_t>(memory);
    allocation.epoch = epoch();
    DropStaleRegistrationsLocked(allocation.begin, bytes);
    try {
        ++owned.blocks;
        ReserveRetired(&owned);
        live_.emplace(allocation.begin, allocation);
    } catch (...) {
        --owned.blocks;
        live_.erase(allocation.begin);
        GiveBackLocked(allocation);
        throw;
    }
    if (SanitizingWork()) {
        TellAllocated(allocation);
    }
    if (hold != nullptr) {
        hold->emplace(&holds_, HeldRange(memory, bytes));
    }
    *address = memory;
    return {};
}

Status DeviceMemory::Free(MemoryKind kind, void* address) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    Live::const_iterator found;
    ADVSTEP_RETURN_IF_ERROR(FindFreeableLocked(kind, address, &found));
    RetireLocked(found->second);
    EndRegistrationsInsideLocked(found->second);
    live_.erase(found);
    TellEnded(reinterpret_cast<uintptr_t>(address));
    ReclaimLocked();
    return {};
}

Status DeviceMemory::FindFreeable(MemoryKind kind, const void* address,
                                  Allocation* allocation) const {
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    Live::const_iterator found;
    ADVSTEP_RETURN_IF_ERROR(FindFreeableLocked(kind, address, &found));
    *allocation = found->second;
    return {};
}

Status DeviceMemory::FindFreeableLocked(MemoryKind kind, const void* address,
                                        Live::const_iterator* it) const {
    *it = live_.find(reinterpret_cast<uintptr_t>(address));
    if (*it != live_.end() && (*it)->second.kind == kind &&
        (*it)->second.origin == MemoryOrigin::kAllocated) {
        return {};
    }
    TellFreedWrongly(kind, address);
    return Error(ACL_ERROR_RT_PARAM_INVALID,
                 "{} is {}, not the start of a live allocation; expected an address of {}",
                 kind == MemoryKind::kDevice ? "devPtr" : "hostPtr", address,
                 kind == MemoryKind::kDevice ? "aclrtMalloc" : "aclrtMallocHost");
}

// Registered host memory: the program's own, and ranges inside blocks of pinned host memory.

Status DeviceMemory::Register(void* address, size_t bytes, const RegistrationEffect& effect) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    const auto begin = reinterpret_cast<uintptr_t>(address);
    const auto other = LastBefore(begin + bytes, begin);
    if (other == live_.end()) {
        Allocation registered{
            begin, bytes, MemoryKind::kPinnedHost, nullptr, MemoryOrigin::kRegistered, 0, epoch()};
        registered.mapped = effect.mapped;
        registered.pageable = !effect.pinned;
        live_.emplace(begin, registered);
        if (SanitizingWork()) {
            TellAllocated(registered);
        }
        return {};
    }
    const Allocation& known = other->second;
    if (known.OfDevice()) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "ptr is {}, a range of {} bytes with device memory at {:#x}; expected host "
                     "memory",
                     address, bytes, known.begin);
    }
    const bool inside = known.origin == MemoryOrigin::kAllocated && known.begin <= begin &&
                        begin + bytes <= known.end();
    if (!inside) {
        return AlreadyRegistered(address, bytes, known.begin, known.bytes);
    }
    return RegisterInsideLocked(known, begin, bytes, effect);
}

Status DeviceMemory::RegisterInsideLocked(const Allocation& block, uintptr_t begin, size_t bytes,
                                          const RegistrationEffect& effect) {
    const auto* const address = reinterpret_cast<const void*>(begin);
    if (effect.onlyPageable) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "ptr is {}, inside the {} bytes pinned at {:#x}; expected memory that is not "
                     "pinned, or a flag without ACL_HOST_REG_PINNED",
                     address, block.bytes, block.begin);
    }
    const auto other = FindOverlap(inside_, begin, bytes);
    if (other != inside_.end()) {
        return AlreadyRegistered(address, bytes, other->second.begin, other->second.bytes);
    }
    inside_.emplace(begin, Inside{begin, bytes, effect.mapped});
    return {};
}

Status DeviceMemory::FindRegistered(const void* address, HeldMemory::Freed* range) const {
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    return FindRegisteredLocked(address, range);
}

// Work may have an address of the range and use more of the block around it.
Status DeviceMemory::FindRegisteredLocked(const void* address, HeldMemory::Freed* range) const {
    const auto begin = reinterpret_cast<uintptr_t>(address);
    const auto found = live_.find(begin);
    const auto inside = inside_.find(begin);
    if (inside != inside_.end()) {
        const Allocation* const block = FindLocked(begin);
        *range = {0, begin, begin + inside->second.bytes, block->begin, block->end(), {}};
    } else if (found != live_.end() && found->second.origin == MemoryOrigin::kRegistered) {
        *range = {0, begin, found->second.end(), begin, found->second.end(), {}};
    } else {
        return Error(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED,
                     "ptr is {}, not the start of a registered range; expected an address of "
                     "aclrtHostRegister",
                     address);
    }
    return {};
}

Status DeviceMemory::Unregister(void* address, std::vector<Ticket>* pending, HeldRange* range) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    HeldMemory::Freed registered;
    ADVSTEP_RETURN_IF_ERROR(FindRegisteredLocked(address, &registered));
    InvalidateChecksLocked();
    *pending = pendingPlaces_(nullptr);
    const auto begin = reinterpret_cast<uintptr_t>(address);
    const auto inside = inside_.find(begin);
    if (inside != inside_.end()) {
        *range = {address, inside->second.bytes};
        if (SanitizingWork()) {
            TheDeviceSanitizer().RangeEnds(begin, inside->second.bytes);
        }
        inside_.erase(inside);
    } else {
        const auto own = live_.find(begin);
        *range = {address, own->second.bytes};
        live_.erase(own);
        TellEnded(begin);
    }
    return {};
}

bool DeviceMemory::MappedInside(const Registrations& inside, const Allocation& block,
                                uintptr_t address) {
    if (inside.empty() || block.kind != MemoryKind::kPinnedHost ||
        block.origin != MemoryOrigin::kAllocated) {
        return false;
    }
    const auto found = FindOverlap(inside, address, 1);
    return found != inside.end() && found->second.mapped;
}

// Ends the registrations inside a block that is freed. Work that uses the block keeps its memory,
// with or without a registration.
void DeviceMemory::EndRegistrationsInsideLocked(const Allocation& block) {
    const auto end = inside_.lower_bound(block.end());
    for (auto entry = inside_.lower_bound(block.begin); entry != end;) {
        endedInside_.insert(inside_.extract(entry++));  // needs no memory, so a free cannot fail
    }
}

void DeviceMemory::ForgetRegistrationsInsideLocked(const Allocation& block) {
    if (!endedInside_.empty()) {
        endedInside_.erase(endedInside_.lower_bound(block.begin),
                           endedInside_.lower_bound(block.end()));
    }
}

// Mapped memory, which VirtualMemory enters: neighbours in one reservation are one allocation.

uint64_t DeviceMemory::EnterReserved(uintptr_t begin, size_t bytes) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    DropStaleRegistrationsLocked(begin, bytes);
    return epoch();
}

void DeviceMemory::EnterMapped(const Allocation& range) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    DropStaleRegistrationsLocked(range.begin, range.bytes);
    if (SanitizingWork()) {
        TellAllocated(range);
    }
    const auto joins = [&](const Allocation& other) {
        return other.origin == MemoryOrigin::kMapped && other.reservation == range.reservation &&
               other.device == range.device;
    };
    Live made;  // what may throw comes first
    auto node = made.extract(made.emplace(range.begin, range).first);
    if (spare_.capacity() < spare_.size() + 2) {
        spare_.reserve(2 * spare_.size() + 2);
    }
    const auto next = live_.find(range.end());
    if (next != live_.end() && joins(next->second)) {
        node.mapped().bytes += next->second.bytes;
        spare_.push_back(live_.extract(next));
    }
    const auto before = LastBefore(range.begin, range.begin - 1);
    if (before != live_.end() && joins(before->second)) {
        before->second.bytes += node.mapped().bytes;
        spare_.push_back(std::move(node));
    } else {
        live_.insert(std::move(node));
    }
}

DeviceMemory::Live::node_type DeviceMemory::TakeSpareLocked() {
    auto node = std::move(spare_.back());
    spare_.pop_back();
    return node;
}

// After the look for work it needs no memory, so nothing is left half done.
std::vector<Ticket> DeviceMemory::LeaveMapped(uintptr_t begin, size_t bytes) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    const auto found = LastBefore(begin + 1, begin);
    Allocation& whole = found->second;
    InvalidateChecksLocked();
    std::vector<Ticket> pending = pendingPlaces_(whole.device);
    TellEnded(begin);
    Allocation rest = whole;
    rest.begin = begin + bytes;
    rest.bytes = whole.end() - rest.begin;
    const bool atBegin = whole.begin == begin;
    if (atBegin) {
        auto node = live_.extract(found);
        if (rest.bytes > 0) {
            (void)TakeSpareLocked();
            node.key() = rest.begin;
            node.mapped() = rest;
            live_.insert(std::move(node));
        }
    } else {
        whole.bytes = begin - whole.begin;
        (void)TakeSpareLocked();
        if (rest.bytes > 0) {
            auto node = TakeSpareLocked();
            node.key() = rest.begin;
            node.mapped() = rest;
            live_.insert(std::move(node));
        }
    }
    return pending;
}

// Blocks that this process exports, and blocks of other processes.

// The lock is held while the pages are moved into a file of their own. Writers do not need it.
Status DeviceMemory::Export(const void* address, size_t bytes, bool open, ShareKey* key) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    const auto found = live_.find(reinterpret_cast<uintptr_t>(address));
    if (found == live_.end() || !found->second.OfDevice() ||
        found->second.origin != MemoryOrigin::kAllocated) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "devPtr is {}, not the start of a block of aclrtMalloc; expected such an "
                     "address, and aclrtMemExportToShareableHandle for memory of aclrtMapMem",
                     address);
    }
    Allocation& block = found->second;
    if (block.bytes < kSharedBlock || block.pages == nullptr) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "devPtr is {}, a block of {} bytes; expected one of at least {}, which begins "
                     "with a page",
                     address, block.bytes, kSharedBlock);
    }
    if (bytes > block.bytes) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "size is {}; expected at most the {} bytes of the block at {}", bytes,
                     block.bytes, address);
    }
    if (block.shareName == 0) {
        ADVSTEP_RETURN_IF_ERROR(PublishLocked(&block, open));
    }
    *key = TheShareServer().KeyOf(block.shareName);
    return {};
}

Status DeviceMemory::PublishLocked(Allocation* block, bool open) {
    PageRange* const pages = block->pages;
    if (block->guard != nullptr) {
        GuardRecord& guard = *block->guard;
        ADVSTEP_RETURN_IF_ERROR(TheUnmappedPages().MakeAlone(
            pages, guard.pageBytes,
            {{reinterpret_cast<void*>(guard.pages), 0, guard.pageBytes, &guard.forkRange}}));
    } else {
        ADVSTEP_RETURN_IF_ERROR(TheMappedPages().MakeAlone(pages, block->bytes, {}));
    }
    ShareOffer offer;
    offer.kind = ShareKind::kBlock;
    offer.file = PagePool::FileOf(*pages);
    offer.bytes = pages->bytes;
    offer.inner = block->guard != nullptr ? block->begin - block->guard->pages : 0;
    offer.length = block->bytes;
    offer.device = block->device->id();
    offer.open = open;
    ShareKey made;
    ADVSTEP_RETURN_IF_ERROR(TheShareServer().Publish(offer, false, &made));
    try {
        exportedAt_.emplace(NameOf(made), block->begin);
    } catch (...) {
        TheShareServer().Withdraw(NameOf(made));
        throw;
    }
    block->shareName = NameOf(made);
    if (SanitizingWork()) {
        TheDeviceSanitizer().Shared(block->begin);
    }
    return {};
}

Status DeviceMemory::Import(const Device* device, ShareGrant&& grant, void** address) {
    auto imported = std::make_unique<ImportedBlock>();
    void* const pages = ReserveAddresses(nullptr, grant.bytes, kLargePage);
    if (pages == nullptr) {
        return Error(ACL_ERROR_RT_MEMORY_ALLOCATION,
                     "the key is of {} bytes; expected a range that the host has free",
                     grant.bytes);
    }
    imported->pages = pages;
    imported->bytes = grant.bytes;
    imported->file = std::move(grant.file);
    ADVSTEP_RETURN_IF_ERROR(PagePool::MapAt(pages, grant.bytes, imported->file.Get(), 0));
    imported->forkRange = EnterForkRange(pages, grant.bytes, imported->file.Get(), 0);
    Allocation allocation{reinterpret_cast<uintptr_t>(pages) + grant.inner, grant.length,
                          MemoryKind::kDevice, device, MemoryOrigin::kImported};
    allocation.shareName = grant.name;
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    ReclaimLocked();
    DropStaleRegistrationsLocked(allocation.begin, allocation.bytes);
    allocation.epoch = epoch();
    allocation.imported = imported.get();
    imported->number = ++imports_;
    Owned& owned = owned_[device];
    ++owned.blocks;
    try {
        ReserveRetired(&owned);
        importedAt_[{grant.name, imported->number}] = allocation.begin;
        live_.emplace(allocation.begin, allocation);
    } catch (...) {
        importedAt_.erase({grant.name, imported->number});
        --owned.blocks;
        throw;
    }
    (void)imported.release();
    if (SanitizingWork()) {
        TellAllocated(allocation);
    }
    *address = reinterpret_cast<void*>(allocation.begin);
    return {};
}

bool DeviceMemory::CloseImport(uint64_t name) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    const auto oldest = importedAt_.lower_bound({name, 0});
    if (oldest == importedAt_.end() || oldest->first.first != name) {
        return false;
    }
    const auto block = live_.find(oldest->second);
    TellEnded(oldest->second);
    RetireLocked(block->second);
    live_.erase(block);
    ReclaimLocked();
    return true;
}

void DeviceMemory::CloseExport(uint64_t name) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    if (const auto exported = exportedAt_.find(name); exported != exportedAt_.end()) {
        live_.at(exported->second).shareName = 0;
        exportedAt_.erase(exported);
    }
    TheShareServer().Withdraw(name);
}

void DeviceMemory::EndSharingLocked(const Allocation& allocation) noexcept {
    if (allocation.imported != nullptr) {
        importedAt_.erase({allocation.shareName, allocation.imported->number});
    } else if (allocation.shareName != 0) {
        exportedAt_.erase(allocation.shareName);
        TheShareServer().Withdraw(allocation.shareName);
    }
}

// The use of a device's memory.

Status DeviceMemory::Charge(const Device* device, size_t bytes) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    ReclaimLocked();
    return ChargeLocked(device, bytes);
}

Status DeviceMemory::ChargeLocked(const Device* device, size_t bytes) {
    const Settings& settings = device->settings();
    const FreeOf free = FreeLocked(*device);
    if (bytes > free.host) {
        return Error(ACL_ERROR_RT_MEMORY_ALLOCATION,
                     "size is {} bytes; expected at most the {} bytes that are free of the {} that "
                     "the host gives to all devices, unless ADVANCE_STEP_MEMORY says more",
                     bytes, std::min(free.host, free.device), settings.sharedBytes);
    }
    if (bytes > free.device) {
        return Error(ACL_ERROR_RT_MEMORY_ALLOCATION,
                     "size is {} bytes; expected at most the {} bytes that are free of the {} of "
                     "device {}",
                     bytes, free.device, settings.memoryBytes, device->id());
    }
    Owned& owned = owned_[device];
    owned.used += bytes;
    owned.peak = std::max(owned.peak, owned.used);
    return {};
}

DeviceMemory::FreeOf DeviceMemory::FreeLocked(const Device& device) {
    const Settings& settings = device.settings();
    FreeOf free;
    free.device = settings.memoryBytes - std::min(owned_[&device].used, settings.memoryBytes);
    if (settings.sharedBytes > 0) {
        uint64_t used = 0;
        for (const auto& [owner, owned] : owned_) {
            used += owned.used;
        }
        free.host = settings.sharedBytes - std::min(used, settings.sharedBytes);
    }
    return free;
}

void DeviceMemory::Credit(const Device* device, size_t bytes) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    owned_[device].used -= bytes;
}

uint64_t DeviceMemory::FreeBytes(const Device& device) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    ReclaimLocked();
    const FreeOf free = FreeLocked(device);
    return std::min(free.device, free.host);
}

void DeviceMemory::ReadUse(const Device& device, uint64_t* used, uint64_t* peak) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    ReclaimLocked();
    const Owned& owned = owned_[&device];
    *used = owned.used;
    *peak = owned.peak;
}

// Look-ups.

bool DeviceMemory::Find(const void* address, Allocation* allocation) const {
    const auto wanted = reinterpret_cast<uintptr_t>(address);
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    const Allocation* const found = FindLocked(wanted);
    if (found == nullptr) {
        return false;
    }
    *allocation = *found;
    allocation->mapped = allocation->mapped || MappedInside(inside_, *found, wanted);
    return true;
}

const Allocation* DeviceMemory::FindLocked(uintptr_t address) const {
    const auto next = live_.upper_bound(address);
    if (next == live_.begin()) {
        return nullptr;
    }
    const Allocation& candidate = std::prev(next)->second;
    return address - candidate.begin < candidate.bytes ? &candidate : nullptr;
}

// The retired block is DeviceMemory's own. Its owner gives it back under this lock, and only when
// its places have been reached, which the running task prevents after the lock is released.
bool DeviceMemory::FindRetired(const void* address, Allocation* allocation) const {
    const auto wanted = reinterpret_cast<uintptr_t>(address);
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    for (const auto& [device, owned] : owned_) {
        for (size_t index = owned.front; index < owned.retired.size(); ++index) {
            const Retired& retired = owned.retired[index];
            if (wanted - retired.allocation.begin < retired.allocation.bytes &&
                InsideTaskBefore(retired.pending)) {
                *allocation = retired.allocation;
                allocation->mapped =
                    allocation->mapped || MappedInside(endedInside_, retired.allocation, wanted);
                return true;
            }
        }
    }
    return false;
}

bool DeviceMemory::WasFreed(const void* address) const {
    const auto wanted = reinterpret_cast<uintptr_t>(address);
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    return std::any_of(std::begin(freed_), std::end(freed_),
                       [&](const FreedBlock& block) { return wanted - block.begin < block.bytes; });
}

// Returns the last allocation that begins before `end`, if it reaches beyond `begin`.
DeviceMemory::Live::iterator DeviceMemory::LastBefore(uintptr_t end, uintptr_t begin) {
    const auto next = live_.lower_bound(end);
    if (next == live_.begin() || std::prev(next)->second.end() <= begin) {
        return live_.end();
    }
    return std::prev(next);
}

// Removes the registrations in a range that the system has handed out anew. The program has freed
// the memory that was registered there without unregistering it.
void DeviceMemory::DropStaleRegistrationsLocked(uintptr_t begin, size_t bytes) {
    for (auto stale = LastBefore(begin + bytes, begin);
         stale != live_.end() && stale->second.origin == MemoryOrigin::kRegistered;
         stale = LastBefore(begin + bytes, begin)) {
        live_.erase(stale);
        InvalidateChecksLocked();
    }
}

// Frees, which wait for earlier work.

// The allocation leaves the map under this lock, so no check finds it any more. Work whose check
// found it is among the pending work, or is checked again, because the epoch grows first.
void DeviceMemory::RetireLocked(const Allocation& allocation) {
    if (allocation.guard != nullptr) {
        // The edges are checked now, while the stack still shows the caller.
        TheGuardedMemory().CheckEdges(*allocation.guard);
    }
    Owned& owned = owned_.at(allocation.device);
    InvalidateChecksLocked();
    owned.retired.push_back({allocation, pendingPlaces_(allocation.device), ++frees_});
    if (!owned.retired.back().pending.empty()) {
        heldSinceLook_.fetch_add(allocation.bytes, std::memory_order_relaxed);
    }
    if (allocation.pages != nullptr) {
        freed_[freedCount_++ % kFreedBlocks] = {allocation.begin, allocation.bytes};
    }
    --owned.blocks;
    EndSharingLocked(allocation);
}

// Makes room for all live blocks, so that a free needs no memory.
void DeviceMemory::ReserveRetired(Owned* owned) {
    const size_t wanted = owned->retired.size() + owned->blocks;
    if (owned->retired.capacity() < wanted) {
        owned->retired.reserve(2 * wanted);
    }
}

void DeviceMemory::ReclaimLocked() {
    bool waits = false;
    for (auto& [device, owned] : owned_) {
        ReclaimLocked(&owned);
        waits = waits || owned.Waiting() > 0;
    }
    if (!waits) {
        heldSinceLook_.store(0, std::memory_order_relaxed);
    }
}

bool DeviceMemory::IsUnusedLocked(Retired* retired) {
    std::vector<Ticket>& pending = retired->pending;
    while (!pending.empty() && Reached(pending.back())) {
        pending.pop_back();
    }
    const Allocation& block = retired->allocation;
    return pending.empty() &&
           !holds_.Meets({reinterpret_cast<const void*>(block.begin), block.bytes});
}

void DeviceMemory::ReclaimLocked(Owned* owned) {
    std::vector<Retired>& retired = owned->retired;
    for (; owned->front < retired.size(); ++owned->front) {
        Retired& oldest = retired[owned->front];
        if (!IsUnusedLocked(&oldest)) {
            break;
        }
        ForgetRegistrationsInsideLocked(oldest.allocation);
        GiveBackLocked(oldest.allocation);
    }
    // At most as many entries move as are removed, so the cost of each block is constant.
    if (owned->front >= owned->Waiting()) {
        retired.erase(retired.begin(), retired.begin() + static_cast<ptrdiff_t>(owned->front));
        owned->front = 0;
    }
}

// The question is asked without the lock: a task may take it while its stream's lock is held. Work
// that is queued meanwhile concerns none of the blocks, which have left the map.
bool DeviceMemory::Narrow() noexcept {
    try {
        HeldMemory held;
        {
            const std::unique_lock<std::shared_mutex> lock(mutex_);
            heldSinceLook_.store(0, std::memory_order_relaxed);
            for (const auto& [device, owned] : owned_) {
                for (size_t index = owned.front; index < owned.retired.size(); ++index) {
                    const Retired& retired = owned.retired[index];
                    const Allocation& block = retired.allocation;
                    if (!retired.narrowed) {
                        held.Add({retired.number, block.begin, block.end(), block.begin,
                                  block.end(), retired.pending});
                    }
                }
            }
        }
        held.Narrow(listMemory_);
        const std::unique_lock<std::shared_mutex> lock(mutex_);
        return TakeNarrowedLocked(&held);
    } catch (const std::bad_alloc&) {
        return false;  // the blocks wait for all work that was queued before
    }
}

// A narrowed block may be over before older ones, so all of them are looked at.
bool DeviceMemory::TakeNarrowedLocked(HeldMemory* held) {
    bool any = false;
    for (auto& [device, owned] : owned_) {
        std::vector<Retired>& retired = owned.retired;
        size_t kept = owned.front;
        for (size_t index = owned.front; index < retired.size(); ++index) {
            Retired& block = retired[index];
            HeldMemory::Freed* const found = block.narrowed ? nullptr : held->Find(block.number);
            if (found != nullptr) {
                block.pending = std::move(found->pending);
                block.narrowed = true;
            }
            block.pending.erase(std::remove_if(block.pending.begin(), block.pending.end(), Reached),
                                block.pending.end());
            if (IsUnusedLocked(&block)) {
                any = true;
                ForgetRegistrationsInsideLocked(block.allocation);
                GiveBackLocked(block.allocation);
            } else if (kept++ != index) {
                retired[kept - 1] = std::move(block);
            }
        }
        retired.erase(retired.begin() + static_cast<ptrdiff_t>(kept), retired.end());
    }
    return any;
}

void DeviceMemory::AddHeldUp(const Device* device, HeldUp* held) const {
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    const auto found = owned_.find(device);
    if (found == owned_.end()) {
        return;
    }
    const Owned& owned = found->second;
    for (size_t index = owned.front; index < owned.retired.size(); ++index) {
        held->Add(owned.retired[index].allocation.bytes, owned.retired[index].pending);
    }
}

void DeviceMemory::UncountLocked(const Allocation& allocation) {
    if (allocation.OfDevice()) {
        owned_[allocation.device].used -= allocation.bytes;
    }
}

void DeviceMemory::GiveBackLocked(const Allocation& allocation) {
    if (allocation.origin == MemoryOrigin::kImported) {
        delete allocation.imported;
        return;
    }
    UncountLocked(allocation);
    void* const address = reinterpret_cast<void*>(allocation.begin);
    const BlockSource source{allocation.guard, allocation.pages};
    if (Sanitizing(SanitizerCheck::kMemory)) {
        kept_.Keep(address, source, allocation.bytes);
    } else {
        GiveBackBlock(address, source);
    }
}

void DeviceMemory::ReleaseAll(const Device* device) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    for (auto entry = live_.begin(); entry != live_.end();) {
        const Allocation allocation = entry->second;
        if (allocation.origin == MemoryOrigin::kMapped ||
            (device != nullptr && allocation.device != device)) {
            ++entry;
            continue;
        }
        if (SanitizingWork()) {
            TheDeviceSanitizer().EndedWithDevice(allocation.begin);
        }
        if (allocation.origin != MemoryOrigin::kRegistered) {
            try {
                RetireLocked(allocation);
            } catch (const std::bad_alloc&) {
                ++entry;  // no memory for the places of work on other devices: the block stays
                continue;
            }
            EndRegistrationsInsideLocked(allocation);
        } else {
            InvalidateChecksLocked();
        }
        entry = live_.erase(entry);
    }
    ReclaimLocked();
    if (device == nullptr) {
        kept_.GiveBackAll();
        ForgetDevicesLocked();
    }
}

// The runtime has ended. A device of its next life may have the address of one that is gone.
void DeviceMemory::ForgetDevicesLocked() {
    for (auto entry = owned_.begin(); entry != owned_.end();) {
        const Owned& owned = entry->second;
        const bool empty = owned.used == 0 && owned.blocks == 0 && owned.Waiting() == 0;
        entry = empty ? owned_.erase(entry) : std::next(entry);
    }
}

}  // namespace advstep
