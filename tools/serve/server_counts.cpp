// SPDX-License-Identifier: Apache-2.0
// Reports of a server: to an observer, to the progress line, and at the end.
#include <fmt/format.h>

#include <algorithm>

#include "server.h"

namespace serve {

void Server::TellObserver() {
    if (observer_ == nullptr || !observer_->LooksAtSteps()) {
        return;
    }
    slotTokens_.assign(static_cast<size_t>(scheduler_.Slots()), 0);
    for (const int64_t slot : scheduler_.Live()) {
        const Sequence& sequence = *scheduler_.At(slot);
        slotTokens_[static_cast<size_t>(slot)] =
            sequence.request->promptTokens + static_cast<int64_t>(sequence.tokens.size());
    }
    observer_->AfterStep({statistics_.iterations, arrays_, slotTokens_}, stream_);
}

void Server::CountIteration() {
    const int64_t blocks =
        scheduler_.PromptBlocks().Held() + slots_.DynamicBlocks() - slots_.FreeDynamicBlocks();
    const int64_t ticks = options_.costs.Ticks(work_);
    clock_.CountIteration(ticks);
    if (const std::optional<WaitReason> reason = scheduler_.HeldUpBy()) {
        statistics_.waits.Add(*reason, WideTicks{sample_.waiting} * ticks);
    }
    for (const int64_t admitted : shedAdmissions_) {
        statistics_.waits.Add(WaitReason::kShed, clock_.Now() - admitted);
    }
    ++statistics_.iterations;
    runningSum_ += runningSlots_;
    usedBlocksSum_ += blocks;
    statistics_.peakSeqs = std::max(statistics_.peakSeqs, runningSlots_);
    statistics_.peakBlocks = std::max(statistics_.peakBlocks, blocks);
    sample_.end = clock_.Seconds();
    if (clock_.AtEnd()) {
        throw Stuck(
            fmt::format("virtual time has come to {:.3g} s, and ends; expected lower costs "
                        "(--time-model)",
                        clock_.Seconds()));
    }
    sample_.blocks = blocks;
    progress_.Update(statistics_.completed, runningSlots_, blocks);
}

Statistics Server::Result() const {
    Statistics result = statistics_;
    result.requests = source_.Requests();
    result.kvFaults = check_.Faults();
    result.shedRequests = static_cast<int64_t>(shedLines_.size());
    result.virtualSeconds = clock_.Seconds();
    result.latency = record_.Latencies().Summary();
    result.good = record_.Latencies().good;
    if (result.iterations > 0) {
        result.meanBlocks =
            static_cast<double>(usedBlocksSum_) / static_cast<double>(result.iterations);
        result.meanSeqs = static_cast<double>(runningSum_) / static_cast<double>(result.iterations);
    }
    result.advance = speculation_ ? speculation_->Timing() : advance_.Timing();
    result.step = step_.Timing();
    Check(advstepReadCounters(0, &result.counters), "advstepReadCounters");
    return result;
}

}  // namespace serve
