// SPDX-License-Identifier: Apache-2.0
// The record of a run over time, in bounded memory, and the durations of requests.
// All times are virtual.

#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "scheduler.h"
#include "serve_options.h"
#include "wait_times.h"

namespace serve {

/// One iteration.
struct LoadSample {
    double begin = 0;  // seconds
    double end = 0;
    int64_t running = 0;  // sequences
    int64_t waiting = 0;
    int64_t preempted = 0;
    int64_t blocks = 0;         // in use at its end
    int64_t tokens = 0;         // generated
    int64_t prefillTokens = 0;  // of prompts, and of sequences that were recovered
};

/// A number over the time of a bucket.
struct Level {
    double sum = 0;  // times seconds
    int64_t most = 0;
};

/// Consecutive iterations. Levels count as 0 between them, when the server is idle.
struct TimeBucket {
    double begin = 0;
    double end = 0;
    Level running, waiting, preempted, blocks;
    int64_t tokens = 0;
    int64_t prefillTokens = 0;

    double Seconds() const { return end - begin; }
    double Mean(const Level& level) const { return level.sum / Seconds(); }
};

/// Of what completed requests have waited for.
struct Percentiles {
    double mean = 0, p50 = 0, p90 = 0, p95 = 0, p99 = 0, most = 0;
};

/// Seconds of every completed request.
class Durations {
 public:
    void Add(double seconds);
    /// The smallest that at least so many percent, 1 to 100, do not exceed; 0 without any.
    double Quantile(int64_t percent) const;
    Percentiles Summary() const;
    bool Empty() const { return seconds_.empty(); }

 private:
    void Sort() const;

    mutable std::vector<double> seconds_;
    mutable bool sorted_ = true;
};

struct TickCount {
    int64_t ticks;
    int64_t count;
};

/// Ticks, of which many are alike: those from each token to the next one. A value takes memory
/// once, however often it comes.
class TickCounts {
 public:
    void Add(int64_t ticks, int64_t count = 1);
    void Add(const std::vector<TickCount>& counts);
    /// In seconds, as those of Durations.
    Percentiles Summary() const;
    /// By ticks, ascending.
    std::vector<TickCount> Sorted() const;

 private:
    std::unordered_map<int64_t, int64_t> counts_;
};

/// The field's names: time to first token, time per output token, inter-token latency, end to end.
struct LatencySummary {
    Percentiles admission, ttft, tpot, itl, e2e;
};

/// Times of a request, in ticks of virtual time.
struct RequestMarks {
    int64_t arrival;
    int64_t admitted;
    int64_t firstToken;
    int64_t lastToken;
    int64_t tokens;  // generated
};

struct RequestTimes {
    Durations admission;  // from arrival to the admission that was not taken back
    Durations ttft;       // from arrival to the first token that was not taken back
    Durations tpot;       // from a request's first token to its last, by token after the first
    Durations e2e;        // from arrival to the last token
    TickCounts itl;       // from each token to the next one of its request
    int64_t good = 0;     // requests that met the targets
    Targets targets;

    /// Of a request, but for itl.
    void Add(const RequestMarks& request);
    LatencySummary Summary() const {
        return {admission.Summary(), ttft.Summary(), tpot.Summary(), itl.Summary(), e2e.Summary()};
    }
};

/// The runs of several replicas as one: levels and tokens are sums, peaks those of the busiest.
/// @param parts  of each replica, ascending
/// @param resolution  of the sum, in seconds
std::vector<TimeBucket> SumOf(const std::vector<std::vector<TimeBucket>>& parts,
                              double* resolution);

class RunRecord {
 public:
    explicit RunRecord(const Targets& targets = {}) { times_.targets = targets; }

    /// However long a run is.
    static constexpr size_t kMostBuckets = 480;

    void Add(const LoadSample& sample);
    const std::vector<TimeBucket>& Buckets() const { return buckets_; }
    /// Iterations are told apart if they are further from each other than so many seconds.
    double Resolution() const { return resolution_; }

    /// For a sequence whose request has completed.
    void Finish(const Sequence& sequence);
    const RequestTimes& Latencies() const { return times_; }

 private:
    void Append(const TimeBucket& bucket);

    RequestTimes times_;
    std::vector<TimeBucket> buckets_;
    double resolution_ = 0;
};

}  // namespace serve
