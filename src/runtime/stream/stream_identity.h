// SPDX-License-Identifier: Apache-2.0
// The identity that a stream gets when it is created.

#pragma once

#include <cstdint>

#include "src/runtime/stream/context.h"
#include "src/runtime/stream/stream_attributes.h"
#include "src/runtime/task/handle_table.h"

namespace advstep {

/// The facts about a stream that are set when it is created.
struct StreamIdentity {
    Handle handle = 0;
    ContextRef context;
    int32_t id = 0;
    uint32_t priority = 0;
    uint32_t flags = 0;
    bool hidden = false;  // a stream of a model, which no caller knows
    StreamAttributes attributes;
};

}  // namespace advstep
