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

#include "grouped.h"
#include "report_chart.h"
#include "report_page.h"
#include "report_plots.h"

namespace serve {
namespace {

using Json = nlohmann::ordered_json;

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

std::string SecondsCell(double seconds) {
    return fmt::format("<td>{}</td>", Grouped(fmt::format("{:.3f}", seconds)));
}

// A row for each percentile, so that a phone shows all columns.
std::string LatencyTable(const Statistics& s) {
    const LatencySummary& l = s.latency;
    const std::array<Percentiles, 5> columns = {l.admission, l.ttft, l.tpot, l.itl, l.e2e};
    const std::initializer_list<std::pair<const char*, double Percentiles::*>> rows = {
        {"mean", &Percentiles::mean}, {"p50", &Percentiles::p50}, {"p90", &Percentiles::p90},
        {"p95", &Percentiles::p95},   {"p99", &Percentiles::p99}, {"max", &Percentiles::most}};
    std::string text =
        "<h2>Latency, in virtual seconds</h2>\n<p>From arrival to admission, to the first token "
        "(TTFT) and to the end; for each token after the first, of each request (TPOT); between "
        "two tokens (ITL).</p>\n<div class=\"table\"><table id=\"percentiles\">\n"
        "<tr><th>s</th><th>admission</th><th>TTFT</th><th>TPOT</th><th>ITL</th><th>end</th></tr>\n";
    for (const auto& [name, member] : rows) {
        text += fmt::format("<tr><th>{}</th>", name);
        for (const Percentiles& column : columns) {
            text += SecondsCell(column.*member);
        }
        text += "</tr>\n";
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
        "<div class=\"table\"><table id=\"waits\">\n<tr><th></th><th>time (s)</th></tr>\n";
    for (size_t i = 0; i < kWhat.size(); ++i) {
        text += fmt::format("<tr><th>{}</th>{}</tr>\n", kWhat[i],
                            SecondsCell(static_cast<double>(s.waits.Ticks()[i]) / kTicksPerSecond));
    }
    return text + "</table></div>\n";
}

// A setting, its value and its unit.
std::string SettingRow(const char* name, const std::string& value, const char* unit) {
    return fmt::format("<tr><th>{}</th><td class=\"setting\">{}</td><td>{}</td></tr>\n", name,
                       value, unit);
}

std::string SettingsTable(const Options& options) {
    constexpr double kMicrosecond = 1e6;  // picoseconds
    const IterationCosts& costs = options.costs;
    const auto cost = [](int64_t picoseconds) {
        return fmt::format("{:g}", static_cast<double>(picoseconds) / kMicrosecond);
    };
    const auto target = [](double seconds) {
        return seconds > 0 ? fmt::format("{:g}", seconds) : std::string("none");
    };
    return "<h2>How the run was made</h2>\n<div class=\"table\"><table id=\"settings\">\n"
           "<tr><th></th><th>value</th><th>unit</th></tr>\n" +
           SettingRow("scheduler", options.chunked ? "chunked" : "prefill-first", "") +
           SettingRow("token budget", Grouped(std::to_string(options.tokenBudget)),
                      "tokens an iteration") +
           SettingRow("sequences at a time", Grouped(std::to_string(options.maxSeqs)),
                      "sequences") +
           SettingRow("block size", Grouped(std::to_string(options.blockSize)), "tokens") +
           SettingRow("blocks", Grouped(std::to_string(options.blocks)), "blocks") +
           SettingRow("prefix caching", options.prefixCaching ? "on" : "off", "") +
           SettingRow("spec tokens", Grouped(std::to_string(options.speculative)),
                      "tokens a sequence") +
           SettingRow("TTFT target", target(options.targets.ttft), "s") +
           SettingRow("TPOT target", target(options.targets.tpot), "s") +
           SettingRow("time model", PathText(options.timeModel), "") +
           SettingRow("cost of an iteration", cost(costs.iteration), "\xC2\xB5s") +
           SettingRow("cost of a prefill token", cost(costs.prefillToken), "\xC2\xB5s") +
           SettingRow("cost of a decoded row", cost(costs.decodeRow), "\xC2\xB5s") +
           SettingRow("cost of a token of context", cost(costs.contextToken), "\xC2\xB5s") +
           "</table></div>\n";
}

Json TimelineJson(const ReportData& data) {
    Json buckets = Json::array();
    for (const TimeBucket& bucket : data.buckets) {
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
    return {{"resolution", data.resolution}, {"buckets", buckets}};
}

// The places of the charts; their data as JSON goes to `charts`.
std::string Figures(const ReportData& data, std::string* charts) {
    std::string figures;
    for (const Plot& plot : PlotsOf(data)) {
        figures += FigureOf(plot);
        *charts += (charts->empty() ? "[" : ",\n") + ChartJson(plot);
    }
    *charts += "]";
    return figures;
}

std::string CounterTable(const Statistics& s) {
    std::string text =
        "<h2>Counters of the device</h2>\n<div class=\"table\"><table id=\"counters\">\n"
        "<tr><th></th><th>count</th></tr>\n";
    for (const auto& [name, value] : NamedCounters(s.counters)) {
        text +=
            fmt::format("<tr><th>{}</th><td>{}</td></tr>\n", name, Grouped(std::to_string(value)));
    }
    return text + "</table></div>\n";
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

std::string ReportPage(const ReportData& data) {
    const Options& options = data.options;
    const Json summary = SummaryJson(options, data.statistics);
    const bool several = data.replicas > 1;
    PageParts parts;
    const std::string figures = Figures(data, &parts.charts);
    parts.title = PathText(options.TraceName().substr(options.TraceName().rfind('/') + 1));
    std::string& page = parts.body;
    page =
        Outcome(data.statistics) +
        fmt::format(
            "<p>{}{} sequences at a time; {} blocks of {} tokens, {} of them handed out by the "
            "device; {} spec tokens. Virtual time is that of a modelled accelerator.{}</p>\n",
            several ? fmt::format("{} replicas, each with ", data.replicas) : "",
            Readable(static_cast<double>(options.maxSeqs)),
            Readable(static_cast<double>(options.blocks)), options.blockSize,
            Readable(static_cast<double>(options.DynamicBlocks())), options.speculative,
            several ? " The charts add the replicas up; sequences and blocks in tiles and tables "
                      "are those of one."
                    : "");
    page += Tiles(data.statistics);
    if (data.other != nullptr) {
        page += "<p>The other run is that of " + PathText(data.other->path) + ".</p>\n";
    }
    page +=
        ChartsOf(figures, "Drag over a chart, or spread two fingers, to zoom all charts of time.");
    if (data.other != nullptr) {
        page += ComparisonTable(summary, *data.other);
    }
    parts.end = LatencyTable(data.statistics) + WaitTable(data.statistics) +
                CounterTable(data.statistics) + SettingsTable(options) + Origin(options) +
                Embedded("summary", summary) + Embedded("timeline", TimelineJson(data));
    return Page(parts);
}

}  // namespace serve
