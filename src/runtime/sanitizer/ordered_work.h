// SPDX-License-Identifier: Apache-2.0
// Queued work as the sanitizer keeps it: what it is, who queued it, and its place in the order.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/base/call_stack.h"
#include "src/runtime/sanitizer/vector_clock.h"
#include "src/runtime/task/recorder.h"

namespace advstep {

class Device;
struct Block;

/// A task, or a synchronous access of the host, as the call has described it. It never changes.
struct QueuedWork {
    const char* name = nullptr;  // static text
    const char* call = nullptr;  // that queues such tasks; null: the name says it
    CallStack stack;             // of the call; of captured work: at the capture
    uint64_t site = 0;           // the stack as a number
    bool isCaptured = false;
    bool isCall = false;  // it is the call itself; its name is in the stack
    std::vector<Use> uses;
    std::vector<uint64_t> blocks;  // of captured work, by use: the number of its block at that time
    bool copies = false;           // uses alternate between a destination and its source
    bool anywhere = false;         // it may touch other memory than the uses
    bool ofDevice = true;          // the uses must be memory that the device can use
};

/// A part of a use that lies in one block, by the offset in the block.
struct PlacedUse {
    std::shared_ptr<Block> block;
    uint64_t begin = 0;
    uint64_t end = 0;
    uint64_t at = 0;  // the place of the part among the bytes of the use
    size_t use = 0;
    bool exact = true;  // every byte of it is used; false: some of them are
};

/// Work in the order. Only the sanitizer's lock guards it; `clock` and the place do not change
/// once the work has been analysed.
struct OrderedWork {
    std::shared_ptr<const QueuedWork> what;
    std::vector<PlacedUse> uses;
    std::shared_ptr<const CallStack> replay;   // of captured work
    uint64_t site = 0;                         // of the stacks, as a number
    size_t stream = 0;                         // the number of the stream; 0: the host
    uint64_t sequence = 0;                     // the place in the stream
    uint64_t number = 0;                       // in the order in which the host queued it
    std::shared_ptr<const VectorClock> clock;  // what comes before, without earlier work there
    const void* handle = nullptr;              // of the stream, for people; null: the host
    const Device* device = nullptr;            // of the stream

    /// Returns whether this is ordered before the other one.
    bool Before(const OrderedWork& other) const {
        return stream == other.stream ? sequence <= other.sequence
                                      : other.clock->At(stream) >= sequence;
    }
    bool Unordered(const OrderedWork& other) const {
        return stream != other.stream && !Before(other) && !other.Before(*this);
    }
};

}  // namespace advstep
