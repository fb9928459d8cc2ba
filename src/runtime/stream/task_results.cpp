// SPDX-License-Identifier: Apache-2.0
// Remembers, reports and logs failures, and makes the errors of skipped tasks.

#include "src/runtime/stream/task_results.h"

#include <algorithm>
#include <utility>

#include "acl/acl_base.h"
#include "src/base/log.h"

namespace advstep {
namespace {

Status CopyOf(const Status& failure) noexcept {
    try {
        return {failure.code(), failure.message()};
    } catch (...) {
        return Status(failure.code());
    }
}

}  // namespace

void StreamFailures::Open() {
    failures_.clear();
    failures_.reserve(kMostFailures);
    refusal_ = Status();
}

void StreamFailures::Add(uint64_t sequence, Status status) noexcept {
    if (failures_.size() == kMostFailures) {
        failures_.back() = {failures_.back().first, sequence, std::move(status)};
    } else {
        failures_.push_back({sequence, sequence, std::move(status)});
    }
}

Status StreamFailures::TakeFirst(uint64_t sequence, uint64_t last) {
    const auto first =
        std::find_if(failures_.begin(), failures_.end(),
                     [&](const Failure& failure) { return failure.last > sequence; });
    if (first == failures_.end() || first->first > last) {
        return {};
    }
    // Some of the tasks that the last failure stands for may come later. Then it is kept for them.
    const auto end = std::find_if(first, failures_.end(),
                                  [&](const Failure& failure) { return failure.last > last; });
    const bool partly = end != failures_.end() && end->first <= last;
    Status status = first != end ? std::move(first->status) : CopyOf(first->status);
    if (partly) {
        end->first = last + 1;
    }
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

Status SkipReason::AsStatus() const {
    switch (why) {
        case TaskSkip::kNot:
            return {};
        case TaskSkip::kDestroyed:
            return Error(ACL_ERROR_RT_INVALID_HANDLE,
                         "the stream was destroyed before the task was run");
        case TaskSkip::kAborted:
            return Error(ACL_ERROR_RT_STREAM_ABORT,
                         "the stream was aborted before the task was run");
        case TaskSkip::kDeviceAborted:
            return Error(ACL_ERROR_RT_DEVICE_TASK_ABORT,
                         "the work of the stream's device was aborted before the task was run");
        default:
            return Error(failure,
                         "the stream stopped on an earlier failure before the task was run");
    }
}

Status SkippedTasks::CheckRan(uint64_t sequence) const {
    if (sequence <= after_ || sequence > upTo_) {
        return {};
    }
    size_t span = count_ - 1;  // there is one, and the first begins after `after_`
    while (spans_[span].first > sequence) {
        --span;
    }
    return spans_[span].reason.AsStatus();
}

}  // namespace advstep
