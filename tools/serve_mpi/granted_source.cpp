// SPDX-License-Identifier: Apache-2.0
// Implements the source: it asks for the next grant when the current one is used up.

#include "granted_source.h"

#include "dispatcher.h"

namespace serve {

void GrantedSource::Ask() {
    const Grant grant = exchange_.Next(finished_);
    finished_.clear();
    until_ = grant.until;
    requests_.insert(requests_.end(), grant.requests.begin(), grant.requests.end());
}

const Request* GrantedSource::Take(int64_t now) {
    while (until_ <= now) {
        Ask();
    }
    const bool arrived = next_ < requests_.size() && requests_[next_].arrival <= now;
    return arrived ? &requests_[next_++] : nullptr;
}

std::optional<int64_t> GrantedSource::NextArrival() {
    while (next_ == requests_.size() && until_ != kNever) {
        Ask();
    }
    return next_ < requests_.size() ? std::optional(requests_[next_].arrival) : std::nullopt;
}

}  // namespace serve
