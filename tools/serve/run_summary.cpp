// SPDX-License-Identifier: Apache-2.0
// Prints the table of a run and builds its JSON.

#include "run_summary.h"

#include <fmt/format.h>

#include <cstddef>

#include "grouped.h"

namespace serve {
namespace {

double Ratio(double value, int64_t count) {
    return count > 0 ? value / static_cast<double>(count) : 0;
}

std::string Grouped(int64_t value) { return serve::Grouped(std::to_string(value)); }

void Row(const char* name, const std::string& value, const std::string& note = "") {
    fmt::print("  {:<18} {:>14}  {}\n", name, value, note);
}

std::string Seconds(double seconds) {
    return seconds < 1 ? fmt::format("{:.3f} ms", seconds * 1000)
                       : serve::Grouped(fmt::format("{:.3f}", seconds)) + " s";
}

void TimingRow(const char* name, const OpTiming& timing) {
    Row(name, Grouped(timing.calls),
        fmt::format("calls; {} on the host in both phases, {} on the device",
                    Seconds(timing.hostSeconds), Seconds(timing.deviceSeconds)));
}

void LatencyRow(const char* name, const Percentiles& p, const char* what) {
    Row(name, Seconds(p.mean),
        fmt::format("on average; p50 {}, p90 {}, p99 {}: {}", Seconds(p.p50), Seconds(p.p90),
                    Seconds(p.p99), what));
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
    return {{"mean", percentiles.mean}, {"p50", percentiles.p50}, {"p90", percentiles.p90},
            {"p95", percentiles.p95},   {"p99", percentiles.p99}, {"max", percentiles.most}};
}

nlohmann::ordered_json ToJson(const WaitTimes& waits) {
    nlohmann::ordered_json json;
    for (size_t i = 0; i < kWaitReasonNames.size(); ++i) {
        json[kWaitReasonNames[i]] = static_cast<double>(waits.Ticks()[i]) / kTicksPerSecond;
    }
    return json;
}

double PerSecond(int64_t count, double seconds) {
    return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

void PrintWaits(const WaitTimes& waits) {
    std::string text;
    for (size_t i = 0; i < kWaitReasonNames.size(); ++i) {
        if (waits.Ticks()[i] > 0) {
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", kWaitReasonNames[i],
                                Seconds(static_cast<double>(waits.Ticks()[i]) / kTicksPerSecond));
        }
    }
    Row("waiting for", "", text.empty() ? "nothing" : text + ", of all requests together");
}

}  // namespace

std::vector<NamedCounter> NamedCounters(const AdvStepCounters& c) {
    return {{"launches", c.launches},     {"advanced", c.advanced},   {"padded", c.padded},
            {"released", c.released},     {"needed", c.needed},       {"preempted", c.preempted},
            {"dispatched", c.dispatched}, {"recovered", c.recovered}, {"noProgress", c.noProgress},
            {"dataErrors", c.dataErrors}};
}

void PrintSummary(const Options& options, const Statistics& s) {
    fmt::print("\n{}\n", options.TraceName());
    Row("requests", Grouped(s.requests),
        s.rejected == 0 ? "" : fmt::format("{} more never fit", Grouped(s.rejected)));
    Row("completed", Grouped(s.completed),
        s.completed == s.requests ? ""
        : s.interrupted           ? "interrupted"
                                  : "the run ended early");
    Row("prompt tokens", Grouped(s.promptTokens),
        options.prefixCaching
            ? fmt::format("{} of them, {:.1f} %, were in the cache", Grouped(s.sharedTokens),
                          100 * Ratio(static_cast<double>(s.sharedTokens), s.promptTokens))
            : "");
    Row("generated tokens", Grouped(s.generatedTokens));
    Row("iterations", Grouped(s.iterations),
        fmt::format("{:.1f} sequences on average, {} at most", s.meanSeqs, Grouped(s.peakSeqs)));
    Row("preemptions", Grouped(s.preemptions));
    Row("recoveries", Grouped(s.recoveries),
        fmt::format("{} tokens replayed", Grouped(s.replayedTokens)));
    Row("shed requests", Grouped(s.shedRequests),
        s.sheds == 0
            ? ""
            : fmt::format("{} times; {} prompt and {} generated tokens lost", Grouped(s.sheds),
                          Grouped(s.lostPromptTokens), Grouped(s.lostGeneratedTokens)));
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
        fmt::format("{} waited for admission on average", Seconds(s.latency.admission.mean)));
    LatencyRow("TTFT", s.latency.ttft, "arrival to first token");
    LatencyRow("TPOT", s.latency.tpot, "by token after the first, of each request");
    LatencyRow("ITL", s.latency.itl, "each token to the next one");
    LatencyRow("end to end", s.latency.e2e, "arrival to last token");
    PrintWaits(s.waits);
    Row("throughput", fmt::format("{:.3f}", PerSecond(s.completed, s.virtualSeconds)),
        fmt::format("requests per virtual second; {:.1f} tokens",
                    PerSecond(s.generatedTokens, s.virtualSeconds)));
    if (options.targets.Any()) {
        Row("goodput", fmt::format("{:.3f}", PerSecond(s.good, s.virtualSeconds)),
            fmt::format("requests per virtual second; {} of {} meet the targets", Grouped(s.good),
                        Grouped(s.completed)));
    }
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
        {"trace", options.TraceName()},
        {"max_seqs", options.maxSeqs},
        {"block_size", options.blockSize},
        {"blocks", options.blocks},
        {"free_ratio", options.freeRatio},
        {"scheduler", options.chunked ? "chunked" : "prefill-first"},
        {"token_budget", options.tokenBudget},
        {"time_model", options.timeModel},
        {"costs_us",
         {{"iteration", static_cast<double>(options.costs.iteration) / 1e6},
          {"prefill_token", static_cast<double>(options.costs.prefillToken) / 1e6},
          {"decode_row", static_cast<double>(options.costs.decodeRow) / 1e6},
          {"context_token", static_cast<double>(options.costs.contextToken) / 1e6}}},
        {"requests", s.requests},
        {"rejected", s.rejected},
        {"completed", s.completed},
        {"interrupted", s.interrupted},
        {"prefix_caching", options.prefixCaching},
        {"prompt_tokens", s.promptTokens},
        {"cached_prompt_tokens", s.sharedTokens},
        {"generated_tokens", s.generatedTokens},
        {"iterations", s.iterations},
        {"preemptions", s.preemptions},
        {"recoveries", s.recoveries},
        {"replayed_tokens", s.replayedTokens},
        {"shed_requests", s.shedRequests},
        {"sheds", s.sheds},
        {"lost_prompt_tokens", s.lostPromptTokens},
        {"lost_generated_tokens", s.lostGeneratedTokens},
        {"speculative", options.speculative},
        {"spec_tokens", s.specTokens},
        {"accepted_tokens", s.acceptedTokens},
        {"kv_faults", s.kvFaults},
        {"peak_blocks", s.peakBlocks},
        {"mean_blocks", s.meanBlocks},
        {"peak_seqs", s.peakSeqs},
        {"mean_seqs", s.meanSeqs},
        {"admission_seconds", ToJson(s.latency.admission)},
        {"ttft_seconds", ToJson(s.latency.ttft)},
        {"tpot_seconds", ToJson(s.latency.tpot)},
        {"itl_seconds", ToJson(s.latency.itl)},
        {"e2e_seconds", ToJson(s.latency.e2e)},
        {"wait_seconds", ToJson(s.waits)},
        {"ttft_target", options.targets.ttft},
        {"tpot_target", options.targets.tpot},
        {"good_requests", s.good},
        {"requests_per_second", PerSecond(s.completed, s.virtualSeconds)},
        {"tokens_per_second", PerSecond(s.generatedTokens, s.virtualSeconds)},
        {"goodput", PerSecond(s.good, s.virtualSeconds)},
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

std::string JsonText(const nlohmann::ordered_json& json) {
    return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace serve
