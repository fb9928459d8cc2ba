// SPDX-License-Identifier: Apache-2.0
// The summary of a run, as a table and as JSON.

#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "advance_step/counters.h"
#include "op_call.h"
#include "run_record.h"
#include "serve_options.h"
#include "wait_times.h"

namespace serve {

struct Statistics {
    int64_t requests = 0;
    int64_t completed = 0;
    int64_t promptTokens = 0;     // of admitted requests
    int64_t sharedTokens = 0;     // of them: those that were in the cache at the admission
    int64_t generatedTokens = 0;  // without those of requests shed since
    int64_t iterations = 0;
    int64_t preemptions = 0;
    int64_t recoveries = 0;
    int64_t replayedTokens = 0;       // computed again for recoveries
    int64_t shedRequests = 0;         // run again from their prompts, once or more
    int64_t sheds = 0;                // each time that one was shed
    int64_t lostPromptTokens = 0;     // prefilled in vain by what was shed
    int64_t lostGeneratedTokens = 0;  // generated in vain
    int64_t rejected = 0;             // requests of the trace that never fit, and were left out
    int64_t specTokens = 0;           // looked at by the model
    int64_t acceptedTokens = 0;       // of them
    int64_t kvFaults = 0;
    bool interrupted = false;
    int64_t peakBlocks = 0;
    double meanBlocks = 0;
    int64_t peakSeqs = 0;
    double meanSeqs = 0;  // that run, over iterations
    double virtualSeconds = 0;
    double wallSeconds = 0;
    WaitTimes waits;
    int64_t good = 0;  // completed requests that met the targets
    LatencySummary latency;
    OpTiming advance;
    OpTiming step;
    AdvStepCounters counters{};

    bool Good() const { return completed == requests && kvFaults == 0; }
};

void PrintSummary(const Options& options, const Statistics& statistics);

using NamedCounter = std::pair<const char*, uint64_t>;
/// By their names in advance_step/counters.h.
std::vector<NamedCounter> NamedCounters(const AdvStepCounters& counters);

/// The summary as JSON: its keys are those of docs/serve.md.
nlohmann::ordered_json SummaryJson(const Options& options, const Statistics& statistics);

/// A path may be any bytes, and JSON is UTF-8: what is none becomes U+FFFD.
std::string JsonText(const nlohmann::ordered_json& json);

}  // namespace serve
