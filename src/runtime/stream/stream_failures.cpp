// SPDX-License-Identifier: Apache-2.0
// Keeps, reports and logs the failures of a stream.
#include "src/runtime/stream/stream_failures.h"

#include <algorithm>
#include <utility>

#include "src/base/log.h"

namespace advstep {

void StreamFailures::Open() {
    failures_.clear();
    failures_.reserve(kMostFailures);
    refusal_ = Status();
}

void StreamFailures::Add(uint64_t sequence, Status status) noexcept {
    if (failures_.size() == kMostFailures) {
        failures_.back() = {sequence, std::move(status)};
    } else {
        failures_.push_back({sequence, std::move(status)});
    }
}

Status StreamFailures::Take(uint64_t sequence, uint64_t last) {
    if (failures_.empty()) {
        return {};
    }
    const auto first =
        std::find_if(failures_.begin(), failures_.end(),
                     [&](const Failure& failure) { return failure.sequence > sequence; });
    const auto end = std::find_if(first, failures_.end(),
                                  [&](const Failure& failure) { return failure.sequence > last; });
    if (first == end) {
        return {};
    }
    Status status = std::move(first->status);
    failures_.erase(first, end);
    if (failures_.empty()) {
        refusal_ = Status();
    }
    return status;
}

void StreamFailures::RefuseNewWork(const Status& failure) noexcept {
    if (!refusal_.ok()) {
        return;
    }
    try {
        refusal_ =
            Error(failure.code(), "the stream has stopped after a failure: {}", failure.message());
    } catch (...) {
        refusal_ = Status(failure.code());
    }
}

void StreamFailures::LogUnreported(Handle stream) const {
    for (const Failure& failure : failures_) {
        Log(LogLevel::kError, "stream {} destroyed with a failure that nobody asked for: {} ({})",
            ToPointer(stream), failure.status.message(), failure.status.code());
    }
}

}  // namespace advstep
