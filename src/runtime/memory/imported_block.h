// SPDX-License-Identifier: Apache-2.0
// A block of another process, mapped into this one.

#pragma once

#include <cstdint>

#include "src/runtime/memory/fork_records.h"

namespace advstep {

struct Allocation;
struct ForkRecord;

/// The resources of an imported block, beside its addresses.
struct ImportedBlock {
    uint64_t number = 0;  // in the order of the imports
    void* pages = nullptr;
    size_t bytes = 0;  // of the pages
    Descriptor file;   // the child of a fork maps it anew
    Descriptor lease;  // the exporting process keeps the pages for as long as it is open
    ForkRecord* forkRange = nullptr;

    ImportedBlock() = default;
    ImportedBlock(const ImportedBlock&) = delete;
    ImportedBlock& operator=(const ImportedBlock&) = delete;
    ~ImportedBlock();
};

/// Unmaps an imported block, and deletes its record.
void UnmapImported(const Allocation& allocation) noexcept;

}  // namespace advstep
