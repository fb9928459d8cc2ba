// SPDX-License-Identifier: Apache-2.0
// Plans the pass of an iteration, and enqueues the model and AdvanceStep.

#include <fmt/format.h>

#include <algorithm>

#include "server.h"

namespace serve {

void Server::PlanPass() {
    live_.clear();
    passSlots_.clear();
    decodeSlots_.clear();
    ending_.clear();
    shedAdmissions_.clear();
    work_ = IterationWork();
    runningSlots_ = 0;
    for (const int64_t slot : scheduler_.Live()) {
        LiveSlot live{slot};
        if (scheduler_.At(slot)->phase == Sequence::Phase::kDecode) {
            live.query = static_cast<int64_t>(decodeSlots_.size());
            decodeSlots_.push_back(static_cast<int32_t>(slot));
            work_.decodeRows += options_.speculative + 1;
        }
        live_.push_back(live);
    }
    SharePrefill();
    int64_t preempted = 0;
    for (LiveSlot& live : live_) {
        const Sequence& sequence = *scheduler_.At(live.slot);
        const bool isPreempted = sequence.phase == Sequence::Phase::kPreempted;
        const int64_t mostTokens = live.query >= 0 ? options_.speculative + 1 : 1;
        const bool samples = live.query >= 0 || (live.prefillTokens > 0 &&
                                                 live.prefillTokens == sequence.prefillTokens);
        if (samples && sequence.MissingTokens() <= mostTokens) {
            live.read = static_cast<int64_t>(ending_.size());
            ending_.push_back({live.slot, sequence.request->CachedTokens()});
        }
        work_.prefillTokens += live.prefillTokens;
        work_.contextTokens += live.Runs() ? sequence.cachedTokens : 0;
        runningSlots_ += live.Runs() ? 1 : 0;
        preempted += isPreempted ? 1 : 0;
        passSlots_.push_back({static_cast<int32_t>(live.slot),
                              static_cast<int32_t>(live.prefillTokens), isPreempted ? 1 : 0});
    }
    sample_ = LoadSample();
    sample_.begin = clock_.Seconds();
    sample_.running = runningSlots_;
    sample_.waiting = scheduler_.Waiting();
    sample_.preempted = preempted;
    sample_.prefillTokens = work_.prefillTokens;
    if (runningSlots_ == 0) {
        throw Stuck(fmt::format(
            "all {} sequences are preempted and none can be recovered; {} of "
            "{} blocks are free on the device",
            scheduler_.LiveSlots(), slots_.FreeDynamicBlocks(), slots_.DynamicBlocks()));
    }
}

void Server::SharePrefill() {
    prefills_.clear();
    for (const LiveSlot& live : live_) {
        const Sequence& sequence = *scheduler_.At(live.slot);
        if (sequence.phase == Sequence::Phase::kPrefill) {
            prefills_.push_back(
                {static_cast<int64_t>(&live - live_.data()), sequence.prefillTokens});
        }
    }
    std::sort(
        prefills_.begin(), prefills_.end(), [this](const PrefillShare& a, const PrefillShare& b) {
            return ArrivesAfter(*scheduler_.At(live_[static_cast<size_t>(b.index)].slot)->request,
                                *scheduler_.At(live_[static_cast<size_t>(a.index)].slot)->request);
        });
    scheduler_.Policy().Share(prefills_, work_.decodeRows);
    for (const PrefillShare& share : prefills_) {
        live_[static_cast<size_t>(share.index)].prefillTokens = share.granted;
    }
}

void Server::EnqueuePass() {
    const auto numQueries = static_cast<int64_t>(decodeSlots_.size());
    model_.BeginPass(stream_, passSlots_, numQueries, batch_.NumSeqsFor(numQueries));
    // A slot is in one of the two: what is sampled here is advanced in the next iteration.
    if (work_.prefillTokens > 0) {
        if (speculation_) {
            speculation_->BeginPrefill(stream_);
        }
        model_.Prefill(stream_);
    }
    if (numQueries > 0) {
        EnqueueDecode();
    }
    reader_.Read(stream_, ending_);
    model_.NoteBlocks(stream_);
}

void Server::EnqueueDecode() {
    batch_.Assign(stream_, decodeSlots_);
    if (speculation_) {
        speculation_->Enqueue(stream_);
        return;
    }
    const PassArgs& pass = model_.Args();
    model_.GatherRows(stream_);
    advance_.Enqueue(stream_, pass.numQueries, pass.numSeqs);
    model_.Decode(stream_);
}

}  // namespace serve
