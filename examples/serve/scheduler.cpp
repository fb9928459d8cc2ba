#include "scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace serve {
namespace {

// Longer prefills would keep the running sequences waiting. A longer prompt gets one of its own.
constexpr int64_t kPrefillTokens = 8192;

void ExpectFits(const Request& request, const Options& options) {
    const std::string subject =
        fmt::format("{}:{}: request of {} + {} tokens", options.trace, request.line,
                    request.promptTokens, request.generatedTokens);
    if (request.TotalTokens() > options.maxLen) {
        throw NeverFits(
            fmt::format("{}; a sequence has at most {} (--max-len)", subject, options.maxLen));
    }
    const int64_t promptBlocks = options.BlocksFor(request.promptTokens);
    if (promptBlocks > options.HostBlocks()) {
        throw NeverFits(fmt::format(
            "{} needs {} blocks of {} for its prompt; the host's allocator has {} of {} (--blocks, "
            "--free-ratio)",
            subject, promptBlocks, options.blockSize, options.HostBlocks(), options.blocks));
    }
    const int64_t dynamicBlocks = DynamicBlocksFor(request, options);
    if (dynamicBlocks > options.DynamicBlocks()) {
        throw NeverFits(fmt::format(
            "{} grows by {} blocks of {}; the device's free list has {} of {} (--blocks, "
            "--free-ratio)",
            subject, dynamicBlocks, options.blockSize, options.DynamicBlocks(), options.blocks));
    }
}

}  // namespace

Scheduler::Scheduler(const std::vector<Request>& requests, const Options& options)
    : requests_(requests),
      options_(options),
      prefillRoom_(kPrefillTokens),
      slots_(static_cast<size_t>(options.maxSeqs)),
      pool_(options.HostBlocks()) {
    for (const Request& request : requests) {
        ExpectFits(request, options);
        prefillRoom_ = std::max(prefillRoom_, request.promptTokens);
        longestGeneration_ = std::max(longestGeneration_, request.generatedTokens);
    }
}

void Scheduler::Arrive(int64_t now) {
    while (nextArrival_ < requests_.size() && requests_[nextArrival_].arrival <= now) {
        waiting_.push_back(&requests_[nextArrival_++]);
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
