// SPDX-License-Identifier: Apache-2.0
// The words of the findings of the checks memory, race and init.

#pragma once

#include <cstddef>
#include <cstdint>

#include "src/base/call_stack.h"
#include "src/runtime/sanitizer/block_table.h"
#include "src/runtime/sanitizer/ordered_work.h"
#include "src/runtime/sanitizer/watched_pages.h"

namespace advstep {

/// The way in which a program ends the use of memory.
enum class EndOfUse : uint8_t { kFree, kUnmap, kUnregister, kPoison };

/// Work that uses a range of a block which the program takes away here. `others`: how many more
/// tasks use it.
void ReportInUse(const OrderedWork& work, size_t use, const Block& block, EndOfUse how,
                 size_t others);

/// Work uses memory that was freed before it was queued.
void ReportUsedAfterFree(const OrderedWork& work, size_t use, const Block& freed);
/// Work uses memory that is none. `around`: the block in which the use begins; null: none.
void ReportNoMemory(const OrderedWork& work, size_t use, const Block* around);
/// Captured work uses the memory of a block that has taken the place of another one.
void ReportReplaced(const OrderedWork& work, size_t use, const Block& block);
void ReportOtherDevice(const OrderedWork& work, size_t use, const Block& block);
/// A call frees memory that it cannot free. `live`: the block in which the address lies; `freed`:
/// in which it lay. Null: there is none.
void ReportBadFree(const void* address, bool ofDevice, const Block* live, const Block* freed);
void ReportPoisoned(const OrderedWork& work, size_t use, const Block& block);

/// Two accesses to bytes [begin, end) of the block without an order.
void ReportRace(const OrderedWork& one, size_t useOfOne, const OrderedWork& other,
                size_t useOfOther, const Block& block, uint64_t begin, uint64_t end);

/// The host has used memory of a copy that it has not seen the end of.
void ReportHostAccess(const HostAccess& access);

/// Work reads `bytes` bytes that nothing has written, the first of them at `first` in the block.
void ReportUnwritten(const OrderedWork& work, size_t use, const Block& block, uint64_t first,
                     uint64_t bytes);

}  // namespace advstep
