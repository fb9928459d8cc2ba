// SPDX-License-Identifier: Apache-2.0
// The options of the command line.

#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "output_file.h"

namespace CLI {
class App;
}

namespace serve {

struct Options {
    std::string trace;
    std::string generate;   // takes the trace's place; empty: nothing
    std::string summary;    // empty: no file
    std::string report;     // empty: no file
    std::string traceJson;  // of what the device does; empty: no file
    std::string requests;   // empty: no file
    bool reject = false;    // requests that never fit are left out
    int64_t limit = 0;      // requests; 0: all
    int64_t maxSeqs = 256;
    int64_t blockSize = 128;   // tokens
    int64_t blocks = 0;        // 0: set by FinishOptions
    double freeRatio = 0.175;  // of the blocks: the device's free list; the others are the host's
    int64_t maxLen = 16384;    // tokens of the longest sequence, prompt included

    int64_t prefillBudget = 8192;  // prompt tokens that are admitted together
    int64_t speculative = 0;       // spec tokens per query; 0: plain decoding

    const std::string& TraceName() const { return generate.empty() ? trace : generate; }
    std::vector<NamedFile> Outputs() const;
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
/// Puts in the defaults that depend on other options.
void FinishOptions(Options& options);

/// Nothing but an exit status when there is nothing to run: --help, or options that are not valid
/// (their message has been printed).
struct ParsedOptions {
    Options options;
    std::optional<int> exitStatus;
};

ParsedOptions ParseOptions(int argc, char** argv);

}  // namespace serve
