// SPDX-License-Identifier: Apache-2.0
// Two things timed in turns, so that a change of the machine's speed meets both.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

namespace bench {

/// Nanoseconds of `work`, which is called once.
template <typename Work>
double NanosecondsOf(Work&& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin)
        .count();
}

/// One of two things that are timed in turns.
struct Side {
    /// Runs it so many times; nanoseconds of one run. Whatever it prepares is not in them.
    std::function<double(int64_t runs)> time;
    /// Runs that one batch may have.
    int64_t mostRuns = std::numeric_limits<int64_t>::max();
    /// Runs of every batch; 0: as many as fill it.
    int64_t fixedRuns = 0;
};

/// Runs in a row, after prepare(runs).
template <typename Prepare, typename Run>
Side InARow(Prepare prepare, Run run, int64_t mostRuns = std::numeric_limits<int64_t>::max()) {
    const auto time = [prepare = std::move(prepare), run = std::move(run)](int64_t runs) mutable {
        prepare(runs);
        return NanosecondsOf([&] {
                   for (int64_t done = 0; done < runs; ++done) {
                       run();
                   }
               }) /
               static_cast<double>(runs);
    };
    return {time, mostRuns, 0};
}

template <typename Run>
Side InARow(Run run) {
    return InARow([](int64_t) {}, std::move(run));
}

/// The mean of runs that are timed one by one, each after prepare().
template <typename Prepare, typename Run>
Side OneByOne(Prepare prepare, Run run) {
    const auto time = [prepare = std::move(prepare), run = std::move(run)](int64_t runs) mutable {
        double sum = 0;
        for (int64_t done = 0; done < runs; ++done) {
            prepare();
            sum += NanosecondsOf(run);
        }
        return sum / static_cast<double>(runs);
    };
    return {time, std::numeric_limits<int64_t>::max(), 0};
}

/// The library and what it is measured against.
struct Comparison {
    Side library;
    Side baseline;         // no `time`: the library alone
    bool sameRuns = true;  // in a batch of either side
};

struct Budget {
    double batchNanoseconds = 8e5;  // long enough for the clock, short enough to be left alone
    double seconds = 2;             // for all pairs
    int64_t fewestPairs = 9;
    int64_t mostPairs = 401;
};

/// Nanoseconds of one run, batch by batch; library[i] and baseline[i] were measured back to back.
struct Series {
    std::vector<double> library, baseline;
    int64_t libraryRuns = 0, baselineRuns = 0;  // in a batch
};

/// Runs that fill a batch.
int64_t CalibrateRuns(const Side& side, double batchNanoseconds);

/// Batches of both strictly in turns, A B A B, so that a drift of the machine meets both alike and
/// each finds the caches as the other has left them. The first pair warms up and is not kept.
Series Interleave(const Comparison& comparison, const Budget& budget);

struct Quartiles {
    double low = 0, median = 0, high = 0;
};

/// Interpolated linearly between neighbours; zeros of nothing.
Quartiles QuartilesOf(std::vector<double> values);

/// The value that `fraction` of them do not exceed.
double QuantileOf(std::vector<double> values, double fraction);

}  // namespace bench
