// SPDX-License-Identifier: Apache-2.0
// Notes who queued the tasks of a stream.

#include "src/runtime/stream/work_notes.h"

#include <unistd.h>

#include <algorithm>
#include <exception>

#include "src/base/sanitizer_scope.h"

namespace advstep {

void WorkNotes::Add(uint64_t first, uint64_t last, uint64_t completed) noexcept {
    const SanitizerScope own;
    try {
        while (!notes_.empty() && notes_.front().last <= completed) {
            notes_.pop_front();
        }
        notes_.push_back({first, last, gettid(), WaitClock::now(), CallStack::Here()});
    } catch (const std::exception&) {
    }
}

const WorkNote* WorkNotes::Find(uint64_t sequence) const {
    const auto found =
        std::lower_bound(notes_.begin(), notes_.end(), sequence,
                         [](const WorkNote& note, uint64_t value) { return note.last < value; });
    return found != notes_.end() && found->first <= sequence ? &*found : nullptr;
}

}  // namespace advstep
