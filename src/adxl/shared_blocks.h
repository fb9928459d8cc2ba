// SPDX-License-Identifier: Apache-2.0
// The memory that AdxlEngine::MallocMem allocates.

#pragma once

#include <cstddef>
#include <map>
#include <mutex>

#include "acl/acl.h"
#include "src/adxl/outcome.h"

namespace advstep::transfer {

/// Blocks of the process, which no engine owns. Device memory is physical memory, because only that
/// can be exported by a handle.
class SharedBlocks {
 public:
    Outcome Allocate(adxl::MemType type, size_t bytes, void** block);
    Outcome Free(void* block);
    Outcome Export(void* block, aclrtMemFabricHandle* handle);

 private:
    // Guards the blocks. acl's locks are taken under it.
    std::mutex mutex_;
    std::map<void*, aclrtDrvMemHandle> blocks_;  // null: memory of the host
};

/// Never destroyed; the child of a fork has a new one, without blocks.
SharedBlocks& TheSharedBlocks();

}  // namespace advstep::transfer
