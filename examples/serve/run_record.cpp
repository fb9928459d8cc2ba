// SPDX-License-Identifier: Apache-2.0
// Implements the record of a run: levels per time bucket, and quantiles of durations.

#include "run_record.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace serve {
namespace {

void AddLevel(Level& level, int64_t value, double seconds) {
    level.sum += static_cast<double>(value) * seconds;
    level.most = std::max(level.most, value);
}

void Join(Level& level, const Level& later) {
    level.sum += later.sum;
    level.most = std::max(level.most, later.most);
}

void Join(TimeBucket& bucket, const TimeBucket& later) {
    bucket.end = later.end;
    Join(bucket.running, later.running);
    Join(bucket.waiting, later.waiting);
    Join(bucket.preempted, later.preempted);
    Join(bucket.blocks, later.blocks);
    bucket.tokens += later.tokens;
    bucket.prefillTokens += later.prefillTokens;
}

TimeBucket BucketOf(const LoadSample& sample) {
    TimeBucket bucket;
    bucket.begin = sample.begin;
    bucket.end = sample.end;
    AddLevel(bucket.running, sample.running, bucket.Seconds());
    AddLevel(bucket.waiting, sample.waiting, bucket.Seconds());
    AddLevel(bucket.preempted, sample.preempted, bucket.Seconds());
    AddLevel(bucket.blocks, sample.blocks, bucket.Seconds());
    bucket.tokens = sample.tokens;
    bucket.prefillTokens = sample.prefillTokens;
    return bucket;
}

}  // namespace

void Durations::Add(double seconds) {
    seconds_.push_back(seconds);
    sorted_ = false;
}

double Durations::Quantile(double part) const {
    if (seconds_.empty()) {
        return 0;
    }
    if (!sorted_) {
        std::sort(seconds_.begin(), seconds_.end());
        sorted_ = true;
    }
    const auto count = static_cast<double>(seconds_.size());
    const double rank = std::clamp(std::ceil(part * count), 1.0, count);
    return seconds_[static_cast<size_t>(rank) - 1];
}

Percentiles Durations::Summary() const {
    return {Quantile(0.5), Quantile(0.9), Quantile(0.95), Quantile(0.99), Quantile(1)};
}

void RunRecord::Add(const LoadSample& sample) {
    if (buckets_.size() == kMostBuckets) {
        // Afterwards two neighbours always make more than the resolution, so there is room again:
        // at most half of the buckets are left.
        resolution_ = (sample.end - buckets_.front().begin) * 4 / kMostBuckets;
        const std::vector<TimeBucket> finer = std::move(buckets_);
        buckets_.clear();
        for (const TimeBucket& bucket : finer) {
            Append(bucket);
        }
    }
    Append(BucketOf(sample));
}

void RunRecord::Append(const TimeBucket& bucket) {
    if (!buckets_.empty() && bucket.end - buckets_.back().begin <= resolution_) {
        Join(buckets_.back(), bucket);
    } else {
        buckets_.push_back(bucket);
    }
}

void RequestTimes::Add(const RequestMarks& request) {
    const auto seconds = [](int64_t from, int64_t to) {
        return static_cast<double>(to - from) / kTicksPerSecond;
    };
    admission.Add(seconds(request.arrival, request.admitted));
    firstToken.Add(seconds(request.arrival, request.firstToken));
    completion.Add(seconds(request.arrival, request.lastToken));
    if (request.tokens > 1) {
        perToken.Add(seconds(request.firstToken, request.lastToken) /
                     static_cast<double>(request.tokens - 1));
    }
}

void RunRecord::Finish(const Sequence& sequence) {
    times_.Add({sequence.request->arrival, sequence.admitted, sequence.firstToken,
                sequence.lastToken, static_cast<int64_t>(sequence.tokens.size())});
}

}  // namespace serve
