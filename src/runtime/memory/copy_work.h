// SPDX-License-Identifier: Apache-2.0
// Copies and fills as work of a stream: the memory that they use, and captures that refuse them.

#pragma once

#include "src/runtime/memory/copy.h"
#include "src/runtime/memory/copy_batch.h"
#include "src/runtime/task/recorder.h"

namespace advstep {

/// Copies and fills as a stream receives them: what memory a replay has to find again. They refer
/// to their argument. `device` is the stream's. A copy with a pageable side is refused by captures:
/// 107000.
Work WorkOf(const CopyRequest& request, const CopySides& sides, const Device* device);
Work WorkOf(const CopyBatch& batch, size_t recordBytes, const CopySides& sides,
            const Device* device);

struct FillRange {
    const void* address;
    size_t count;
    bool foreign;  // memory of another device than the stream's
};
Work WorkOf(const FillRange& range);

}  // namespace advstep
