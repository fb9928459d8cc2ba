// SPDX-License-Identifier: Apache-2.0
// Implements the serving loop, iteration by iteration.

#include "server.h"

#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "interrupt.h"

namespace serve {

using Phase = Sequence::Phase;

Server::Server(RequestSource& source, const Options& options, ServerObserver* observer)
    : options_(options),
      source_(source),
      observer_(observer),
      scheduler_(source, options),
      progress_(source.Requests()),
      check_([this](const std::string& fault) {
          progress_.Clear();
          fmt::print(stderr, "serve: {}\n", fault);
      }),
      slots_(options, scheduler_.LongestGeneration(), scheduler_.PrefillRoom()),
      batch_(options),
      model_(options, slots_, batch_),
      reader_(model_.Memory()),
      advance_(batch_, options.blockSize),
      step_(slots_, options.blockSize) {
    if (options.speculative > 0) {
        speculation_.emplace(options, model_);
    }
    // As they run: what goes wrong in one shows in those behind it.
    arrays_ = speculation_ ? speculation_->Arrays() : batch_.Arrays();
    arrays_.insert(arrays_.end(), step_.Arrays().begin(), step_.Arrays().end());
}

void Server::Run() {
    // Whatever is written next, an error's message too, starts on an empty line.
    struct ClearProgress {
        ProgressBar& progress;
        ~ClearProgress() { progress.Clear(); }
    } const clearProgress{progress_};

    while (!Interrupted()) {
        scheduler_.Arrive(clock_.Now());
        Admit();
        if (scheduler_.Idle()) {
            const std::optional<int64_t> next = source_.NextArrival();
            if (!next) {
                break;
            }
            clock_.JumpTo(*next);
            continue;
        }
        try {
            Iterate();
        } catch (const AclError& error) {
            throw AclError(error.what() + DescribeSlots(), error.Code());
        }
    }
}

std::string Server::DescribeSlots() const {
    std::string text;
    int64_t query = 0;
    for (int64_t slot = 0; slot < scheduler_.Slots(); ++slot) {
        if (const Sequence* sequence = scheduler_.At(slot)) {
            const Request& request = *sequence->request;
            text += fmt::format(
                "\n  slot {}: sequence of line {}, position {}", slot, request.line,
                request.promptTokens + static_cast<int64_t>(sequence->tokens.size()) - 1);
            text += sequence->phase == Phase::kDecode ? fmt::format(", query {}", query++) : "";
        }
    }
    return text;
}

void Server::Admit() {
    slots_.BeginLoads();
    for (const int64_t slot : scheduler_.Admit(clock_.Now())) {
        const Sequence& sequence = *scheduler_.At(slot);
        slots_.Load(stream_, slot, sequence);
        statistics_.promptTokens += sequence.request->promptTokens;
    }
}

void Server::Iterate() {
    PlanPass();
    EnqueuePass();
    RunStep();
    if (!decodeSlots_.empty()) {
        speculation_ ? speculation_->CountDeviceTime() : advance_.CountDeviceTime();
    }
    TellObserver();
    CountIteration();
    TakeTokens();
    RetireEnding();
    UpdatePhases();
    record_.Add(sample_);
}

void Server::PlanPass() {
    decodeSlots_.clear();
    passSlots_.clear();
    ending_.clear();
    prefillTokens_ = 0;
    for (int64_t slot = 0; slot < scheduler_.Slots(); ++slot) {
        const Sequence* sequence = scheduler_.At(slot);
        if (sequence == nullptr || sequence->phase == Phase::kPreempted) {
            continue;
        }
        passSlots_.push_back(slot);
        if (sequence->phase == Phase::kDecode) {
            decodeSlots_.push_back(static_cast<int32_t>(slot));
        } else {
            prefillTokens_ += sequence->prefillTokens;
        }
        if (sequence->EndsNext()) {
            ending_.push_back({slot, sequence->request->TotalTokens()});
        }
    }
    sample_ = LoadSample();
    sample_.begin = clock_.Seconds();
    sample_.running = static_cast<int64_t>(passSlots_.size());
    sample_.waiting = scheduler_.Waiting();
    sample_.preempted = scheduler_.LiveSlots() - sample_.running;
    sample_.prefillTokens = prefillTokens_;
    if (passSlots_.empty()) {
        throw Stuck(fmt::format(
            "all {} sequences are preempted and none can be recovered; {} of "
            "{} blocks are free on the device",
            scheduler_.LiveSlots(), slots_.FreeDynamicBlocks(), slots_.DynamicBlocks()));
    }
}

void Server::EnqueuePass() {
    // A slot is in one of the two: what is sampled here is advanced in the next iteration.
    const auto numQueries = static_cast<int64_t>(decodeSlots_.size());
    if (numQueries < static_cast<int64_t>(passSlots_.size())) {
        if (speculation_) {
            speculation_->BeginPrefill(stream_);
        }
        model_.Prefill(stream_);
    }
    if (numQueries > 0) {
        EnqueueDecode(numQueries);
    }
    reader_.Read(stream_, ending_);
    model_.NoteBlocks(stream_);
    for (const CellReader::Range& range : ending_) {
        slots_.Stop(stream_, range.slot);
    }
}

void Server::EnqueueDecode(int64_t numQueries) {
    batch_.Assign(stream_, decodeSlots_);
    if (speculation_) {
        speculation_->Enqueue(stream_, numQueries);
        speculation_->Fetch(stream_);
        return;
    }
    model_.GatherRows(stream_, numQueries);
    advance_.Enqueue(stream_, numQueries);
    model_.Decode(stream_);
}

void Server::RunStep() {
    for (bool done = false; !done;) {
        step_.Enqueue(stream_);
        model_.PoisonLost(stream_);
        slots_.Fetch(stream_);
        try {
            stream_.Synchronize();
            done = true;
        } catch (const AclError& error) {
            // Step has changed nothing. It runs again when there is one sequence less.
            if (error.Code() != ACL_ERROR_RT_RESOURCE_ALLOC_FAIL || !ShedYoungest()) {
                throw;
            }
        }
        step_.CountDeviceTime();
    }
}

bool Server::ShedYoungest() {
    // The last to arrive of those that the pass has moved and that do not end with it.
    const auto arrivesAfter = [](const Request& a, const Request& b) {
        return a.arrival != b.arrival ? a.arrival > b.arrival : a.line > b.line;
    };
    const Request* youngest = nullptr;
    int64_t youngestSlot = -1;
    for (const int64_t slot : passSlots_) {
        const Sequence* sequence = scheduler_.At(slot);
        if (sequence != nullptr && !sequence->EndsNext() &&
            (youngest == nullptr || arrivesAfter(*sequence->request, *youngest))) {
            youngest = sequence->request;
            youngestSlot = slot;
        }
    }
    if (youngest == nullptr) {
        return false;
    }
    const Sequence shed = scheduler_.Shed(youngestSlot);
    slots_.Stop(stream_, youngestSlot);
    statistics_.promptTokens -= youngest->promptTokens;
    statistics_.generatedTokens -= static_cast<int64_t>(shed.tokens.size());
    ++statistics_.shedRequests;
    return true;
}

void Server::TakeTokens() {
    for (const int64_t slot : passSlots_) {
        Sequence* sequence = scheduler_.At(slot);
        if (sequence == nullptr || sequence->EndsNext()) {
            continue;
        }
        if (sequence->phase == Phase::kPrefill || !speculation_) {
            TakeToken(*sequence, slots_.SampledToken(slot));
            continue;
        }
        int64_t index = 0;
        for (; index <= speculation_->SpecTokens(); ++index) {
            const int64_t token = speculation_->SampledToken(slot, index);
            if (token < 0) {
                break;
            }
            TakeToken(*sequence, token);
        }
        statistics_.specTokens += speculation_->SpecTokens();
        statistics_.acceptedTokens += index - 1;
    }
}

void Server::TakeToken(Sequence& sequence, int64_t token) {
    if (sequence.tokens.empty()) {
        sequence.firstToken = clock_.Now();
    }
    sequence.lastToken = clock_.Now();
    sequence.tokens.push_back(token);
    ++sample_.tokens;
    sequence.phase = Phase::kDecode;
    ++statistics_.generatedTokens;
}

void Server::RetireEnding() {
    int64_t index = 0;
    for (const CellReader::Range& range : ending_) {
        const Sequence sequence = scheduler_.Retire(range.slot);
        const int64_t closingToken = slots_.SampledToken(range.slot);
        check_.Compare(sequence, closingToken, reader_.Cells(index++));
        if (observer_ != nullptr) {
            observer_->Finished(sequence, closingToken, clock_.Now());
        }
        record_.Finish(sequence);
        statistics_.waitSeconds +=
            static_cast<double>(sequence.admitted - sequence.request->arrival) / kTicksPerSecond;
        ++statistics_.completed;
    }
}

void Server::UpdatePhases() {
    for (int64_t slot = 0; slot < scheduler_.Slots(); ++slot) {
        Sequence* sequence = scheduler_.At(slot);
        if (sequence == nullptr) {
            continue;
        }
        // Step asks for the prefill of a slot that it has recovered, and of no other.
        const bool recovered = slots_.PrefillTokens(slot) > 0;
        if (sequence->phase == Phase::kDecode && (recovered || slots_.Preempted(slot))) {
            sequence->phase = Phase::kPreempted;
            ++statistics_.preemptions;
        }
        if (sequence->phase == Phase::kPreempted && !recovered) {
            slots_.LimitClaim(stream_, slot, DynamicBlocksFor(*sequence->request, options_));
        }
        if (recovered) {
            sequence->phase = Phase::kPrefill;
            sequence->prefillTokens = slots_.PrefillTokens(slot);
            ++statistics_.recoveries;
            check_.CompareRecovery(*sequence, slots_.Blocks(slot), options_.blockSize);
            // All but the newest token had been in the cache before.
            statistics_.replayedTokens += sequence->prefillTokens - 1;
        }
    }
}

}  // namespace serve
