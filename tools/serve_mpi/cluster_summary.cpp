// SPDX-License-Identifier: Apache-2.0
// Adds up the results of all ranks, prints them and writes them as JSON.

#include "cluster_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "run_report.h"

namespace serve {
namespace {

using Json = nlohmann::ordered_json;

Json Head(const ClusterOptions& options, const char* state, const std::string& failure) {
    return {{"state", state},
            {"failure", failure},
            {"data_parallel", options.dataParallel},
            {"tensor_parallel", options.tensorParallel},
            {"window_seconds", options.windowSeconds},
            {"timeout_seconds", options.timeoutSeconds}};
}

Json ToJson(const RankCost& cost) {
    return {{"steps_compared", cost.steps},
            {"digest_seconds", cost.digestSeconds},
            {"digest_bytes", cost.digestBytes},
            {"collective_seconds", cost.collectiveSeconds},
            {"dispatch_seconds", cost.dispatchSeconds}};
}

RequestTimes TimesOf(const ClusterOptions& options, const ClusterResult& result) {
    RequestTimes times;
    times.targets = options.serving.targets;
    times.itl = result.gaps;
    for (const FinishedRequest& r : result.finished) {
        times.Add({r.arrival, r.admitted, r.firstToken, r.lastToken, r.generatedTokens});
    }
    return times;
}

void AddLatency(const ClusterOptions& options, const ClusterResult& result, Statistics& total) {
    const RequestTimes times = TimesOf(options, result);
    total.latency = times.Summary();
    total.good = times.good;
}

// Of a run that failed: what the leaders had reported.
Statistics Reported(const ClusterOptions& options, const ClusterResult& result) {
    Statistics statistics;
    statistics.requests = result.requests;
    statistics.rejected = result.rejected;
    for (const FinishedRequest& request : result.finished) {
        ++statistics.completed;
        statistics.promptTokens += request.promptTokens;
        statistics.generatedTokens += request.generatedTokens;
    }
    AddLatency(options, result, statistics);
    statistics.wallSeconds = result.wallSeconds;
    return statistics;
}

void Add(Statistics& total, const Statistics& s) {
    total.completed += s.completed;
    total.promptTokens += s.promptTokens;
    total.generatedTokens += s.generatedTokens;
    total.iterations += s.iterations;
    total.interrupted = total.interrupted || s.interrupted;
    total.preemptions += s.preemptions;
    total.recoveries += s.recoveries;
    total.replayedTokens += s.replayedTokens;
    total.shedRequests += s.shedRequests;
    total.sheds += s.sheds;
    total.lostPromptTokens += s.lostPromptTokens;
    total.lostGeneratedTokens += s.lostGeneratedTokens;
    total.specTokens += s.specTokens;
    total.acceptedTokens += s.acceptedTokens;
    total.kvFaults += s.kvFaults;
    total.peakBlocks = std::max(total.peakBlocks, s.peakBlocks);
    total.meanBlocks += s.meanBlocks * static_cast<double>(s.iterations);
    total.meanSeqs += s.meanSeqs * static_cast<double>(s.iterations);
    total.peakSeqs = std::max(total.peakSeqs, s.peakSeqs);
    total.waits.Add(s.waits);
    total.virtualSeconds = std::max(total.virtualSeconds, s.virtualSeconds);
    const auto add = [](OpTiming& sum, const OpTiming& timing) {
        sum.calls += timing.calls;
        sum.hostSeconds += timing.hostSeconds;
        sum.deviceSeconds += timing.deviceSeconds;
    };
    add(total.advance, s.advance);
    add(total.step, s.step);
    AdvStepCounters& counters = total.counters;
    counters.launches += s.counters.launches;
    counters.advanced += s.counters.advanced;
    counters.padded += s.counters.padded;
    counters.released += s.counters.released;
    counters.needed += s.counters.needed;
    counters.preempted += s.counters.preempted;
    counters.dispatched += s.counters.dispatched;
    counters.recovered += s.counters.recovered;
    counters.noProgress += s.counters.noProgress;
    counters.dataErrors += s.counters.dataErrors;
}

}  // namespace

bool ClusterResult::Good() const {
    const auto good = [](const RankState& rank) { return rank.statistics.Good(); };
    return failure.empty() && static_cast<int64_t>(finished.size()) == requests &&
           std::all_of(ranks.begin(), ranks.end(), good);
}

Statistics Total(const ClusterOptions& options, const ClusterResult& result) {
    if (result.ranks.empty()) {
        return Reported(options, result);
    }
    Statistics total;
    AddLatency(options, result, total);
    total.requests = result.requests;
    total.rejected = result.rejected;
    for (int64_t replica = 0; replica < options.dataParallel; ++replica) {
        Add(total, result.Leader(replica, options).statistics);
    }
    if (total.iterations > 0) {
        total.meanBlocks /= static_cast<double>(total.iterations);
        total.meanSeqs /= static_cast<double>(total.iterations);
    }
    total.wallSeconds = result.wallSeconds;
    return total;
}

std::string UnfinishedText(const ClusterOptions& options) {
    return JsonText(Head(options, "running", "rank 0 has not come to an end, or was killed"));
}

std::string ClusterSummaryText(const ClusterOptions& options, const ClusterResult& result) {
    Json json = Head(options, result.failure.empty() ? "complete" : "failed", result.failure);
    json["windows"] = result.windows;
    Json replicas = Json::array();
    for (int64_t replica = 0; replica < options.dataParallel; ++replica) {
        Json entry = {{"replica", replica},
                      {"assigned", result.assigned[static_cast<size_t>(replica)]},
                      {"finished", std::count_if(result.finished.begin(), result.finished.end(),
                                                 [replica](const FinishedRequest& request) {
                                                     return request.replica == replica;
                                                 })}};
        if (!result.ranks.empty()) {
            const RankState& leader = result.Leader(replica, options);
            entry["state_digest"] = fmt::format("{:016x}", leader.digest);
            entry["ranks"] = Json::array();
            for (int64_t member = 0; member < options.tensorParallel; ++member) {
                const int64_t rank = replica * options.tensorParallel + member;
                Json cost = ToJson(result.ranks[static_cast<size_t>(rank)].cost);
                cost["rank"] = rank;
                entry["ranks"].push_back(cost);
            }
            entry.update(SummaryJson(options.serving, leader.statistics));
        }
        replicas.push_back(entry);
    }
    json["replicas"] = replicas;
    json["total"] = SummaryJson(options.serving, Total(options, result));
    return JsonText(json);
}

std::string ClusterReportPage(const ClusterOptions& options, const ClusterResult& result,
                              const OtherRun* other) {
    double resolution = 0;
    const std::vector<TimeBucket> buckets = SumOf(result.buckets, &resolution);
    const Statistics total = Total(options, result);
    const RequestTimes times = TimesOf(options, result);
    return ReportPage(
        {options.serving, total, buckets, resolution, times, options.dataParallel, other});
}

void PrintClusterSummary(const ClusterOptions& options, const ClusterResult& result) {
    PrintSummary(options.serving, Total(options, result));
    fmt::print("\n  {:>7} {:>9} {:>9} {:>11} {:>16} {:>11} {:>11} {:>11}\n", "replica", "requests",
               "steps", "ops, s", "digest of run", "digest, s", "compare, s", "dispatch, s");
    for (int64_t replica = 0; replica < options.dataParallel && !result.ranks.empty(); ++replica) {
        const RankState& leader = result.Leader(replica, options);
        const Statistics& s = leader.statistics;
        fmt::print("  {:>7} {:>9} {:>9} {:>11.3f} {:016x} {:>11.3f} {:>11.3f} {:>11.3f}\n", replica,
                   s.requests, s.iterations,
                   s.advance.hostSeconds + s.advance.deviceSeconds + s.step.hostSeconds +
                       s.step.deviceSeconds,
                   leader.digest, leader.cost.digestSeconds, leader.cost.collectiveSeconds,
                   leader.cost.dispatchSeconds);
    }
    if (!result.failure.empty()) {
        fmt::print("\n  the run failed: {}\n", result.failure);
    }
}

}  // namespace serve
