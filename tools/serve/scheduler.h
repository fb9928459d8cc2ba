// SPDX-License-Identifier: Apache-2.0
// The scheduler: it decides which requests are in which slots.
// Host only: it calls neither device nor operator.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <vector>

#include "pass_policy.h"
#include "prefix_cache.h"
#include "request_source.h"
#include "request_trace.h"
#include "serve_options.h"
#include "wait_times.h"

namespace serve {

/// A request in a slot.
struct Sequence {
    enum class Phase {
        kPrefill,    // its prompt, or after a recovery all of its tokens, go to the model next
        kDecode,     // its newest token goes to the model next
        kPreempted,  // its K/V are lost and it waits for blocks
    };

    const Request* request;
    TextSeeds seeds;
    int64_t sharedTokens;               // of its prompt, which were in the cache at its admission
    std::vector<int32_t> promptBlocks;  // from the host's allocator
    std::vector<int64_t> tokens;        // generated so far; the newest is not in the cache yet
    int64_t admitted;                   // time, in ticks
    int64_t prefillTokens;              // in phase kPrefill: those not in the cache yet
    Phase phase;
    int64_t cachedTokens = 0;
    int64_t dynamicBlocks = 0;    // after the last Step
    int64_t firstToken = 0;       // times, in ticks, when it has tokens; of the run from its prompt
    int64_t lastToken = 0;        // that was not shed
    std::vector<int64_t> gaps{};  // ticks from each token to the next one

    /// Of its tokens, those that a prefill has put into the cache so far.
    int64_t PrefilledTokens() const {
        return request->promptTokens + static_cast<int64_t>(tokens.size()) - prefillTokens;
    }
    int64_t MissingTokens() const {
        return request->generatedTokens - static_cast<int64_t>(tokens.size());
    }
};

/// The order of service: by arrival, and by line in the trace.
inline bool ArrivesAfter(const Request& a, const Request& b) {
    return a.arrival != b.arrival ? a.arrival > b.arrival : a.line > b.line;
}

class Scheduler {
 public:
    /// source and options must outlive the scheduler.
    Scheduler(RequestSource& source, const Options& options);

    /// No sequence runs and no request waits.
    bool Idle() const { return live_.empty() && waiting_.empty(); }

    /// Requests that have arrived by now wait their turn.
    /// @return  ticks that they have waited so far, all together
    int64_t Arrive(int64_t now);

    /// Admits waiting requests, first come first served, while a slot, the blocks for the prompt
    /// and room in the policy are there. None is admitted while a preempted sequence waits: it came
    /// first, and the newcomer would take the blocks it needs.
    /// @return the slots, in the order of arrival
    std::vector<int64_t> Admit(int64_t now);

    /// Prompt tokens of the requests admitted at a time never exceed this.
    int64_t PrefillRoom() const {
        return options_.prefixCaching ? Slots() * source_.Limits().longestPrompt
                                      : options_.tokenBudget + source_.Limits().longestPrompt;
    }
    /// The same of their prompts' blocks.
    int64_t PromptBlockRoom() const {
        return options_.prefixCaching ? Slots() * options_.BlocksFor(source_.Limits().longestPrompt)
                                      : options_.HostBlocks();
    }
    int64_t MostPrefixes() const { return source_.Limits().mostPrefixes; }
    int64_t LongestGeneration() const { return source_.Limits().longestGeneration; }

    /// Slots with a sequence, preempted or not, ascending. Only these cost time in an iteration.
    const std::vector<int64_t>& Live() const { return live_; }
    int64_t LiveSlots() const { return static_cast<int64_t>(live_.size()); }
    int64_t Slots() const { return static_cast<int64_t>(slots_.size()); }
    /// Requests that have arrived and are in no slot.
    int64_t Waiting() const { return static_cast<int64_t>(waiting_.size()); }
    /// Why the last Admit has left some waiting; nothing: it has not.
    std::optional<WaitReason> HeldUpBy() const { return heldUpBy_; }
    /// NULL: no sequence is in the slot.
    Sequence* At(int64_t slot) const { return slots_[static_cast<size_t>(slot)].get(); }

    /// Takes a sequence out of its slot and gives its prompt's blocks back.
    Sequence Retire(int64_t slot);
    /// Retires a sequence whose request is to run again, before all that wait.
    Sequence Shed(int64_t slot);
    /// Lets others share what a prefill has put into the cache.
    void Publish(int64_t slot);

    const PrefixCache& PromptBlocks() const { return cache_; }
    const PassPolicy& Policy() const { return *policy_; }

 private:
    /// What keeps the first one waiting; nothing: it can be admitted.
    std::optional<WaitReason> Obstacle(const PassLoad& load) const;
    /// Takes the first one that waits into a slot.
    int64_t AdmitFirst(int64_t now);
    PassLoad Load() const;
    bool AnyPreempted() const;
    int64_t TakeFreeSlot();

    RequestSource& source_;
    const Options& options_;
    std::unique_ptr<PassPolicy> policy_;
    std::deque<const Request*> waiting_;
    std::optional<WaitReason> heldUpBy_;
    std::vector<std::unique_ptr<Sequence>> slots_;
    std::vector<int64_t> live_;
    // The lowest free slot is taken first: those given back, then those that were never used.
    std::priority_queue<int64_t, std::vector<int64_t>, std::greater<>> returned_;
    int64_t neverUsed_ = 0;
    PrefixCache cache_;
};

}  // namespace serve
