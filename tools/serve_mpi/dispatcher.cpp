// SPDX-License-Identifier: Apache-2.0
// Implements the dispatcher: windows of arrivals, placement, and release of finished load.

#include "dispatcher.h"

#include <stdexcept>

namespace serve {

Dispatcher::Dispatcher(const std::vector<Request>& requests, int64_t replicas, int64_t window)
    : requests_(requests), window_(window), loads_(replicas) {
    if (window < 1) {
        throw std::invalid_argument("Dispatcher: a window is at least one tick");
    }
}

int64_t Dispatcher::WindowBegin() const {
    if (next_ == requests_.size()) {
        return kNever;
    }
    const int64_t arrival = requests_[next_].arrival;
    return arrival - arrival % window_;
}

void Dispatcher::Finished(int64_t replica, int64_t time, int64_t tokens) {
    finishes_.push({time, replica, tokens});
}

void Dispatcher::ReleaseUntil(int64_t time) {
    while (!finishes_.empty() && finishes_.top().time <= time) {
        const Finish& finish = finishes_.top();
        loads_.Add(finish.replica, -finish.tokens);
        finishes_.pop();
    }
}

std::vector<Placement> Dispatcher::PlaceWindow() {
    std::vector<Placement> placements;
    const int64_t begin = WindowBegin();
    if (begin == kNever) {
        return placements;
    }
    ReleaseUntil(begin);
    for (; next_ < requests_.size() && requests_[next_].arrival - begin < window_; ++next_) {
        const int64_t replica = loads_.Least();
        loads_.Add(replica, requests_[next_].TotalTokens());
        placements.push_back({&requests_[next_], replica});
    }
    return placements;
}

}  // namespace serve
