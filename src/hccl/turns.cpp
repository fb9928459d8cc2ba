// SPDX-License-Identifier: Apache-2.0
// Lets operators into their channels.

#include "src/hccl/turns.h"

#include <chrono>

namespace advstep::hccl {

// All memory is taken here, so that the end of a place cannot fail.
void Turns::Number(Place* place) {
    place->numbers.resize(place->channels.size());
    const std::lock_guard<std::mutex> lock(mutex_);
    size_t taken = 0;
    try {
        for (; taken < place->channels.size(); ++taken) {
            State& state = states_[place->channels[taken]];
            place->numbers[taken] = state.issued;
            state.places.emplace(state.issued, false);
        }
    } catch (...) {
        while (taken-- > 0) {
            states_.find(place->channels[taken])->second.places.erase(place->numbers[taken]);
        }
        place->numbers.clear();
        throw;
    }
    for (const Channel channel : place->channels) {
        ++states_.find(channel)->second.issued;
    }
}

bool Turns::MayEnterLocked(const Place& place) const {
    for (size_t i = 0; i < place.channels.size(); ++i) {
        const auto found = states_.find(place.channels[i]);
        if (found == states_.end()) {
            continue;
        }
        const State& state = found->second;
        if (state.busy ||
            (!place.numbers.empty() && state.places.begin()->first != place.numbers[i])) {
            return false;
        }
    }
    return true;
}

bool Turns::Enter(const Place& place, const Deadline& deadline) {
    std::unique_lock<std::mutex> lock(mutex_);
    for (const Channel channel : place.channels) {
        (void)states_[channel];  // may throw, before a channel is the caller's
    }
    while (!stopped_ && !MayEnterLocked(place)) {
        if (deadline.Passed()) {
            return false;
        }
        changed_.wait_for(lock, std::chrono::milliseconds(deadline.Milliseconds()));
    }
    if (stopped_) {
        return false;
    }
    for (const Channel channel : place.channels) {
        states_[channel].busy = true;
    }
    return true;
}

void Turns::DoneLocked(const Place& place) noexcept {
    for (size_t i = 0; i < place.numbers.size(); ++i) {
        auto& places = states_.find(place.channels[i])->second.places;
        places.find(place.numbers[i])->second = true;
        while (!places.empty() && places.begin()->second) {
            places.erase(places.begin());
        }
    }
}

void Turns::Skip(const Place& place) noexcept {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        DoneLocked(place);
    }
    changed_.notify_all();
}

void Turns::Leave(const Place& place) noexcept {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        for (const Channel channel : place.channels) {
            const auto found = states_.find(channel);
            if (found != states_.end()) {
                found->second.busy = false;
            }
        }
    }
    Skip(place);
}

void Turns::Stop() noexcept {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        stopped_ = true;
    }
    changed_.notify_all();
}

bool Turns::IsBusy() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [channel, state] : states_) {
        if (state.busy || !state.places.empty()) {
            return true;
        }
    }
    return false;
}

}  // namespace advstep::hccl
