// SPDX-License-Identifier: Apache-2.0
// The options of the command line.

#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "output_file.h"
#include "virtual_clock.h"

namespace CLI {
class App;
}

namespace serve {

/// Seconds that a request may take; 0: as long as it wants.
struct Targets {
    double ttft = 0;
    double tpot = 0;

    bool Any() const { return ttft > 0 || tpot > 0; }
    bool Met(double requestTtft, double requestTpot) const {
        return (ttft == 0 || requestTtft <= ttft) && (tpot == 0 || requestTpot <= tpot);
    }
};

struct Options {
    std::string trace;      // "-": standard input
    std::string generate;   // takes the trace's place; empty: nothing
    std::string summary;    // empty: no file
    std::string report;     // empty: no file
    std::string compare;    // another run's report, for the report; empty: none
    std::string timeline;   // empty: no file
    std::string traceJson;  // of what the device does; empty: no file
    std::string requests;   // empty: no file
    std::string command;    // the command line, for the report
    bool reject = false;    // requests that never fit are left out
    int64_t limit = 0;      // requests; 0: all
    int64_t maxSeqs = 256;
    int64_t blockSize = 128;   // tokens
    int64_t blocks = 0;        // 0: set by FinishOptions
    double freeRatio = 0.175;  // of the blocks: the device's free list; the others are the host's
    int64_t maxLen = 16384;    // tokens of the longest sequence, prompt included

    std::string timeModel = "default";
    IterationCosts costs;  // of timeModel
    std::string kvCache;   // GB, or "rest"; empty: blocks says it
    Targets targets;
    // Many runs: "rate", for the largest one that meets the targets, or values of options.
    std::vector<std::string> sweep;
    double attainment = 0.99;  // part of the requests that must meet them
    std::string fit;           // measurements, which are fitted in the place of a run; empty: none

    bool prefixCaching = false;  // prompts that begin alike share blocks
    bool chunked = false;        // prefills in chunks; otherwise whole, before anything else
    int64_t tokenBudget = 8192;  // of an iteration, as the policy counts it
    int64_t speculative = 0;     // spec tokens per query; 0: plain decoding

    bool SweepsRate() const { return sweep.size() == 1 && sweep[0] == "rate"; }
    const std::string& TraceName() const { return generate.empty() ? trace : generate; }
    std::vector<NamedFile> Outputs() const;
    /// The trace of the device, which --trace-json or ADVANCE_STEP_TRACE asks for.
    NamedFile DeviceTrace() const;
    /// Outputs() and DeviceTrace().
    std::vector<NamedFile> Written() const;
    std::vector<NamedFile> Inputs() const;

    int64_t MaxBlocks() const { return BlocksFor(maxLen); }
    int64_t DynamicBlocks() const {
        return static_cast<int64_t>(std::llround(static_cast<double>(blocks) * freeRatio));
    }
    int64_t HostBlocks() const { return blocks - DynamicBlocks(); }
    int64_t BlocksFor(int64_t tokens) const { return (tokens + blockSize - 1) / blockSize; }
};

/// The options of every program that serves: those of a server, --trace, --limit and --summary.
void AddServingOptions(CLI::App& app, Options& options);
/// Puts in what depends on other options: the costs of the time model, the number of blocks.
/// @throws TimeModelError
void FinishOptions(Options& options);

/// Nothing but an exit status when there is nothing to run: --help, or options that are not valid
/// (their message has been printed).
struct ParsedOptions {
    Options options;
    std::optional<int> exitStatus;
};

/// @param more  arguments behind those of the command line
ParsedOptions ParseOptions(int argc, char** argv, const std::vector<std::string>& more = {});

}  // namespace serve
