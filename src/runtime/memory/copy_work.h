// SPDX-License-Identifier: Apache-2.0
// Copies and fills as work of a stream: the memory that they use, and captures that refuse them.

#pragma once

#include "src/runtime/memory/copy.h"
#include "src/runtime/memory/copy_batch.h"
#include "src/runtime/task/recorder.h"

namespace advstep {

/// Return copies and fills as a stream receives them, with the memory that a replay has to find
/// again. The results refer to their argument. `device` is the stream's device. Captures refuse a
/// copy with a pageable side: 107000.
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
