// SPDX-License-Identifier: Apache-2.0
// A run in virtual time, for Perfetto: iterations, the requests of each slot, and counters.

#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "scheduler.h"
#include "server_observer.h"

namespace serve {

/// In memory: about 100 bytes for an iteration, and 400 for a request.
class RunTimeline {
 public:
    /// After an iteration, and after Finish and Shed for the sequences that left it.
    void Add(const IterationState& state);
    /// The sequence has its last token, and leaves its slot.
    void Finish(const Sequence& sequence, int64_t slot);
    /// The sequence leaves its slot with the running iteration, perhaps that of its admission.
    void Shed(const Sequence& sequence, int64_t slot);

    /// The file, in the Trace Event Format; times are microseconds of virtual time.
    std::string Text() const;

 private:
    // What is known of the sequence in a slot.
    struct Lane {
        int64_t line;
        int64_t arrival;
        int64_t admitted;
        int64_t prompt;
        Sequence::Phase phase = Sequence::Phase::kPrefill;
        int64_t since;         // when the phase began
        std::string phases{};  // those that have ended, as events
        bool shed = false;     // it ends with the running iteration
    };

    static Lane NewLane(const Sequence& sequence);
    /// Of the sequence in the slot; new if it has none yet.
    Lane& LaneOf(const Sequence& sequence, int64_t slot);
    static void EndPhase(Lane& lane, int64_t slot, int64_t time);
    void Close(Lane& lane, int64_t slot, int64_t time, int64_t tokens);
    void Count(const char* name, int64_t& before, int64_t value, int64_t time);

    std::string events_;
    std::unordered_map<int64_t, Lane> lanes_;  // by slot
    int64_t slots_ = 0;                        // that ever had a sequence
    int64_t end_ = 0;                          // of the last iteration
    int64_t running_ = -1, waiting_ = -1, preempted_ = -1, blocks_ = -1;  // last told
};

}  // namespace serve
