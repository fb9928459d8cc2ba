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

// However long a run is, its page has some 400 KB, and the timeline on it 200 KB. A small file may
// decompress to very much, and JSON takes some 100 times its size in memory at worst.
constexpr size_t kMostPageBytes = size_t{16} << 20;
constexpr size_t kMostElementBytes = size_t{1} << 20;

[[noreturn]] void FailReport(const std::string& path, const std::string& why) {
    throw std::runtime_error(fmt::format("--compare {}: is no report of serve: {}", path, why));
}

// An interrupt ends the reading, because the path may be of a pipe without a writer.
std::string PageOf(const std::string& path) {
    std::string page;
    try {
        const std::unique_ptr<ByteSource> file = OpenBytes(path);
        std::vector<char> buffer(size_t{1} << 18);
        while (const size_t count = file->Read(buffer.data(), buffer.size())) {
            page.append(buffer.data(), count);
            if (page.size() > kMostPageBytes) {
                FailReport(path, fmt::format("it has more than {} bytes", kMostPageBytes));
            }
        }
    } catch (const TraceError& error) {
        throw std::runtime_error(fmt::format("--compare {}", error.what()));
    }
    return page;
}

ReportJson Element(const std::string& path, const std::string& page, const char* id) {
    const std::string begin = fmt::format("<script type=\"application/json\" id=\"{}\">", id);
    const size_t at = page.find(begin);
    const size_t end = page.find("</script>", at);
    ReportJson json;
    if (at != page.npos && end != page.npos) {
        const size_t from = at + begin.size();
        if (end - from > kMostElementBytes) {
            FailReport(path, fmt::format("its element \"{}\" has {} bytes; expected at most {}", id,
                                         end - from, kMostElementBytes));
        }
        json = ReportJson::parse(page.substr(from, end - from), nullptr, false);
    }
    if (!json.is_object()) {
        FailReport(path, fmt::format("it has no JSON element \"{}\"", id));
    }
    return json;
}

// A number of a point of the timeline.
double NumberOf(const ReportJson& point, const std::string& name, double most,
                bool isWhole = false) {
    const ReportJson& json = point.at(name);
    if (!(isWhole ? json.is_number_integer() : json.is_number()) ||
        !(json.get<double>() >= 0 && json.get<double>() <= most)) {
        throw std::runtime_error(
            fmt::format("a point of its timeline has {} of {}; expected a {}number from 0 to {:g}",
                        name, ScalarText(json), isWhole ? "whole " : "", most));
    }
    return json.get<double>();
}

int64_t CountOf(const ReportJson& point, const std::string& name) {
    constexpr double kMost = 1e18;  // less than 2^63
    return static_cast<int64_t>(NumberOf(point, name, kMost, true));
}

TimeBucket BucketOf(const ReportJson& json) {
    constexpr double kMostSeconds = 9.3e11;  // above 2^63 ticks
    constexpr double kMostLevel = 1e18;
    TimeBucket bucket;
    bucket.begin = NumberOf(json, "begin", kMostSeconds);
    bucket.end = NumberOf(json, "end", kMostSeconds);
    bucket.tokens = CountOf(json, "tokens");
    bucket.prefillTokens = CountOf(json, "prefill_tokens");
    constexpr double kShortest = 0.5 / kTicksPerSecond;  // times are rounded
    if (bucket.Seconds() < kShortest) {
        throw std::runtime_error(
            fmt::format("a point of its timeline lasts from {:g} to {:g}; expected at least {:g} s",
                        bucket.begin, bucket.end, 1.0 / kTicksPerSecond));
    }
    const auto level = [&](Level& to, const std::string& name) {
        to.sum = NumberOf(json, name, kMostLevel) * bucket.Seconds();
        to.most = CountOf(json, "peak_" + name);
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
    const double percent = 100 * (now - before) / before;
    return std::isfinite(percent) ? fmt::format("{:+.1f} %", percent) : "-";
}

}  // namespace

OtherRun ReadReport(const std::string& path) {
    const std::string page = PageOf(path);
    OtherRun other{path, Element(path, page, "summary"), {}};
    const ReportJson timeline = Element(path, page, "timeline");
    try {
        const ReportJson& buckets = timeline.at("buckets");
        if (buckets.size() > RunRecord::kMostBuckets) {
            throw std::runtime_error(fmt::format("its timeline has {} points; expected at most {}",
                                                 buckets.size(), RunRecord::kMostBuckets));
        }
        for (const ReportJson& bucket : buckets) {
            other.buckets.push_back(BucketOf(bucket));
            const size_t count = other.buckets.size();
            if (count > 1 && other.buckets[count - 1].begin < other.buckets[count - 2].end) {
                throw std::runtime_error("the points of its timeline do not ascend");
            }
        }
    } catch (const std::exception& error) {
        FailReport(path, error.what());
    }
    return other;
}

std::string ComparisonTable(const ReportJson& summary, const OtherRun& other) {
    static constexpr std::array<const char*, 11> kSettings = {
        "trace",        "max_seqs",   "block_size",  "blocks",      "free_ratio", "scheduler",
        "token_budget", "time_model", "speculative", "ttft_target", "tpot_target"};
    static constexpr std::array<std::pair<const char*, const char*>, 24> kResults = {
        {{"requests completed", "completed"},
         {"throughput (requests/s)", "requests_per_second"},
         {"throughput (tokens/s)", "tokens_per_second"},
         {"goodput (requests/s)", "goodput"},
         {"length of the run (s)", "virtual_seconds"},
         {"TTFT, mean (s)", "ttft_seconds/mean"},
         {"TTFT, p50 (s)", "ttft_seconds/p50"},
         {"TTFT, p90 (s)", "ttft_seconds/p90"},
         {"TTFT, p99 (s)", "ttft_seconds/p99"},
         {"TPOT, mean (s)", "tpot_seconds/mean"},
         {"TPOT, p50 (s)", "tpot_seconds/p50"},
         {"TPOT, p99 (s)", "tpot_seconds/p99"},
         {"ITL, p50 (s)", "itl_seconds/p50"},
         {"ITL, p99 (s)", "itl_seconds/p99"},
         {"ITL, max (s)", "itl_seconds/max"},
         {"end to end, p50 (s)", "e2e_seconds/p50"},
         {"end to end, p99 (s)", "e2e_seconds/p99"},
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
