// SPDX-License-Identifier: Apache-2.0
// Implements the record of a run: levels per time bucket, and quantiles of durations.

#include "run_record.h"

#include <algorithm>
#include <cmath>
#include <numeric>
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

// Joins it to the last one if both together are no longer than the resolution.
void AppendTo(std::vector<TimeBucket>& buckets, const TimeBucket& bucket, double resolution) {
    if (!buckets.empty() && bucket.end - buckets.back().begin <= resolution) {
        Join(buckets.back(), bucket);
    } else {
        buckets.push_back(bucket);
    }
}

// The part of a bucket's count from its begin to a time.
int64_t CountUpTo(const TimeBucket& bucket, int64_t count, double time) {
    return std::llround(static_cast<double>(count) * (time - bucket.begin) / bucket.Seconds());
}

// Adds what a bucket has between two times.
void AddPart(TimeBucket& sum, const TimeBucket& bucket) {
    const double part = sum.Seconds() / bucket.Seconds();
    const auto add = [part](Level& to, const Level& from) {
        to.sum += from.sum * part;
        to.most = std::max(to.most, from.most);
    };
    add(sum.running, bucket.running);
    add(sum.waiting, bucket.waiting);
    add(sum.preempted, bucket.preempted);
    add(sum.blocks, bucket.blocks);
    const auto count = [&](int64_t all) {
        return CountUpTo(bucket, all, sum.end) - CountUpTo(bucket, all, sum.begin);
    };
    sum.tokens += count(bucket.tokens);
    sum.prefillTokens += count(bucket.prefillTokens);
}

// Of the value that at least so many percent do not exceed, from 1 on. In whole numbers: 0.07 times
// 100 is above 7.
int64_t RankOf(int64_t percent, size_t count) {
    return (percent * static_cast<int64_t>(count) + 99) / 100;
}

}  // namespace

void Durations::Add(double seconds) {
    seconds_.push_back(seconds);
    sorted_ = false;
}

void Durations::Sort() const {
    if (!sorted_) {
        std::sort(seconds_.begin(), seconds_.end());
        sorted_ = true;
    }
}

double Durations::Quantile(int64_t percent) const {
    if (seconds_.empty()) {
        return 0;
    }
    Sort();
    return seconds_[static_cast<size_t>(RankOf(percent, seconds_.size())) - 1];
}

Percentiles Durations::Summary() const {
    if (seconds_.empty()) {
        return {};
    }
    // Ascending, so that the sum does not depend on who finished first.
    Sort();
    const double sum = std::accumulate(seconds_.begin(), seconds_.end(), 0.0);
    return {sum / static_cast<double>(seconds_.size()),
            Quantile(50),
            Quantile(90),
            Quantile(95),
            Quantile(99),
            Quantile(100)};
}

void TickCounts::Add(int64_t ticks, int64_t count) { counts_[ticks] += count; }

void TickCounts::Add(const std::vector<TickCount>& counts) {
    for (const TickCount& value : counts) {
        Add(value.ticks, value.count);
    }
}

std::vector<TickCount> TickCounts::Sorted() const {
    std::vector<TickCount> sorted;
    sorted.reserve(counts_.size());
    for (const auto& [ticks, count] : counts_) {
        sorted.push_back({ticks, count});
    }
    std::sort(sorted.begin(), sorted.end(),
              [](const TickCount& a, const TickCount& b) { return a.ticks < b.ticks; });
    return sorted;
}

Percentiles TickCounts::Summary() const {
    const std::vector<TickCount> sorted = Sorted();
    int64_t values = 0;
    WideTicks sum = 0;
    for (const auto& [ticks, count] : sorted) {
        values += count;
        sum += WideTicks{ticks} * count;
    }
    if (values == 0) {
        return {};
    }
    const auto quantile = [&](int64_t percent) {
        const int64_t rank = RankOf(percent, static_cast<size_t>(values));
        int64_t upTo = 0;
        for (const auto& [ticks, count] : sorted) {
            upTo += count;
            if (upTo >= rank) {
                return static_cast<double>(ticks) / kTicksPerSecond;
            }
        }
        return 0.0;
    };
    return {static_cast<double>(sum) / static_cast<double>(values) / kTicksPerSecond,
            quantile(50),
            quantile(90),
            quantile(95),
            quantile(99),
            quantile(100)};
}

std::vector<TimeBucket> SumOf(const std::vector<std::vector<TimeBucket>>& parts,
                              double* resolution) {
    std::vector<double> bounds;
    for (const std::vector<TimeBucket>& part : parts) {
        for (const TimeBucket& bucket : part) {
            bounds.insert(bounds.end(), {bucket.begin, bucket.end});
        }
    }
    std::sort(bounds.begin(), bounds.end());
    bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
    *resolution = bounds.size() <= RunRecord::kMostBuckets
                      ? 0
                      : (bounds.back() - bounds.front()) * 4 / RunRecord::kMostBuckets;
    std::vector<TimeBucket> sums;
    std::vector<size_t> at(parts.size(), 0);
    for (size_t i = 0; i + 1 < bounds.size(); ++i) {
        TimeBucket sum;
        sum.begin = bounds[i];
        sum.end = bounds[i + 1];
        bool isIdle = true;
        for (size_t part = 0; part < parts.size(); ++part) {
            while (at[part] < parts[part].size() && parts[part][at[part]].end <= sum.begin) {
                ++at[part];
            }
            if (at[part] < parts[part].size() && parts[part][at[part]].begin <= sum.begin) {
                AddPart(sum, parts[part][at[part]]);
                isIdle = false;
            }
        }
        if (!isIdle) {
            AppendTo(sums, sum, *resolution);
        }
    }
    return sums;
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

void RunRecord::Append(const TimeBucket& bucket) { AppendTo(buckets_, bucket, resolution_); }

void RequestTimes::Add(const RequestMarks& request) {
    const auto seconds = [](int64_t from, int64_t to) {
        return static_cast<double>(to - from) / kTicksPerSecond;
    };
    admission.Add(seconds(request.arrival, request.admitted));
    ttft.Add(seconds(request.arrival, request.firstToken));
    e2e.Add(seconds(request.arrival, request.lastToken));
    double perToken = 0;
    if (request.tokens > 1) {
        perToken = seconds(request.firstToken, request.lastToken) /
                   static_cast<double>(request.tokens - 1);
        tpot.Add(perToken);
    }
    good += targets.Met(seconds(request.arrival, request.firstToken), perToken) ? 1 : 0;
}

void RunRecord::Finish(const Sequence& sequence) {
    times_.Add({sequence.request->arrival, sequence.admitted, sequence.firstToken,
                sequence.lastToken, static_cast<int64_t>(sequence.tokens.size())});
    for (const int64_t gap : sequence.gaps) {
        times_.itl.Add(gap);
    }
}

}  // namespace serve
