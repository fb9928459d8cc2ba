// SPDX-License-Identifier: Apache-2.0
// Reads the JSON of a report, and writes the table of two runs.

#include "report_compare.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "json_scalar.h"
#include "line_reader.h"
#include "report_chart.h"
#include "request_trace.h"

namespace serve {
namespace {

using ReportJson = nlohmann::ordered_json;

// An interrupt ends the reading, because the path may be of a pipe without a writer.
std::string PageOf(const std::string& path) {
    try {
        const std::unique_ptr<ByteSource> file = OpenBytes(path);
        std::string page;
        std::vector<char> buffer(size_t{1} << 18);
        while (const size_t count = file->Read(buffer.data(), buffer.size())) {
            page.append(buffer.data(), count);
        }
        return page;
    } catch (const TraceError& error) {
        throw std::runtime_error(fmt::format("--compare {}", error.what()));
    }
}

ReportJson Element(const std::string& path, const std::string& page, const char* id) {
    const std::string begin = fmt::format("<script type=\"application/json\" id=\"{}\">", id);
    const size_t at = page.find(begin);
    const size_t end = page.find("</script>", at);
    ReportJson json;
    if (at != page.npos && end != page.npos) {
        json = ReportJson::parse(page.substr(at + begin.size(), end - at - begin.size()), nullptr,
                                 false);
    }
    if (!json.is_object()) {
        throw std::runtime_error(fmt::format(
            "--compare {}: is no report of serve: it has no JSON element \"{}\"", path, id));
    }
    return json;
}

TimeBucket BucketOf(const ReportJson& json) {
    TimeBucket bucket;
    bucket.begin = json.at("begin").get<double>();
    bucket.end = json.at("end").get<double>();
    bucket.tokens = json.at("tokens").get<int64_t>();
    bucket.prefillTokens = json.at("prefill_tokens").get<int64_t>();
    constexpr double kMost = 1e30;  // a chart can show it
    if (!(bucket.end > bucket.begin && std::fabs(bucket.begin) < kMost && bucket.end < kMost)) {
        throw std::runtime_error("a point of its timeline ends before it begins, or never");
    }
    const auto level = [&](Level& to, const std::string& name) {
        to.sum = json.at(name).get<double>() * bucket.Seconds();
        if (!(std::fabs(to.sum) < kMost)) {
            throw std::runtime_error(
                fmt::format("a point of its timeline has {} of {}", name, json.at(name).dump()));
        }
        to.most = json.at("peak_" + name).get<int64_t>();
    };
    level(bucket.running, "running");
    level(bucket.waiting, "waiting");
    level(bucket.preempted, "preempted");
    level(bucket.blocks, "blocks");
    return bucket;
}

// A number of the summary, by a path as "ttft_seconds/p50"; nothing: NaN.
double NumberAt(const ReportJson& summary, const char* path) {
    const auto pointer = ReportJson::json_pointer("/" + std::string(path));
    return summary.contains(pointer) && summary.at(pointer).is_number()
               ? summary.at(pointer).get<double>()
               : std::nan("");
}

// Of a setting.
std::string TextAt(const ReportJson& summary, const char* key) {
    const auto found = summary.find(key);
    return found == summary.end() ? "-"
           : found->is_string()   ? found->get<std::string>()
                                  : ScalarText(*found);
}

std::string Change(double now, double before) {
    if (now == before) {
        return "0 %";
    }
    return before == 0 ? "-" : fmt::format("{:+.1f} %", 100 * (now - before) / before);
}

}  // namespace

OtherRun ReadReport(const std::string& path) {
    const std::string page = PageOf(path);
    OtherRun other{path, Element(path, page, "summary"), {}};
    const ReportJson timeline = Element(path, page, "timeline");
    try {
        for (const ReportJson& bucket : timeline.at("buckets")) {
            other.buckets.push_back(BucketOf(bucket));
            const size_t count = other.buckets.size();
            if (count > 1 && other.buckets[count - 1].begin < other.buckets[count - 2].begin) {
                throw std::runtime_error("the points of its timeline do not ascend");
            }
        }
    } catch (const std::exception& error) {
        throw std::runtime_error(
            fmt::format("--compare {}: is no report of serve: {}", path, error.what()));
    }
    return other;
}

std::string ComparisonTable(const ReportJson& summary, const OtherRun& other) {
    static constexpr std::array<const char*, 11> kSettings = {
        "trace",        "max_seqs",   "block_size",  "blocks",      "free_ratio", "scheduler",
        "token_budget", "time_model", "speculative", "ttft_target", "tpot_target"};
    static constexpr std::array<std::pair<const char*, const char*>, 24> kResults = {
        {{"requests completed", "completed"},
         {"requests per second", "requests_per_second"},
         {"tokens per second", "tokens_per_second"},
         {"goodput", "goodput"},
         {"seconds of the run", "virtual_seconds"},
         {"TTFT, mean", "ttft_seconds/mean"},
         {"TTFT, p50", "ttft_seconds/p50"},
         {"TTFT, p90", "ttft_seconds/p90"},
         {"TTFT, p99", "ttft_seconds/p99"},
         {"TPOT, mean", "tpot_seconds/mean"},
         {"TPOT, p50", "tpot_seconds/p50"},
         {"TPOT, p99", "tpot_seconds/p99"},
         {"ITL, p50", "itl_seconds/p50"},
         {"ITL, p99", "itl_seconds/p99"},
         {"ITL, max", "itl_seconds/max"},
         {"end to end, p50", "e2e_seconds/p50"},
         {"end to end, p99", "e2e_seconds/p99"},
         {"iterations", "iterations"},
         {"preemptions", "preemptions"},
         {"tokens replayed", "replayed_tokens"},
         {"sheds", "sheds"},
         {"most sequences", "peak_seqs"},
         {"blocks on average", "mean_blocks"},
         {"K/V faults", "kv_faults"}}};
    std::string text =
        "<h2>Two runs</h2>\n<div class=\"table\"><table id=\"comparison\">\n<tr><th></th>"
        "<th>this run</th><th>the other</th><th>change</th></tr>\n";
    for (const char* key : kSettings) {
        const std::string now = TextAt(summary, key);
        const std::string before = TextAt(other.summary, key);
        if (now != before) {
            text += fmt::format(
                "<tr><th>{}</th><td class=\"setting\">{}</td>"
                "<td class=\"setting\">{}</td><td></td></tr>\n",
                key, Escape(now), Escape(before));
        }
    }
    for (const auto& [name, path] : kResults) {
        const double now = NumberAt(summary, path);
        const double before = NumberAt(other.summary, path);
        const auto shown = [](double value) {
            return std::isnan(value) ? std::string("-") : Readable(value);
        };
        text += fmt::format("<tr><th>{}</th><td>{}</td><td>{}</td><td>{}</td></tr>\n", name,
                            shown(now), shown(before),
                            std::isnan(now) || std::isnan(before) ? "-" : Change(now, before));
    }
    return text + "</table></div>\n";
}

}  // namespace serve
