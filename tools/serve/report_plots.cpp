// SPDX-License-Identifier: Apache-2.0
// Makes the charts of one run or of two.

#include "report_plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace serve {
namespace {

// The unit in which a run of so many seconds is told, and how many seconds it has.
struct TimeUnit {
    const char* name;
    double seconds;
};
TimeUnit UnitFor(double seconds) {
    return seconds < 600     ? TimeUnit{"s", 1}
           : seconds < 36000 ? TimeUnit{"min", 60}
                             : TimeUnit{"h", 3600};
}

using Buckets = std::vector<TimeBucket>;
using Span = std::pair<double, double>;

// The spans over which every chart of time is constant: those of both runs, divided where one of
// either begins or ends.
std::vector<Span> CommonSpans(const Buckets& own, const Buckets& others) {
    std::vector<double> bounds;
    for (const Buckets* buckets : {&own, &others}) {
        for (const TimeBucket& bucket : *buckets) {
            bounds.insert(bounds.end(), {bucket.begin, bucket.end});
        }
    }
    std::sort(bounds.begin(), bounds.end());
    bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
    std::vector<Span> spans;
    const auto covers = [](const Buckets& buckets, double time) {
        const auto after =
            std::upper_bound(buckets.begin(), buckets.end(), time,
                             [](double t, const TimeBucket& b) { return t < b.begin; });
        return after != buckets.begin() && time < std::prev(after)->end;
    };
    for (size_t i = 0; i + 1 < bounds.size(); ++i) {
        if (covers(own, bounds[i]) || covers(others, bounds[i])) {
            spans.emplace_back(bounds[i], bounds[i + 1]);
        }
    }
    return spans;
}

// valueOf(bucket) over the spans, none of which reaches over the end of a bucket; 0 between them.
template <typename ValueOf>
std::vector<double> Over(const std::vector<Span>& spans, const Buckets& buckets,
                         const ValueOf& valueOf) {
    std::vector<double> values;
    auto at = buckets.begin();
    for (const Span& span : spans) {
        while (at != buckets.end() && at->end <= span.first) {
            ++at;
        }
        values.push_back(at != buckets.end() && at->begin <= span.first ? valueOf(*at) : 0);
    }
    return values;
}

// The charts of time of a report.
class TimePlots {
 public:
    explicit TimePlots(const ReportData& data)
        : data_(data),
          others_(data.other != nullptr ? data.other->buckets : Buckets()),
          spans_(others_.empty() ? OwnSpans() : CommonSpans(data.buckets, others_)),
          unit_(UnitFor(spans_.empty() ? 0 : spans_.back().second)) {}

    Plot PerSecond(const char* id, const char* title, const char* name, const char* colour,
                   int64_t TimeBucket::*count) const {
        Plot plot = Empty(id, title, "tokens per second");
        Add(plot, name, colour, [count](const TimeBucket& bucket) {
            return static_cast<double>(bucket.*count) / bucket.Seconds();
        });
        return plot;
    }

    Plot Levels(const char* id, const char* title, const char* yAxis, const char* colour,
                Level TimeBucket::*level) const {
        Plot plot = Empty(id, title, yAxis);
        Add(plot, "average", colour,
            [level](const TimeBucket& bucket) { return bucket.Mean(bucket.*level); });
        if (data_.other == nullptr) {
            plot.series.push_back({data_.replicas > 1 ? "peak of the busiest replica" : "peak",
                                   colour == std::string("green") ? "orange" : "purple", false,
                                   Over(spans_, data_.buckets, [level](const TimeBucket& bucket) {
                                       return static_cast<double>((bucket.*level).most);
                                   })});
        }
        return plot;
    }

 private:
    std::vector<Span> OwnSpans() const {
        std::vector<Span> spans;
        for (const TimeBucket& bucket : data_.buckets) {
            spans.emplace_back(bucket.begin, bucket.end);
        }
        return spans;
    }

    Plot Empty(const char* id, const char* title, const char* yAxis) const {
        Plot plot;
        plot.id = id;
        plot.title = title;
        plot.xAxis = fmt::format("virtual time ({})", unit_.name);
        plot.yAxis = yAxis;
        plot.xUnit = unit_.name;
        for (const auto& [begin, end] : spans_) {
            plot.spans.emplace_back(begin / unit_.seconds, end / unit_.seconds);
        }
        return plot;
    }

    // Of this run, and beside it of the other one.
    template <typename ValueOf>
    void Add(Plot& plot, const char* name, const char* colour, const ValueOf& valueOf) const {
        const bool two = data_.other != nullptr;
        plot.series.push_back(
            {two ? "this run" : name, colour, true, Over(spans_, data_.buckets, valueOf)});
        if (two) {
            plot.series.push_back({"the other", "purple", false, Over(spans_, others_, valueOf)});
        }
    }

    const ReportData& data_;
    const Buckets others_;
    const std::vector<Span> spans_;
    const TimeUnit unit_;
};

Plot LatencyPlot(const RequestTimes& times) {
    const auto quantiles = [](const char* name, const char* colour, const Durations& durations) {
        Series series{name, colour, false, {}};
        for (int percent = 1; percent <= 100; ++percent) {
            series.values.push_back(durations.Quantile(percent));
        }
        return series;
    };
    Plot plot;
    plot.id = "latency";
    plot.title = "Latency of completed requests";
    plot.xAxis = "percentile of requests (%)";
    plot.yAxis = "virtual seconds since arrival";
    plot.xUnit = "%";
    plot.fromZero = false;
    plot.timed = false;
    for (int percent = 0; percent < 100 && !times.e2e.Empty(); ++percent) {
        plot.spans.emplace_back(percent, percent + 1);
    }
    plot.series = {quantiles("admission", "orange", times.admission),
                   quantiles("first token", "green", times.ttft),
                   quantiles("last token", "blue", times.e2e)};
    return plot;
}

}  // namespace

std::vector<Plot> PlotsOf(const ReportData& data) {
    const TimePlots plots(data);
    Plot blocks =
        plots.Levels("blocks", "KV cache blocks in use", "blocks", "green", &TimeBucket::blocks);
    blocks.limit = static_cast<double>(data.options.blocks * data.replicas);
    blocks.limitName = fmt::format("{} blocks there are", Readable(blocks.limit));
    return {plots.PerSecond("throughput", "Throughput", "generated tokens", "blue",
                            &TimeBucket::tokens),
            plots.Levels("batch", "Batch: sequences that run", "sequences", "blue",
                         &TimeBucket::running),
            plots.Levels("queue", "Queue: requests that wait for admission", "requests", "orange",
                         &TimeBucket::waiting),
            plots.Levels("preempted", "Preempted sequences, which wait for blocks", "sequences",
                         "orange", &TimeBucket::preempted),
            blocks,
            LatencyPlot(data.times),
            plots.PerSecond("prefill", "Prefill", "tokens of prompts and recoveries", "green",
                            &TimeBucket::prefillTokens)};
}

}  // namespace serve
