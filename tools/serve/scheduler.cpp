// SPDX-License-Identifier: Apache-2.0
// Implements the scheduler: arrival, admission, retirement and shedding of requests.

#include "scheduler.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace serve {

Scheduler::Scheduler(RequestSource& source, const Options& options)
    : source_(source),
      options_(options),
      policy_(MakePolicy(options)),
      slots_(static_cast<size_t>(options.maxSeqs)),
      cache_(options.HostBlocks(), options.blockSize) {}

int64_t Scheduler::Arrive(int64_t now) {
    int64_t waited = 0;
    while (const Request* request = source_.Take(now)) {
        waiting_.push_back(request);
        waited += now - request->arrival;
    }
    return waited;
}

std::optional<WaitReason> Scheduler::Obstacle(const PassLoad& load) const {
    const Request& head = *waiting_.front();
    if (LiveSlots() == Slots()) {
        return WaitReason::kSlots;
    }
    const TextSeeds seeds = source_.SeedsOf(head);
    if (!policy_->Admits(head.promptTokens - cache_.CachedTokens(seeds, head.promptTokens), load)) {
        return WaitReason::kBudget;
    }
    if (!cache_.HasRoomFor(seeds, head.promptTokens)) {
        return WaitReason::kPromptBlocks;
    }
    return std::nullopt;
}

PassLoad Scheduler::Load() const {
    PassLoad load;
    for (const int64_t slot : live_) {
        const Sequence& sequence = *At(slot);
        load.prefill += sequence.phase == Sequence::Phase::kPrefill ? sequence.prefillTokens : 0;
        load.decodeRows +=
            sequence.phase == Sequence::Phase::kDecode ? options_.speculative + 1 : 0;
    }
    return load;
}

bool Scheduler::AnyPreempted() const {
    return std::any_of(live_.begin(), live_.end(), [this](int64_t slot) {
        return At(slot)->phase == Sequence::Phase::kPreempted;
    });
}

int64_t Scheduler::TakeFreeSlot() {
    int64_t slot = neverUsed_;
    if (returned_.empty()) {
        ++neverUsed_;
    } else {
        slot = returned_.top();
        returned_.pop();
    }
    live_.insert(std::lower_bound(live_.begin(), live_.end(), slot), slot);
    return slot;
}

int64_t Scheduler::AdmitFirst(int64_t now) {
    const Request* request = waiting_.front();
    waiting_.pop_front();
    const int64_t slot = TakeFreeSlot();
    const TextSeeds seeds = source_.SeedsOf(*request);
    const int64_t shared = cache_.CachedTokens(seeds, request->promptTokens);
    auto sequence = std::make_unique<Sequence>(Sequence{request,
                                                        seeds,
                                                        shared,
                                                        cache_.Take(seeds, request->promptTokens),
                                                        {},
                                                        now,
                                                        request->promptTokens - shared,
                                                        Sequence::Phase::kPrefill,
                                                        shared});
    const auto tokens = static_cast<size_t>(request->generatedTokens);
    sequence->tokens.reserve(tokens);
    sequence->gaps.reserve(tokens - 1);
    slots_[static_cast<size_t>(slot)] = std::move(sequence);
    return slot;
}

std::vector<int64_t> Scheduler::Admit(int64_t now) {
    std::vector<int64_t> admitted;
    heldUpBy_.reset();
    if (waiting_.empty()) {
        return admitted;
    }
    if (AnyPreempted()) {
        heldUpBy_ = WaitReason::kGrowthBlocks;
        return admitted;
    }
    PassLoad load = Load();
    while (!waiting_.empty()) {
        heldUpBy_ = Obstacle(load);
        if (heldUpBy_) {
            break;
        }
        admitted.push_back(AdmitFirst(now));
        load.admitted += At(admitted.back())->prefillTokens;
        load.prefill += At(admitted.back())->prefillTokens;
    }
    return admitted;
}

Sequence Scheduler::Retire(int64_t slot) {
    const auto sequence = std::move(slots_.at(static_cast<size_t>(slot)));
    live_.erase(std::lower_bound(live_.begin(), live_.end(), slot));
    returned_.push(slot);
    cache_.Give(sequence->promptBlocks);
    return std::move(*sequence);
}

void Scheduler::Publish(int64_t slot) {
    const Sequence& sequence = *At(slot);
    cache_.Publish(sequence.promptBlocks, sequence.seeds, sequence.PrefilledTokens());
}

Sequence Scheduler::Shed(int64_t slot) {
    waiting_.push_front(At(slot)->request);
    return Retire(slot);
}

}  // namespace serve
