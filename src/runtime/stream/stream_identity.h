#pragma once

#include <cstdint>

#include "src/runtime/stream/context.h"
#include "src/runtime/stream/stream_attributes.h"
#include "src/runtime/task/handle_table.h"

namespace advstep {

/// What a stream is told about itself when it is created.
struct StreamIdentity {
    Handle handle = 0;
    ContextRef context;
    int32_t id = 0;
    uint32_t priority = 0;
    uint32_t flags = 0;
    bool hidden = false;  // of a model: no caller knows it
    StreamAttributes attributes;
};

}  // namespace advstep
