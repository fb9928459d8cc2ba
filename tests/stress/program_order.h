// SPDX-License-Identifier: Apache-2.0
// The happens-before order: places in lanes, clocks, and accesses to memory cells.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace stress {

// A point in a lane: in one stream's order, or in one branch's of a capture. Lane -1: long over.
struct Place {
    int lane = -1;
    uint32_t count = 0;
};

// How much of every lane has happened before.
class Clock {
 public:
    bool Covers(const Place& place) const {
        return place.lane < 0 || place.count == 0 || At(place.lane) >= place.count;
    }
    uint32_t At(int lane) const {
        return static_cast<size_t>(lane) < counts_.size() ? counts_[static_cast<size_t>(lane)] : 0;
    }
    void Advance(const Place& place) {
        if (static_cast<size_t>(place.lane) >= counts_.size()) {
            counts_.resize(static_cast<size_t>(place.lane) + 1);
        }
        uint32_t& count = counts_[static_cast<size_t>(place.lane)];
        count = std::max(count, place.count);
    }
    void Join(const Clock& other) {
        for (size_t lane = 0; lane < other.counts_.size(); ++lane) {
            Advance({static_cast<int>(lane), other.counts_[lane]});
        }
    }

 private:
    std::vector<uint32_t> counts_;
};

// The last write of a cell and the reads since: what an access that may not race comes after.
struct Accesses {
    Place write;
    std::vector<Place> reads;

    // The first place that an access by who knows `clock` would race with; lane -1: none.
    Place Conflict(const Clock& clock, bool writes) const {
        if (!clock.Covers(write)) {
            return write;
        }
        if (writes) {
            for (const Place& read : reads) {
                if (!clock.Covers(read)) {
                    return read;
                }
            }
        }
        return {};
    }
    void Note(const Place& place, bool writes) {
        if (writes) {
            write = place;
            reads.clear();
            return;
        }
        for (Place& read : reads) {
            if (read.lane == place.lane) {
                read = place;
                return;
            }
        }
        reads.push_back(place);
    }
};

}  // namespace stress
