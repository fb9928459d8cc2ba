// SPDX-License-Identifier: Apache-2.0
// Passes the steps of streams in a logical order.

#include "src/runtime/sanitizer/work_order.h"

#include <algorithm>

namespace advstep {

WorkOrder::WorkOrder(Pass pass) : pass_(std::move(pass)), host_(std::make_shared<VectorClock>()) {
    streams_.emplace_back();
}

size_t WorkOrder::NumberOf(const void* stream) {
    const auto [entry, isNew] = numbers_.try_emplace(stream, streams_.size());
    if (isNew) {
        streams_.emplace_back();
        streams_.back().clock = std::make_shared<VectorClock>();
        streams_.back().clocks.emplace_back(0, streams_.back().clock);
    }
    return entry->second;
}

// Steps.

void WorkOrder::Add(const void* stream, uint64_t sequence, OrderStep step) {
    const size_t number = NumberOf(stream);
    Stream& adding = streams_[number];
    adding.queued = std::max(adding.queued, sequence);
    adding.held.push_back({sequence, std::move(step), host_});
    holding_.insert(number);
    Advance(number);
}

void WorkOrder::Queued(const void* stream, uint64_t sequence) {
    const size_t number = NumberOf(stream);
    streams_[number].queued = std::max(streams_[number].queued, sequence);
    if (!streams_[number].waiters.empty()) {
        Advance(number);
    }
}

uint64_t WorkOrder::PassedUpTo(const Stream& stream) const {
    return stream.held.empty() ? stream.queued
                               : std::min(stream.queued, stream.held.front().sequence - 1);
}

VectorClock WorkOrder::ClockAt(size_t stream, uint64_t sequence) const {
    const auto& clocks = streams_[stream].clocks;
    auto after =
        std::upper_bound(clocks.begin(), clocks.end(), sequence,
                         [](uint64_t place, const auto& entry) { return place < entry.first; });
    VectorClock clock = after == clocks.begin() ? *clocks.front().second : *(--after)->second;
    clock.Raise(stream, sequence);
    return clock;
}

void WorkOrder::Join(size_t stream, uint64_t sequence, const VectorClock& other) {
    Stream& joining = streams_[stream];
    if (joining.clock->Covers(other)) {
        return;
    }
    const auto joined = std::make_shared<VectorClock>(*joining.clock);
    joined->Join(other);
    joining.clock = joined;
    if (joining.clocks.back().first == sequence) {
        joining.clocks.back().second = joined;
    } else {
        joining.clocks.emplace_back(sequence, joined);
    }
}

void WorkOrder::JoinEverything(size_t stream, uint64_t sequence) {
    VectorClock all = *host_;
    for (size_t other = 1; other < streams_.size(); ++other) {
        if (other != stream) {
            all.Join(*streams_[other].clock);
            all.Raise(other, PassedUpTo(streams_[other]));
        }
    }
    Join(stream, sequence, all);
}

void WorkOrder::WakeAll(std::vector<size_t>* waiters) {
    ready_.insert(ready_.end(), waiters->begin(), waiters->end());
    waiters->clear();
}

// Passes what can be passed in the stream, and then in those that have waited for it. The calls of
// pass_ do not come back here.
void WorkOrder::Advance(size_t stream) {
    ready_.push_back(stream);
    while (!ready_.empty()) {
        const size_t number = ready_.back();
        ready_.pop_back();
        Stream& moving = streams_[number];
        while (!moving.held.empty()) {
            Held& front = moving.held.front();
            if (front.host != moving.host) {
                Join(number, front.sequence, *front.host);
                moving.host = front.host;
            }
            if (!TryStep(number, front)) {
                break;
            }
            if (front.step.work != nullptr) {
                OrderedWork& work = *front.step.work;
                work.stream = number;
                work.sequence = front.sequence;
                work.clock = moving.clock;
                pass_(front.step.work);
            }
            moving.held.pop_front();
        }
        if (moving.held.empty()) {
            holding_.erase(number);
        }
        WakeAll(&moving.waiters);
    }
}

bool WorkOrder::TryStep(size_t stream, const Held& held) {
    switch (held.step.kind) {
        case OrderStep::Kind::kWork:
            return true;
        case OrderStep::Kind::kWaitForPlace:
            return TryPlace(stream, held);
        case OrderStep::Kind::kAwaitAnything:
            JoinEverything(stream, held.sequence);
            return true;
        default:
            return TrySignal(stream, held);
    }
}

bool WorkOrder::TryPlace(size_t stream, const Held& held) {
    const size_t other = NumberOf(held.step.other);
    if (other != stream && PassedUpTo(streams_[other]) < held.step.sequence) {
        streams_[other].waiters.push_back(stream);
        return false;
    }
    Join(stream, held.sequence, ClockAt(other, held.step.sequence));
    return true;
}

bool WorkOrder::TrySignal(size_t stream, const Held& held) {
    Signal& signal = signals_[held.step.key];
    switch (held.step.kind) {
        case OrderStep::Kind::kSet:
        case OrderStep::Kind::kPublish:
            signal.set = true;
            signal.clock.Join(ClockAt(stream, held.sequence));
            WakeAll(&signal.waiters);
            return true;
        case OrderStep::Kind::kUnset:
            signal.set = false;
            signal.clock = VectorClock();
            return true;
        case OrderStep::Kind::kJoin:
            Join(stream, held.sequence, signal.clock);
            return true;
        case OrderStep::Kind::kWriteWord:
        case OrderStep::Kind::kAwaitWord:
            return TryWord(stream, held, &signal);
        default:
            break;
    }
    if (!signal.set) {
        signal.waiters.push_back(stream);
        return false;
    }
    Join(stream, held.sequence, signal.clock);
    if (held.step.kind == OrderStep::Kind::kTake) {
        signal.set = false;
        signal.clock = VectorClock();
    }
    return true;
}

// A wait ends with the first of the last writes that all let it end: a device may see any of them.
bool WorkOrder::TryWord(size_t stream, const Held& held, Signal* word) {
    constexpr size_t kMostWrites = 64;
    auto& writes = word->writes;
    if (held.step.kind == OrderStep::Kind::kWriteWord) {
        if (writes.size() == kMostWrites) {
            writes.erase(writes.begin());
        }
        writes.emplace_back(held.step.value, ClockAt(stream, held.sequence));
        WakeAll(&word->waiters);
        return true;
    }
    auto first = writes.end();
    while (first != writes.begin() &&
           held.step.holds(std::prev(first)->first, held.step.value, held.step.flag)) {
        --first;
    }
    if (first == writes.end()) {
        word->waiters.push_back(stream);
        return false;
    }
    Join(stream, held.sequence, first->second);
    return true;
}

// The host.

VectorClock* WorkOrder::ChangeHost() {
    if (host_.use_count() > 1) {
        host_ = std::make_shared<VectorClock>(*host_);
    }
    return host_.get();
}

// Passes the steps up to the task, which has really ended, although the analysis does not know
// how: a wait had a timeout, or another process ended it.
void WorkOrder::Force(size_t stream, uint64_t sequence) {
    Stream& forcing = streams_[stream];
    forcing.forced = true;
    while (!forcing.held.empty() && forcing.held.front().sequence <= sequence) {
        const OrderStep step = forcing.held.front().step;
        if (step.kind == OrderStep::Kind::kWaitForPlace) {
            const size_t other = NumberOf(step.other);
            if (!streams_[other].forced && streams_[other].queued >= step.sequence) {
                Force(other, step.sequence);
            }
            Advance(stream);
            if (forcing.held.empty() || forcing.held.front().step.kind != step.kind ||
                forcing.held.front().step.sequence != step.sequence) {
                continue;
            }
        }
        forcing.held.front().step.kind = OrderStep::Kind::kAwaitAnything;
        Advance(stream);
    }
    forcing.forced = false;
}

void WorkOrder::HostSees(const void* stream, uint64_t sequence) {
    const auto known = numbers_.find(stream);
    if (known == numbers_.end() || host_->At(known->second) >= sequence) {
        return;
    }
    const size_t number = known->second;
    Force(number, sequence);
    const VectorClock seen = ClockAt(number, sequence);
    if (!host_->Covers(seen)) {
        ChangeHost()->Join(seen);
    }
    // Nothing that is queued from now on asks for clocks of before.
    auto& clocks = streams_[number].clocks;
    while (clocks.size() > 1 && clocks[1].first <= host_->At(number)) {
        clocks.pop_front();
    }
}

void WorkOrder::HostActs(const std::shared_ptr<OrderedWork>& work) {
    ChangeHost()->Raise(kHost, ++hostActs_);
    work->stream = kHost;
    work->sequence = hostActs_;
    work->clock = host_;
    pass_(work);
}

void WorkOrder::ActsInside(const void* stream, uint64_t sequence,
                           const std::shared_ptr<OrderedWork>& work) {
    const size_t number = NumberOf(stream);
    work->stream = number;
    work->sequence = sequence;
    VectorClock clock = ClockAt(number, sequence);
    clock.Raise(kHost, host_->At(kHost));  // the host's earlier accesses came before, in time
    work->clock = std::make_shared<VectorClock>(clock);
    pass_(work);
}

void WorkOrder::Unset(const void* key) {
    const auto known = signals_.find(key);
    if (known != signals_.end()) {
        known->second.set = false;
        known->second.clock = VectorClock();
    }
}

}  // namespace advstep
