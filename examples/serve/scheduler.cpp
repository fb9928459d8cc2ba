// SPDX-License-Identifier: Apache-2.0
// Implements the scheduler: arrival, admission, retirement and shedding of requests.

#include "scheduler.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace serve {
namespace {

// Longer prefills would keep the running sequences waiting. A longer prompt gets one of its own.
constexpr int64_t kPrefillTokens = 8192;

}  // namespace

Scheduler::Scheduler(RequestSource& source, const Options& options)
    : source_(source),
      options_(options),
      prefillRoom_(std::max(kPrefillTokens, source.Limits().longestPrompt)),
      slots_(static_cast<size_t>(options.maxSeqs)),
      pool_(options.HostBlocks()) {}

void Scheduler::Arrive(int64_t now) {
    while (const Request* request = source_.Take(now)) {
        waiting_.push_back(request);
    }
}

bool Scheduler::HeadFits(int64_t promptTokens) const {
    const Request& head = *waiting_.front();
    return live_ < Slots() && promptTokens + head.promptTokens <= prefillRoom_ &&
           options_.BlocksFor(head.promptTokens) <= pool_.Free();
}

bool Scheduler::AnyPreempted() const {
    return std::any_of(slots_.begin(), slots_.end(), [](const auto& sequence) {
        return sequence != nullptr && sequence->phase == Sequence::Phase::kPreempted;
    });
}

int64_t Scheduler::TakeFreeSlot() {
    const auto slot = std::find(slots_.begin(), slots_.end(), nullptr);
    ++live_;
    return slot - slots_.begin();
}

std::vector<int64_t> Scheduler::Admit(int64_t now) {
    std::vector<int64_t> admitted;
    if (waiting_.empty() || AnyPreempted()) {
        return admitted;
    }
    int64_t promptTokens = 0;
    while (!waiting_.empty() && HeadFits(promptTokens)) {
        const Request* request = waiting_.front();
        waiting_.pop_front();
        const int64_t slot = TakeFreeSlot();
        slots_[static_cast<size_t>(slot)] = std::make_unique<Sequence>(
            Sequence{request,
                     pool_.Take(options_.BlocksFor(request->promptTokens)),
                     {},
                     now,
                     request->promptTokens,
                     Sequence::Phase::kPrefill});
        promptTokens += request->promptTokens;
        admitted.push_back(slot);
    }
    return admitted;
}

Sequence Scheduler::Retire(int64_t slot) {
    const auto sequence = std::move(slots_.at(static_cast<size_t>(slot)));
    --live_;
    pool_.Give(sequence->promptBlocks);
    return std::move(*sequence);
}

Sequence Scheduler::Shed(int64_t slot) {
    waiting_.push_front(At(slot)->request);
    return Retire(slot);
}

}  // namespace serve
