// SPDX-License-Identifier: Apache-2.0
// Writes the report: its charts, its tables and the data that they show.

#include "run_report.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "report_chart.h"
#include "report_style.h"

namespace serve {
namespace {

using Json = nlohmann::ordered_json;

// JSON that may stand in a script element, for readers of HTML and of XML alike.
std::string Embedded(const char* id, const Json& json) {
    std::string text;
    // A path may be any bytes; JSON is UTF-8.
    for (const char c : json.dump(-1, ' ', false, Json::error_handler_t::replace)) {
        if (c == '<' || c == '>' || c == '&') {
            text += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
            text += c;
        }
    }
    return fmt::format("<script type=\"application/json\" id=\"{}\">{}</script>\n", id, text);
}

// As UTF-8, and fit for HTML.
std::string PathText(const std::string& path) {
    const std::string quoted = Json(path).dump(-1, ' ', false, Json::error_handler_t::replace);
    return Escape(Json::parse(quoted).get<std::string>());
}

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

Series Averages(const RunRecord& record, const char* name, const char* colour,
                Level TimeBucket::*level) {
    Series series{name, colour, false, {}};
    for (const TimeBucket& bucket : record.Buckets()) {
        series.values.push_back(bucket.Mean(bucket.*level));
    }
    return series;
}

Series PerSecond(const RunRecord& record, const char* name, const char* colour,
                 int64_t TimeBucket::*count) {
    Series series{name, colour, false, {}};
    for (const TimeBucket& bucket : record.Buckets()) {
        series.values.push_back(static_cast<double>(bucket.*count) / bucket.Seconds());
    }
    return series;
}

Series Quantiles(const char* name, const char* colour, const Durations& durations) {
    Series series{name, colour, false, {}};
    for (int percent = 1; percent <= 100; ++percent) {
        series.values.push_back(durations.Quantile(percent / 100.0));
    }
    return series;
}

Plot TimePlot(const RunRecord& record, const char* id, const char* title, const char* yAxis) {
    Plot plot;
    const auto& buckets = record.Buckets();
    const TimeUnit unit = UnitFor(buckets.empty() ? 0 : buckets.back().end);
    plot.id = id;
    plot.title = title;
    plot.xAxis = fmt::format("virtual time ({})", unit.name);
    plot.yAxis = yAxis;
    plot.xUnit = unit.name;
    for (const TimeBucket& bucket : buckets) {
        plot.spans.emplace_back(bucket.begin / unit.seconds, bucket.end / unit.seconds);
    }
    return plot;
}

std::string Charts(const Options& options, const Statistics& s, const RunRecord& record) {
    Plot generated = TimePlot(record, "throughput", "Throughput", "tokens per second");
    generated.series = {PerSecond(record, "generated tokens", "blue", &TimeBucket::tokens)};
    generated.series[0].filled = true;

    Plot prefill = TimePlot(record, "prefill", "Prefill", "tokens per second");
    prefill.series = {
        PerSecond(record, "tokens of prompts and recoveries", "green", &TimeBucket::prefillTokens)};
    prefill.series[0].filled = true;

    Plot blocks = TimePlot(record, "blocks", "KV cache blocks in use", "blocks");
    blocks.series = {Averages(record, "average", "green", &TimeBucket::blocks),
                     {"peak", "orange", false, {}}};
    blocks.series[0].filled = true;
    for (const TimeBucket& bucket : record.Buckets()) {
        blocks.series[1].values.push_back(static_cast<double>(bucket.blocks.most));
    }
    blocks.limit = static_cast<double>(options.blocks);
    blocks.limitName = fmt::format("{} blocks there are", Readable(blocks.limit));

    const auto levels = [&](const char* id, const char* title, const char* name, const char* colour,
                            Level TimeBucket::*level) {
        Plot plot =
            TimePlot(record, id, title, level == &TimeBucket::waiting ? "requests" : "sequences");
        plot.series = {Averages(record, name, colour, level), {"peak", "purple", false, {}}};
        plot.series[0].filled = true;
        for (const TimeBucket& bucket : record.Buckets()) {
            plot.series[1].values.push_back(static_cast<double>((bucket.*level).most));
        }
        return plot;
    };
    const Plot batch =
        levels("batch", "Batch: sequences that run", "average", "blue", &TimeBucket::running);
    const Plot queue = levels("queue", "Queue: requests that wait for admission", "average",
                              "orange", &TimeBucket::waiting);
    const Plot preempted = levels("preempted", "Preempted sequences, which wait for blocks",
                                  "average", "orange", &TimeBucket::preempted);

    Plot latency;
    latency.id = "latency";
    latency.title = "Latency of completed requests";
    latency.xAxis = "percentile of requests (%)";
    latency.yAxis = "virtual seconds since arrival";
    latency.xUnit = "%";
    latency.fromZero = false;
    for (int percent = 0; percent < 100 && !record.Latencies().e2e.Empty(); ++percent) {
        latency.spans.emplace_back(percent, percent + 1);
    }
    latency.series = {Quantiles("admission", "orange", record.Latencies().admission),
                      Quantiles("first token", "green", record.Latencies().ttft),
                      Quantiles("last token", "blue", record.Latencies().e2e)};

    std::vector<Bar> bars;
    for (const auto& [name, value] : NamedCounters(s.counters)) {
        bars.push_back({name, std::to_string(value), static_cast<double>(value)});
    }
    return DrawPlot(generated) + DrawPlot(batch) + DrawPlot(queue) + DrawPlot(preempted) +
           DrawPlot(blocks) + DrawPlot(latency) + DrawPlot(prefill) +
           DrawBars("counters", "Counters of the device", "count (logarithmic)", bars);
}

std::string Tiles(const Statistics& s) {
    const double tokens = static_cast<double>(s.generatedTokens);
    const auto perSecond = [tokens](double seconds) { return seconds > 0 ? tokens / seconds : 0; };
    const std::initializer_list<std::pair<const char*, double>> tiles = {
        {"requests completed", static_cast<double>(s.completed)},
        {"generated tokens", tokens},
        {"tokens per virtual second", perSecond(s.virtualSeconds)},
        {"requests per virtual second",
         s.virtualSeconds > 0 ? static_cast<double>(s.completed) / s.virtualSeconds : 0},
        {"tokens per second of this machine", perSecond(s.wallSeconds)},
        {"iterations", static_cast<double>(s.iterations)},
        {"preemptions", static_cast<double>(s.preemptions)},
        {"recoveries", static_cast<double>(s.recoveries)},
        {"shed requests", static_cast<double>(s.shedRequests)},
        {"peak blocks", static_cast<double>(s.peakBlocks)},
        {"blocks on average", s.meanBlocks},
        {"K/V faults", static_cast<double>(s.kvFaults)}};
    std::string text = "<ul class=\"tiles\">\n";
    for (const auto& [name, value] : tiles) {
        text += fmt::format("<li><b>{}</b>{}</li>\n", Readable(value), name);
    }
    return text + "</ul>\n";
}

std::string LatencyTable(const Statistics& s) {
    const std::initializer_list<std::pair<const char*, Percentiles>> rows = {
        {"from arrival to admission", s.latency.admission},
        {"time to first token (TTFT)", s.latency.ttft},
        {"time per output token (TPOT), of each request", s.latency.tpot},
        {"between two tokens (ITL)", s.latency.itl},
        {"end to end", s.latency.e2e}};
    std::string text =
        "<h2>Latency, in virtual seconds</h2>\n<div class=\"table\"><table id=\"percentiles\">\n"
        "<tr><th></th><th>mean</th><th>p50</th><th>p90</th><th>p95</th><th>p99</th><th>max</th></"
        "tr>\n";
    for (const auto& [name, p] : rows) {
        text += fmt::format(
            "<tr><th>{}</th><td>{:.3f}</td><td>{:.3f}</td><td>{:.3f}</td><td>{:.3f}</td>"
            "<td>{:.3f}</td><td>{:.3f}</td></tr>\n",
            name, p.mean, p.p50, p.p90, p.p95, p.p99, p.most);
    }
    return text + "</table></div>\n";
}

std::string WaitTable(const Statistics& s) {
    static constexpr std::array<const char*, kWaitReasonNames.size()> kWhat = {
        "the end of the running iteration",
        "a slot",
        "room in the token budget",
        "blocks for a prompt",
        "blocks of a preempted sequence to grow into",
        "a second run, after the first was shed"};
    std::string text =
        "<h2>What requests waited for, in virtual seconds of all together</h2>\n"
        "<div class=\"table\"><table id=\"waits\">\n<tr><th></th><th>seconds</th></tr>\n";
    for (size_t i = 0; i < kWhat.size(); ++i) {
        text += fmt::format("<tr><th>{}</th><td>{:.3f}</td></tr>\n", kWhat[i],
                            static_cast<double>(s.waits.Ticks()[i]) / kTicksPerSecond);
    }
    return text + "</table></div>\n";
}

Json TimelineJson(const RunRecord& record) {
    Json buckets = Json::array();
    for (const TimeBucket& bucket : record.Buckets()) {
        buckets.push_back({{"begin", bucket.begin},
                           {"end", bucket.end},
                           {"tokens", bucket.tokens},
                           {"prefill_tokens", bucket.prefillTokens},
                           {"running", bucket.Mean(bucket.running)},
                           {"peak_running", bucket.running.most},
                           {"waiting", bucket.Mean(bucket.waiting)},
                           {"peak_waiting", bucket.waiting.most},
                           {"preempted", bucket.Mean(bucket.preempted)},
                           {"peak_preempted", bucket.preempted.most},
                           {"blocks", bucket.Mean(bucket.blocks)},
                           {"peak_blocks", bucket.blocks.most}});
    }
    return {{"resolution", record.Resolution()}, {"buckets", buckets}};
}

std::string Outcome(const Statistics& s) {
    if (s.Good()) {
        return "<p>Every request has completed, with the K/V of a contiguous cache.</p>\n";
    }
    return fmt::format(
        "<p class=\"bad\">{} of {} requests completed; {} K/V faults{}.</p>\n",
        Readable(static_cast<double>(s.completed)), Readable(static_cast<double>(s.requests)),
        Readable(static_cast<double>(s.kvFaults)), s.interrupted ? "; interrupted" : "");
}

}  // namespace

std::string ReportPage(const Options& options, const Statistics& statistics,
                       const RunRecord& record) {
    return "<!DOCTYPE html>\n"
           "<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
           "<meta charset=\"utf-8\"/>\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
           "<title>serve</title>\n<style>" +
           std::string(kReportStyle) + "</style>\n</head>\n<body>\n<h1>serve: " +
           PathText(options.TraceName().substr(options.TraceName().rfind('/') + 1)) + "</h1>\n" +
           Outcome(statistics) +
           fmt::format(
               "<p>{} sequences at a time; {} blocks of {} tokens, {} of them handed out by the "
               "device; {} spec tokens. Virtual time is that of a modelled accelerator.</p>\n",
               options.maxSeqs, Readable(static_cast<double>(options.blocks)), options.blockSize,
               Readable(static_cast<double>(options.DynamicBlocks())), options.speculative) +
           Tiles(statistics) + "<main>\n" + Charts(options, statistics, record) + "</main>\n" +
           LatencyTable(statistics) + WaitTable(statistics) +
           Embedded("summary", SummaryJson(options, statistics)) +
           Embedded("timeline", TimelineJson(record)) + "</body>\n</html>\n";
}

}  // namespace serve
