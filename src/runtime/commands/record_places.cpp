// SPDX-License-Identifier: Apache-2.0
// Enters, uses and leaves the places of records.

#include "src/runtime/commands/record_places.h"

#include <algorithm>
#include <iterator>

#include "src/base/never_destroyed.h"

namespace advstep {

RecordPlaces& TheRecordPlaces() {
    static NeverDestroyed<RecordPlaces> places;
    return *places;
}

// The place of a capture that has ended may have the address of a new one.
RecordPlaces::Last& RecordPlaces::LastOf(const Ticket& ticket, const CapturePlace& captured) {
    const std::shared_ptr<Recorder> capture = captured.capture.lock();
    const void* const owner =
        capture != nullptr ? static_cast<const void*>(capture.get()) : ticket.stream;
    Last& last = last_[{owner, captured.branch}];
    if (last.capture.lock() != capture) {
        last = Last();
        last.capture = capture;
    }
    return last;
}

RecordPlaces::Place RecordPlaces::Enter(const Ticket& ticket, const CapturePlace& captured) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Sweep();
    Last& last = LastOf(ticket, captured);
    // A record is a task of a stream, and none of a capture.
    const bool isCaptured = ticket.stream == nullptr;
    const uint64_t number = isCaptured ? captured.position : ticket.sequence;
    Place place = last.place.lock();
    if (place == nullptr || last.number + (isCaptured ? 0 : 1) != number) {
        place = std::make_shared<RecordPlace>();
        last.place = place;
    }
    last.number = number;
    return place;
}

void RecordPlaces::Use(const Place& place, const CallStack& stack, Handle stream) {
    const std::lock_guard<std::mutex> lock(mutex_);
    place->used = true;
    place->ended.clear();
    usedCalls_.insert({stack.Hash(), stream});
}

std::vector<UnusedEvent> RecordPlaces::Leave(Place place, const UnusedEvent* unused) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (unused != nullptr && !place->used) {
        place->ended.push_back(*unused);
    }
    if (place.use_count() > 1) {
        return {};
    }
    std::vector<UnusedEvent> told;
    std::copy_if(place->ended.begin(), place->ended.end(), std::back_inserter(told),
                 [&](const UnusedEvent& ended) { return !CallIsUsed(ended); });
    return told;
}

bool RecordPlaces::CallIsUsed(const UnusedEvent& unused) const {
    return usedCalls_.count({unused.stack.Hash(), unused.stream}) != 0;
}

void RecordPlaces::Sweep() {
    if (last_.size() < sweepAt_) {
        return;
    }
    for (auto entry = last_.begin(); entry != last_.end();) {
        entry = entry->second.place.expired() ? last_.erase(entry) : std::next(entry);
    }
    sweepAt_ = std::max(kLeastSweep, 2 * last_.size());
}

}  // namespace advstep
