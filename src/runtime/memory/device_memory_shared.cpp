// SPDX-License-Identifier: Apache-2.0
// Blocks that this process exports, and blocks of other processes.
#include <algorithm>
#include <memory>
#include <utility>

#include "acl/acl_base.h"
#include "src/runtime/device/device.h"
#include "src/runtime/memory/address_range.h"
#include "src/runtime/memory/device_memory.h"
#include "src/runtime/memory/guarded_memory.h"
#include "src/runtime/memory/imported_block.h"
#include "src/runtime/memory/memory_block.h"
#include "src/runtime/memory/memory_sharing.h"
#include "src/runtime/memory/page_pool.h"

namespace advstep {

ImportedBlock::~ImportedBlock() {
    LeaveFork(forkRange);
    if (pages != nullptr) {
        ReleaseAddresses(pages, bytes);
    }
}

void UnmapImported(const Allocation& allocation) noexcept { delete allocation.imported; }

void DeviceMemory::WithdrawLocked(const Allocation& allocation) noexcept {
    if (allocation.imported != nullptr) {
        importedAt_.erase({allocation.shareKey, allocation.imported->number});
    } else if (allocation.shareKey != 0) {
        exportedAt_.erase(allocation.shareKey);
        TheShareServer().Withdraw(allocation.shareKey);
    }
}

Status DeviceMemory::Export(const void* address, size_t bytes, bool open, uint64_t* key) {
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
    if (block.shareKey == 0) {
        ShareOffer offer;
        offer.kind = ShareKind::kBlock;
        offer.pool = block.guard != nullptr ? &BarePages() : &MappedPages();
        offer.pages = block.pages;
        offer.inner = block.guard != nullptr ? block.begin - block.guard->pages : 0;
        offer.length = block.bytes;
        offer.device = block.device->id();
        offer.open = open;
        uint64_t made = 0;
        ADVSTEP_RETURN_IF_ERROR(TheShareServer().Publish(offer, &made));
        try {
            exportedAt_.emplace(made, block.begin);
        } catch (...) {
            TheShareServer().Withdraw(made);
            throw;
        }
        block.shareKey = made;
    }
    *key = block.shareKey;
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
    imported->lease = std::move(grant.lease);
    ADVSTEP_RETURN_IF_ERROR(
        PagePool::MapAt(pages, grant.bytes, imported->file.Get(), grant.offset));
    imported->forkRange = EnterForkRange(pages, grant.bytes, imported->file.Get(), grant.offset);
    Allocation allocation{reinterpret_cast<uintptr_t>(pages) + grant.inner, grant.length,
                          MemoryKind::kDevice, device, MemoryOrigin::kImported};
    allocation.shareKey = grant.key;
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    ReclaimLocked();
    DropStaleLocked(allocation.begin, allocation.bytes);
    allocation.born = epoch();
    allocation.imported = imported.get();
    imported->number = ++imports_;
    Owned& owned = owned_[device];
    ++owned.blocks;
    try {
        ReserveRetired(&owned);
        importedAt_[{grant.key, imported->number}] = allocation.begin;
        live_.emplace(allocation.begin, allocation);
    } catch (...) {
        importedAt_.erase({grant.key, imported->number});
        --owned.blocks;
        throw;
    }
    (void)imported.release();
    *address = reinterpret_cast<void*>(allocation.begin);
    return {};
}

bool DeviceMemory::CloseImport(uint64_t key) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    const auto oldest = importedAt_.lower_bound({key, 0});
    if (oldest == importedAt_.end() || oldest->first.first != key) {
        return false;
    }
    const auto block = live_.find(oldest->second);
    RetireLocked(block->second);
    live_.erase(block);
    ReclaimLocked();
    return true;
}

void DeviceMemory::CloseExport(uint64_t key) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    if (const auto exported = exportedAt_.find(key); exported != exportedAt_.end()) {
        live_.at(exported->second).shareKey = 0;
        exportedAt_.erase(exported);
    }
    TheShareServer().Withdraw(key);
}

}  // namespace advstep
