// SPDX-License-Identifier: Apache-2.0
// Implements the serving loop, iteration by iteration.

#include "server.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <string>

#include "interrupt.h"

namespace serve {

using Phase = Sequence::Phase;

namespace {

bool ArrivesAfter(const Request& a, const Request& b) {
    return a.arrival != b.arrival ? a.arrival > b.arrival : a.line > b.line;
}

}  // namespace

Server::Server(RequestSource& source, const Options& options, ServerObserver* observer) try
    : options_(options),
      source_(source),
      observer_(observer),
      scheduler_(source, options),
      progress_(source.Requests()),
      check_([this](const std::string& fault) {
          progress_.Clear();
          fmt::print(stderr, "serve: {}\n", fault);
      }),
      record_(options.targets),
      session_(options, source.Limits()),
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
    RetireEnded();
    UpdatePhases();
    record_.Add(sample_);
}

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
        if (scheduler_.At(slot)->phase == Phase::kDecode) {
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
        const bool isPreempted = sequence.phase == Phase::kPreempted;
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
        if (sequence.phase == Phase::kPrefill) {
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
    statistics_.generatedTokens -= lostTokens;
    statistics_.lostPromptTokens += youngest->promptTokens;
    statistics_.lostGeneratedTokens += lostTokens;
    ++statistics_.sheds;
    shedLines_.insert(youngest->line);
    shedAdmissions_.push_back(shed.admitted);
    return true;
}

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
    sequence.phase = Phase::kDecode;
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
            observer_->Finished(sequence);
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
    const bool lost = sequence.phase == Phase::kPreempted || hadTokens ||
                      report.dynamicBlocks > sequence.dynamicBlocks;
    const bool recovered = report.isPreempted == 0 && report.cachedTokens == 0 && lost;
    sequence.cachedTokens = report.cachedTokens;
    sequence.dynamicBlocks = report.dynamicBlocks;
    if (sequence.phase != Phase::kPreempted && (recovered || report.isPreempted != 0)) {
        sequence.phase = Phase::kPreempted;
        ++statistics_.preemptions;
    }
    if (sequence.phase == Phase::kPreempted && !recovered) {
        slots_.LimitClaim(stream_, live.slot, report.dynamicBlocks,
                          DynamicBlocksFor(*sequence.request, options_));
    }
    if (recovered) {
        sequence.phase = Phase::kPrefill;
        sequence.prefillTokens = report.prefillTokens;
        ++statistics_.recoveries;
        check_.CompareRecovery(sequence, slots_.PromptBlocks(live.slot) + report.dynamicBlocks,
                               options_.blockSize);
        // All but the newest token had been in the cache before.
        statistics_.replayedTokens += sequence.prefillTokens - 1;
    }
}

}  // namespace serve
