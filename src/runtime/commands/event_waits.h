// SPDX-License-Identifier: Apache-2.0
// The waits for an event that streams have not passed yet.

#pragma once

#include <algorithm>
#include <vector>

#include "src/runtime/stream/stream.h"
#include "src/runtime/task/task.h"

namespace advstep {

/// The waits of streams for an event: the last wait of each stream, until it has passed.
class EventWaits {
 public:
    /// Makes room for the next Add, which must not fail once the wait is queued.
    void Reserve() {
        waits_.erase(std::remove_if(waits_.begin(), waits_.end(), Passed), waits_.end());
        waits_.reserve(waits_.size() + 1);
    }
    void Add(const Ticket& wait) noexcept {
        const auto known = std::find_if(waits_.begin(), waits_.end(), [&](const Ticket& ticket) {
            return ticket.stream == wait.stream;
        });
        if (known != waits_.end()) {
            *known = wait;  // a stream passes its waits in order
        } else {
            waits_.push_back(wait);
        }
    }
    void Clear() { waits_.clear(); }
    bool AllPassed() const { return std::all_of(waits_.begin(), waits_.end(), Passed); }

 private:
    static bool Passed(const Ticket& ticket) { return ticket.stream->Reached(ticket.sequence); }

    std::vector<Ticket> waits_;
};

}  // namespace advstep
