// SPDX-License-Identifier: Apache-2.0
// Prints the table of a run and builds its JSON.

#include "run_summary.h"

#include <fmt/format.h>

#include <cstddef>
#include <fstream>
#include <stdexcept>

namespace serve {
namespace {

double Ratio(double value, int64_t count) {
    return count > 0 ? value / static_cast<double>(count) : 0;
}

// 1234567 -> 1,234,567
std::string Grouped(int64_t value) {
    std::string text = std::to_string(value);
    for (size_t at = text.size(); at > 3;) {
        at -= 3;
        text.insert(at, ",");
    }
    return text;
}

void Row(const char* name, const std::string& value, const std::string& note = "") {
    fmt::print("  {:<18} {:>14}  {}\n", name, value, note);
}

std::string Seconds(double seconds) {
    return seconds < 1 ? fmt::format("{:.3f} ms", seconds * 1000)
                       : fmt::format("{:.3f} s", seconds);
}

void TimingRow(const char* name, const OpTiming& timing) {
    Row(name, Grouped(timing.calls),
        fmt::format("calls; {} on the host in both phases, {} on the device",
                    Seconds(timing.hostSeconds), Seconds(timing.deviceSeconds)));
}

void PrintCounters(const AdvStepCounters& counters) {
    const char* title = "device counters";
    for (const NamedCounter& counter : NamedCounters(counters)) {
        Row(title, Grouped(static_cast<int64_t>(counter.second)), counter.first);
        title = "";
    }
}

nlohmann::ordered_json ToJson(const AdvStepCounters& counters) {
    nlohmann::ordered_json json;
    for (const NamedCounter& counter : NamedCounters(counters)) {
        json[counter.first] = counter.second;
    }
    return json;
}

nlohmann::ordered_json ToJson(const Percentiles& percentiles) {
    return {{"p50", percentiles.p50},
            {"p90", percentiles.p90},
            {"p95", percentiles.p95},
            {"p99", percentiles.p99},
            {"max", percentiles.most}};
}

}  // namespace

std::vector<NamedCounter> NamedCounters(const AdvStepCounters& c) {
    return {{"launches", c.launches},     {"advanced", c.advanced},   {"padded", c.padded},
            {"released", c.released},     {"needed", c.needed},       {"preempted", c.preempted},
            {"dispatched", c.dispatched}, {"recovered", c.recovered}, {"noProgress", c.noProgress},
            {"dataErrors", c.dataErrors}};
}

void PrintSummary(const Options& options, const Statistics& s) {
    fmt::print("\n{}\n", options.trace);
    Row("requests", Grouped(s.requests));
    Row("completed", Grouped(s.completed),
        s.completed == s.requests ? ""
        : s.interrupted           ? "interrupted"
                                  : "the run ended early");
    Row("prompt tokens", Grouped(s.promptTokens));
    Row("generated tokens", Grouped(s.generatedTokens));
    Row("iterations", Grouped(s.iterations),
        fmt::format("{:.1f} sequences on average, {} at most",
                    Ratio(static_cast<double>(s.generatedTokens), s.iterations), s.peakSeqs));
    Row("preemptions", Grouped(s.preemptions));
    Row("recoveries", Grouped(s.recoveries),
        fmt::format("{} tokens replayed", Grouped(s.replayedTokens)));
    Row("shed requests", Grouped(s.shedRequests));
    if (options.speculative > 0) {
        Row("spec tokens", Grouped(s.specTokens),
            fmt::format("{} accepted, {:.1f} %", Grouped(s.acceptedTokens),
                        100 * Ratio(static_cast<double>(s.acceptedTokens), s.specTokens)));
    }
    Row("peak blocks", Grouped(s.peakBlocks),
        fmt::format("of {} with {} tokens each, {} of them the device's; {:.1f} on average",
                    Grouped(options.blocks), options.blockSize, Grouped(options.DynamicBlocks()),
                    s.meanBlocks));
    Row("virtual time", Seconds(s.virtualSeconds),
        fmt::format("{} waited for admission on average",
                    Seconds(Ratio(s.waitSeconds, s.requests))));
    Row("wall time", Seconds(s.wallSeconds),
        fmt::format(
            "{} generated tokens per second",
            Grouped(s.wallSeconds > 0 ? static_cast<int64_t>(
                                            static_cast<double>(s.generatedTokens) / s.wallSeconds)
                                      : 0)));
    TimingRow("aclnnStep", s.step);
    TimingRow(options.speculative > 0 ? "aclnnAdvanceStepV2" : "aclnnAdvanceStep", s.advance);
    Row("K/V faults", Grouped(s.kvFaults),
        s.Good() ? "every request as on a contiguous cache" : "");
    PrintCounters(s.counters);
}

nlohmann::ordered_json SummaryJson(const Options& options, const Statistics& s) {
    return {
        {"trace", options.trace},
        {"max_seqs", options.maxSeqs},
        {"block_size", options.blockSize},
        {"blocks", options.blocks},
        {"free_ratio", options.freeRatio},
        {"requests", s.requests},
        {"completed", s.completed},
        {"interrupted", s.interrupted},
        {"prompt_tokens", s.promptTokens},
        {"generated_tokens", s.generatedTokens},
        {"iterations", s.iterations},
        {"preemptions", s.preemptions},
        {"recoveries", s.recoveries},
        {"replayed_tokens", s.replayedTokens},
        {"shed_requests", s.shedRequests},
        {"speculative", options.speculative},
        {"spec_tokens", s.specTokens},
        {"accepted_tokens", s.acceptedTokens},
        {"kv_faults", s.kvFaults},
        {"peak_blocks", s.peakBlocks},
        {"mean_blocks", s.meanBlocks},
        {"peak_seqs", s.peakSeqs},
        {"mean_wait_seconds", Ratio(s.waitSeconds, s.requests)},
        {"admission_seconds", ToJson(s.latency.admission)},
        {"first_token_seconds", ToJson(s.latency.firstToken)},
        {"per_token_seconds", ToJson(s.latency.perToken)},
        {"completion_seconds", ToJson(s.latency.completion)},
        {"virtual_seconds", s.virtualSeconds},
        {"wall_seconds", s.wallSeconds},
        {"op_calls", s.advance.calls},
        {"op_seconds", s.advance.hostSeconds + s.advance.deviceSeconds},
        {"op_host_seconds", s.advance.hostSeconds},
        {"op_device_seconds", s.advance.deviceSeconds},
        {"step_calls", s.step.calls},
        {"step_seconds", s.step.hostSeconds + s.step.deviceSeconds},
        {"step_host_seconds", s.step.hostSeconds},
        {"step_device_seconds", s.step.deviceSeconds},
        {"counters", ToJson(s.counters)},
    };
}

void WriteJson(const std::string& path, const nlohmann::ordered_json& json) {
    std::ofstream file(path);
    // A path may be any bytes; JSON is UTF-8.
    file << json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
    file.close();
    if (!file) {
        throw std::runtime_error(fmt::format("{}: the summary cannot be written", path));
    }
}

void WriteSummary(const std::string& path, const Options& options, const Statistics& statistics) {
    WriteJson(path, SummaryJson(options, statistics));
}

}  // namespace serve
