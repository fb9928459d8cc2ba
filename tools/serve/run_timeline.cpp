// SPDX-License-Identifier: Apache-2.0
// Writes the events of a run in virtual time.

#include "run_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace serve {
namespace {

// Processes of the file.
constexpr int kServer = 1;
constexpr int kSlots = 2;

// Microseconds: a tick is a tenth of one.
std::string TimeText(int64_t ticks) { return fmt::format("{}.{}", ticks / 10, ticks % 10); }

std::string SliceText(const std::string& name, int process, int64_t thread, int64_t begin,
                      int64_t end, const std::string& args) {
    return fmt::format(
        ",\n{{\"ph\":\"X\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{},\"args\":"
        "{{{}}}}}",
        name, process, thread, TimeText(begin), TimeText(end - begin), args);
}

std::string NameText(const char* what, int process, int64_t thread, const std::string& name) {
    return fmt::format(
        "{{\"ph\":\"M\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":\"{}\"}}}}", what,
        process, thread, name);
}

const char* PhaseText(Sequence::Phase phase) {
    return phase == Sequence::Phase::kPrefill  ? "prefill"
           : phase == Sequence::Phase::kDecode ? "decode"
                                               : "preempted";
}

}  // namespace

RunTimeline::Lane RunTimeline::NewLane(const Sequence& sequence) {
    const Request& request = *sequence.request;
    return {request.line,         request.arrival,           sequence.admitted,
            request.promptTokens, Sequence::Phase::kPrefill, sequence.admitted};
}

RunTimeline::Lane& RunTimeline::LaneOf(const Sequence& sequence, int64_t slot) {
    slots_ = std::max(slots_, slot + 1);
    return lanes_.try_emplace(slot, NewLane(sequence)).first->second;
}

void RunTimeline::EndPhase(Lane& lane, int64_t slot, int64_t time) {
    if (time > lane.since) {
        lane.phases += SliceText(PhaseText(lane.phase), kSlots, slot + 1, lane.since, time, "");
    }
    lane.since = time;
}

// A request comes before its phases: readers nest slices of one begin in the order of the file.
void RunTimeline::Close(Lane& lane, int64_t slot, int64_t time, int64_t tokens) {
    EndPhase(lane, slot, time);
    events_ += SliceText(
        fmt::format("line {}", lane.line), kSlots, slot + 1, lane.admitted, time,
        fmt::format("\"waited_us\":{},\"prompt_tokens\":{},\"generated_tokens\":{},\"shed\":{}",
                    TimeText(lane.admitted - lane.arrival), lane.prompt, tokens, lane.shed));
    events_ += lane.phases;
}

void RunTimeline::Finish(const Sequence& sequence, int64_t slot) {
    Close(LaneOf(sequence, slot), slot, sequence.lastToken,
          static_cast<int64_t>(sequence.tokens.size()));
    lanes_.erase(slot);
}

void RunTimeline::Shed(const Sequence& sequence, int64_t slot) {
    LaneOf(sequence, slot).shed = true;
}

void RunTimeline::Count(const char* name, int64_t& before, int64_t value, int64_t time) {
    if (before != value) {
        events_ += fmt::format(
            ",\n{{\"ph\":\"C\",\"name\":\"{}\",\"pid\":{},\"ts\":{},\"args\":{{\"{}\":{}}}}}", name,
            kServer, TimeText(time), name, value);
        before = value;
    }
}

void RunTimeline::Add(const IterationState& state) {
    const LoadSample& load = state.load;
    if (state.begin > end_) {
        Count("batch", running_, 0, end_);
        Count("queue", waiting_, 0, end_);
        Count("preempted", preempted_, 0, end_);
    }
    Count("batch", running_, load.running, state.begin);
    Count("queue", waiting_, load.waiting, state.begin);
    Count("preempted", preempted_, load.preempted, state.begin);
    Count("blocks", blocks_, load.blocks, state.end);
    end_ = state.end;
    events_ += SliceText("iteration", kServer, 1, state.begin, state.end,
                         fmt::format("\"prefill_tokens\":{},\"decode_rows\":{},\"context_tokens\":"
                                     "{},\"tokens\":{}",
                                     state.work.prefillTokens, state.work.decodeRows,
                                     state.work.contextTokens, load.tokens));
    for (auto at = lanes_.begin(); at != lanes_.end();) {
        if (at->second.shed) {
            Close(at->second, at->first, state.end, 0);
            at = lanes_.erase(at);
        } else {
            ++at;
        }
    }
    for (const int64_t slot : state.scheduler.Live()) {
        const Sequence& sequence = *state.scheduler.At(slot);
        Lane& lane = LaneOf(sequence, slot);
        if (lane.phase != sequence.phase) {
            EndPhase(lane, slot, state.end);
            lane.phase = sequence.phase;
        }
    }
}

std::string RunTimeline::Text() const {
    std::string text = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n" +
                       NameText("process_name", kServer, 0, "serve, in virtual time") + ",\n" +
                       NameText("thread_name", kServer, 1, "iterations") + ",\n" +
                       NameText("process_name", kSlots, 0, "requests, by slot");
    for (int64_t slot = 0; slot < slots_; ++slot) {
        text += ",\n" + NameText("thread_name", kSlots, slot + 1, fmt::format("slot {}", slot));
    }
    text += events_;
    // Of a run that ended early, those that were still in their slots, or left them in an iteration
    // that did not end.
    for (const auto& [slot, lane] : lanes_) {
        RunTimeline rest;
        Lane copy = lane;
        rest.Close(copy, slot, std::max(end_, lane.admitted), 0);
        text += rest.events_;
    }
    return text + "\n]}\n";
}

}  // namespace serve
