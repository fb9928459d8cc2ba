// SPDX-License-Identifier: Apache-2.0
// Takes the tokens of a pass, retires what ended, and learns what Step has done to the others.

#include "server.h"

namespace serve {

void Server::TakeTokens() {
    int64_t index = 0;
    for (const LiveSlot& live : live_) {
        const SlotReport& report = model_.Report(index++);
        Sequence* sequence = scheduler_.At(live.slot);
        if (sequence == nullptr) {
            continue;  // shed
        }
        const int64_t sampled = SampledTokens(live);
        sequence->prefillTokens -= live.prefillTokens;
        if (live.prefillTokens > 0) {
            scheduler_.Publish(live.slot);
        }
        if (live.query < 0 || !speculation_) {
            if (sampled > 0) {
                TakeToken(*sequence, report.token);
            }
            continue;
        }
        for (int64_t i = 0; i < sampled; ++i) {
            TakeToken(*sequence, speculation_->SampledToken(live.query, i));
        }
        statistics_.specTokens += speculation_->SpecTokens();
        statistics_.acceptedTokens += sampled - 1;
    }
}

void Server::TakeToken(Sequence& sequence, int64_t token) {
    if (sequence.tokens.empty()) {
        sequence.firstToken = clock_.Now();
    } else {
        sequence.gaps.push_back(clock_.Now() - sequence.lastToken);
    }
    sequence.lastToken = clock_.Now();
    sequence.tokens.push_back(token);
    ++sample_.tokens;
    sequence.phase = Sequence::Phase::kDecode;
    ++statistics_.generatedTokens;
}

void Server::RetireEnded() {
    for (const LiveSlot& live : live_) {
        const Sequence* running = scheduler_.At(live.slot);
        if (live.read < 0 || running == nullptr || running->MissingTokens() > 0) {
            continue;
        }
        const Sequence sequence = scheduler_.Retire(live.slot);
        check_.Compare(sequence, reader_.Cells(live.read));
        if (observer_ != nullptr) {
            observer_->Finished(sequence, live.slot);
        }
        record_.Finish(sequence);
        ++statistics_.completed;
    }
}

void Server::UpdatePhases() {
    int64_t index = 0;
    for (const LiveSlot& live : live_) {
        const SlotReport& report = model_.Report(index++);
        if (Sequence* sequence = scheduler_.At(live.slot)) {
            UpdatePhase(live, *sequence, report);
        }
    }
}

void Server::UpdatePhase(const LiveSlot& live, Sequence& sequence, const SlotReport& report) {
    // Step leaves no cached tokens to those that it preempts. If they wait no more, it has
    // recovered them: they want a prefill, of all their tokens. One that had no cached tokens yet
    // has then one dynamic block more, which it would not have got otherwise.
    const bool hadTokens = live.Runs() || sequence.cachedTokens > 0;
    const bool lost = sequence.phase == Sequence::Phase::kPreempted || hadTokens ||
                      report.dynamicBlocks > sequence.dynamicBlocks;
    const bool recovered = report.isPreempted == 0 && report.cachedTokens == 0 && lost;
    sequence.cachedTokens = report.cachedTokens;
    sequence.dynamicBlocks = report.dynamicBlocks;
    if (sequence.phase != Sequence::Phase::kPreempted && (recovered || report.isPreempted != 0)) {
        sequence.phase = Sequence::Phase::kPreempted;
        ++statistics_.preemptions;
    }
    if (sequence.phase == Sequence::Phase::kPreempted && !recovered) {
        slots_.LimitClaim(stream_, live.slot, report.dynamicBlocks,
                          DynamicBlocksFor(*sequence.request, options_));
    }
    if (recovered) {
        sequence.phase = Sequence::Phase::kPrefill;
        sequence.prefillTokens = report.prefillTokens;
        ++statistics_.recoveries;
        check_.CompareRecovery(sequence, slots_.PromptBlocks(live.slot) + report.dynamicBlocks,
                               options_.blockSize);
        // All but the newest token had been in the cache before.
        statistics_.replayedTokens += sequence.prefillTokens - 1;
    }
}

}  // namespace serve
