// SPDX-License-Identifier: Apache-2.0
// Implements the serving loop, iteration by iteration.

#include "server.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <string>

#include "interrupt.h"
#include "standard_streams.h"

namespace serve {

using Phase = Sequence::Phase;

Server::Server(RequestSource& source, const Options& options, ServerObserver* observer) try
    : options_(options),
      source_(source),
      observer_(observer),
      scheduler_(source, options),
      progress_(source.Requests()),
      check_([this](const std::string& fault) {
          progress_.Clear();
          Tell(fault);
      }),
      record_(options.targets),
      session_(options, source.Limits()),
      slots_(options, scheduler_),
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
} catch (const std::bad_alloc&) {
    throw std::runtime_error(
        fmt::format("the host has no memory for a server of {} slots (--max-seqs) with {} tokens "
                    "(--max-len) and {} blocks (--blocks)",
                    options.maxSeqs, options.maxLen, options.blocks));
}

void Server::Run() {
    // Whatever is written next, an error's message too, starts on an empty line.
    struct ClearProgress {
        ProgressBar& progress;
        ~ClearProgress() { progress.Clear(); }
    } const clearProgress{progress_};

    while (!Interrupted()) {
        statistics_.waits.Add(WaitReason::kIteration, scheduler_.Arrive(clock_.Now()));
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
    stream_.EndTrace();
}

std::string Server::DescribeSlots() const {
    std::string text;
    int64_t query = 0;
    for (const int64_t slot : scheduler_.Live()) {
        const Sequence& sequence = *scheduler_.At(slot);
        const Request& request = *sequence.request;
        text +=
            fmt::format("\n  slot {}: sequence of line {}, position {}", slot, request.line,
                        request.promptTokens + static_cast<int64_t>(sequence.tokens.size()) - 1);
        text += sequence.phase == Phase::kDecode ? fmt::format(", query {}", query++) : "";
    }
    return text;
}

void Server::Admit() {
    slots_.BeginLoads();
    for (const int64_t slot : scheduler_.Admit(clock_.Now())) {
        const Sequence& sequence = *scheduler_.At(slot);
        slots_.Load(slot, sequence);
        statistics_.promptTokens += sequence.request->promptTokens;
        statistics_.sharedTokens += sequence.sharedTokens;
    }
    slots_.EnqueueLoads(stream_);
}

void Server::Iterate() {
    const int64_t begin = clock_.Now();
    PlanPass();
    EnqueuePass();
    RunStep();
    if (!decodeSlots_.empty()) {
        speculation_ ? speculation_->CountDeviceTime() : advance_.CountDeviceTime();
    }
    TellObserver();
    CountIteration();
    TakeTokens();
    RetireEnded();
    UpdatePhases();
    record_.Add(sample_);
    if (observer_ != nullptr) {
        observer_->Iterated({begin, clock_.Now(), sample_, work_, scheduler_});
    }
}

void Server::RunStep() {
    for (bool done = false; !done;) {
        step_.Enqueue(stream_, live_.back().slot + 1);
        model_.PoisonLost(stream_);
        model_.FetchReports(stream_);
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

int64_t Server::SampledTokens(const LiveSlot& live) const {
    if (live.query >= 0) {
        return speculation_ ? speculation_->SampledTokens(live.query) : 1;
    }
    return live.prefillTokens > 0 && live.prefillTokens == scheduler_.At(live.slot)->prefillTokens
               ? 1
               : 0;
}

bool Server::ShedYoungest() {
    // The last to arrive of those that are not preempted and do not end with the pass.
    const Request* youngest = nullptr;
    int64_t youngestSlot = -1;
    for (const LiveSlot& live : live_) {
        const Sequence* sequence = scheduler_.At(live.slot);
        if (sequence != nullptr && sequence->phase != Phase::kPreempted &&
            sequence->MissingTokens() > SampledTokens(live) &&
            (youngest == nullptr || ArrivesAfter(*sequence->request, *youngest))) {
            youngest = sequence->request;
            youngestSlot = live.slot;
        }
    }
    if (youngest == nullptr) {
        return false;
    }
    const Sequence shed = scheduler_.Shed(youngestSlot);
    slots_.Stop(stream_, youngestSlot);
    const auto lostTokens = static_cast<int64_t>(shed.tokens.size());
    statistics_.promptTokens -= youngest->promptTokens;
    statistics_.sharedTokens -= shed.sharedTokens;
    statistics_.generatedTokens -= lostTokens;
    statistics_.lostPromptTokens += youngest->promptTokens - shed.sharedTokens;
    statistics_.lostGeneratedTokens += lostTokens;
    ++statistics_.sheds;
    shedLines_.insert(youngest->line);
    shedAdmissions_.push_back(shed.admitted);
    if (observer_ != nullptr) {
        observer_->Shed(shed, youngestSlot);
    }
    return true;
}

}  // namespace serve
