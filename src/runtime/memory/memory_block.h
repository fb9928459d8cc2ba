// SPDX-License-Identifier: Apache-2.0
// The bytes of an allocation.

#pragma once

#include <cstddef>

#include "src/runtime/memory/page_pool.h"

namespace advstep {

class Device;
struct GuardRecord;

/// The source of a block's bytes. Both null: the host's heap.
struct BlockSource {
    GuardRecord* guard = nullptr;
    PageRange* pages = nullptr;  // of a block that other processes can map
};

/// A device block of at least this size lies in pages that other processes can map, and begins
/// with a page unless it is guarded.
inline constexpr size_t kSharedBlock = PagePool::kPage;

/// Takes memory for an allocation of the device, or of pinned host memory if `device` is null. It
/// is aligned to kLargePage if it is at least that large, and otherwise to 4096 bytes if it is
/// pinned host memory or at least that large, and otherwise to 512 bytes. source->guard is set if
/// ADVANCE_STEP_GUARD is on; device memory below kLargePage is then aligned to 512 bytes. 207001:
/// the host cannot give it.
Status TakeBlock(size_t bytes, const Device* device, BlockSource* source, void** address);

/// 207001: the host cannot hold so many bytes, whatever else it holds.
Status CheckHostHolds(size_t bytes);

void GiveBackBlock(void* address, const BlockSource& source) noexcept;

}  // namespace advstep
