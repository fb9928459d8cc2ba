// SPDX-License-Identifier: Apache-2.0
// The contexts of all devices.

#pragma once

#include "src/base/status.h"
#include "src/runtime/stream/context.h"
#include "src/runtime/task/handle_table.h"

namespace advstep {

/// Never destroyed: threads and queued work may outlive main().
HandleTable<Context>& Contexts();

/// Makes a context with its default stream.
ContextRef CreateContext(Device* device, bool primary);

/// Finds the live context of a handle. 107017: there is none.
Status FindContext(const void* handle, ContextRef* context);

}  // namespace advstep
