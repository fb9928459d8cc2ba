// SPDX-License-Identifier: Apache-2.0
// Compares freed ranges with the memory that queued work may touch.

#include "src/runtime/memory/held_memory.h"

#include <algorithm>
#include <iterator>

namespace advstep {
namespace {

using Freed = HeldMemory::Freed;

// The place of a freed range in one stream.
struct Place {
    const Freed* freed;
    Ticket* ticket;     // the end of the work that was queued before the free
    uint64_t last = 0;  // the last task up to there that may touch the range; 0: none
};

// The freed ranges that wait for one stream, in the order of their addresses. So their allocations
// are in order, too.
class StreamPlaces : public TouchedMemory {
 public:
    explicit StreamPlaces(std::vector<Place> places) : places_(std::move(places)) {}

    void NextTask(uint64_t sequence) override { sequence_ = sequence; }

    void Range(const void* begin, size_t bytes) override {
        const auto from = reinterpret_cast<uintptr_t>(begin);
        const uintptr_t to = from + bytes;
        auto next = std::partition_point(places_.begin(), places_.end(), [&](const Place& place) {
            return place.freed->end <= from;
        });
        for (; next != places_.end() && next->freed->begin < to; ++next) {
            Touch(&*next);
        }
    }

    void AllocationAt(uintptr_t address) override {
        auto next = std::partition_point(places_.begin(), places_.end(), [&](const Place& place) {
            return place.freed->wholeEnd <= address;
        });
        for (; next != places_.end() && next->freed->wholeBegin <= address; ++next) {
            Touch(&*next);
        }
    }

    // All ranges at once would cost as much as all ranges for each such task.
    void Any() override { any_.push_back(sequence_); }

    // Moves the tickets to the last tasks that may touch the ranges. Sequence 0 has been reached.
    void MoveTickets() {
        for (Place& place : places_) {
            const auto beyond = std::upper_bound(any_.begin(), any_.end(), place.ticket->sequence);
            const uint64_t any = beyond == any_.begin() ? 0 : *std::prev(beyond);
            place.ticket->sequence = std::max(place.last, any);
        }
    }

 private:
    void Touch(Place* place) const {
        if (sequence_ <= place->ticket->sequence) {
            place->last = sequence_;
        }
    }

    std::vector<Place> places_;
    std::vector<uint64_t> any_;  // the tasks that may touch any memory, in order
    uint64_t sequence_ = 0;
};

}  // namespace

void HeldMemory::Narrow(ListMemory list) {
    std::sort(freed_.begin(), freed_.end(),
              [](const Freed& a, const Freed& b) { return a.begin < b.begin; });
    std::vector<Stream*> streams;
    for (const Freed& freed : freed_) {
        for (const Ticket& ticket : freed.pending) {
            streams.push_back(ticket.stream);
        }
    }
    std::sort(streams.begin(), streams.end());
    streams.erase(std::unique(streams.begin(), streams.end()), streams.end());
    for (Stream* const stream : streams) {
        std::vector<Place> places;
        Ticket latest{stream, 0};
        for (Freed& freed : freed_) {
            for (Ticket& ticket : freed.pending) {
                if (ticket.stream == stream) {
                    places.push_back({&freed, &ticket});
                    latest.sequence = std::max(latest.sequence, ticket.sequence);
                }
            }
        }
        StreamPlaces touched(std::move(places));
        list(latest, &touched);
        touched.MoveTickets();
    }
    for (Freed& freed : freed_) {
        const auto none = [](const Ticket& ticket) { return ticket.sequence == 0; };
        freed.pending.erase(std::remove_if(freed.pending.begin(), freed.pending.end(), none),
                            freed.pending.end());
    }
    std::sort(freed_.begin(), freed_.end(),
              [](const Freed& a, const Freed& b) { return a.number < b.number; });
}

HeldMemory::Freed* HeldMemory::Find(uint64_t number) {
    const auto found = std::partition_point(
        freed_.begin(), freed_.end(), [&](const Freed& freed) { return freed.number < number; });
    return found != freed_.end() && found->number == number ? &*found : nullptr;
}

void HeldUp::Add(uint64_t bytes, const std::vector<Ticket>& pending) {
    bytes_ += bytes;
    for (const Ticket& place : pending) {
        const auto known = std::find_if(
            streams_.begin(), streams_.end(),
            [&](const ForStream& other) { return other.place.stream == place.stream; });
        if (known == streams_.end()) {
            streams_.push_back({place, bytes});
        } else {
            known->bytes += bytes;
        }
    }
}

std::string HeldUp::Text() const {
    const auto most =
        std::max_element(streams_.begin(), streams_.end(),
                         [](const ForStream& a, const ForStream& b) { return a.bytes < b.bytes; });
    if (most == streams_.end()) {
        return "";
    }
    std::string text = std::to_string(bytes_) + " bytes have been freed and wait for work of " +
                       NameOfStream(most->place);
    if (streams_.size() > 1) {
        text += " and of " + std::to_string(streams_.size() - 1) + " more";
    }
    return text;
}

}  // namespace advstep
