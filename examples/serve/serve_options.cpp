// SPDX-License-Identifier: Apache-2.0
// Declares the options of serve, parses them and checks their combinations.

#include "serve_options.h"

#include <CLI/CLI.hpp>

#include "trace_generator.h"

namespace serve {
namespace {

// The KV cache's size when --blocks is not given. Holds 256 sequences of a conversation trace.
constexpr int64_t kDefaultCacheTokens = int64_t{512} * 1024;

// Upper limits that keep every product of two options within 64 bits.
constexpr int64_t kMaxSeqs = 1 << 20;
constexpr int64_t kMaxBlockSize = 1 << 16;
constexpr int64_t kMaxBlocks = 1 << 28;
constexpr int64_t kMaxLen = 1 << 28;
constexpr int64_t kMaxSpecTokens = 128;

// CLI::Range lets "nan" through.
std::string CheckRatio(const std::string& text) {
    double ratio = 0;
    const bool valid = CLI::detail::lexical_cast(text, ratio) && ratio >= 0 && ratio <= 1;
    return valid ? "" : "Value " + text + " not in range 0 to 1";
}

}  // namespace

void AddServingOptions(CLI::App& app, Options& options) {
    options.trace = SERVE_SAMPLE_TRACE;
    CLI::Option* trace =
        app.add_option("trace,--trace", options.trace,
                       "requests in a published format: Azure Public Dataset or BurstGPT (CSV), "
                       "Mooncake (JSON lines), plain, .gz or .zst; out-of-order lines are sorted "
                       "by arrival")
            ->check(CLI::ExistingFile)
            ->capture_default_str();
    app.add_option("--generate", options.generate, kGeneratorHelp)->excludes(trace);
    app.add_option(
           "--limit", options.limit,
           "serve the first N requests by arrival only; of a file whose lines ascend so far, no "
           "more is read than these and 10000 after them")
        ->check(CLI::Range(int64_t{1}, INT64_MAX));
    app.add_option("--max-seqs", options.maxSeqs, "sequences decoded at a time")
        ->check(CLI::Range(int64_t{1}, kMaxSeqs))
        ->capture_default_str();
    app.add_option("--block-size", options.blockSize, "tokens per KV cache block")
        ->check(CLI::Range(int64_t{1}, kMaxBlockSize))
        ->capture_default_str();
    app.add_option("--blocks", options.blocks,
                   "KV cache blocks; default: as many as hold 524288 tokens")
        ->check(CLI::Range(int64_t{1}, kMaxBlocks));
    app.add_option("--free-ratio", options.freeRatio,
                   "part of the blocks, 0 to 1, that the device hands out as sequences grow; the "
                   "others are for prompts")
        ->check(CheckRatio)
        ->capture_default_str();
    app.add_option("--max-len", options.maxLen, "tokens of the longest sequence, prompt included")
        ->check(CLI::Range(int64_t{1}, kMaxLen))
        ->capture_default_str();
    app.add_option("--speculative", options.speculative,
                   "spec tokens that a draft model proposes for every sequence and pass, "
                   "0 to 128; 0: aclnnAdvanceStep moves the sequences, else aclnnAdvanceStepV2")
        ->check(CLI::Range(int64_t{0}, kMaxSpecTokens))
        ->capture_default_str();
    app.add_flag("--reject", options.reject,
                 "leave out, and count, requests that never fit; otherwise one ends the run before "
                 "it begins");
    app.add_option("--summary", options.summary, "write the summary to this file as JSON");
    app.add_option("--requests", options.requests,
                   "write what became of each request to this file as CSV");
}

std::vector<NamedFile> Options::Outputs() const {
    return {{"--summary", summary},
            {"--requests", requests},
            {"--report", report},
            {"--trace-json", traceJson}};
}

std::vector<NamedFile> Options::Inputs() const {
    return {{"--trace", generate.empty() ? trace : ""}};
}

void FinishOptions(Options& options) {
    if (options.blocks == 0) {
        options.blocks = options.BlocksFor(kDefaultCacheTokens);
    }
}

ParsedOptions ParseOptions(int argc, char** argv) {
    ParsedOptions parsed;
    Options& options = parsed.options;
    CLI::App app{
        "Serves a request trace with continuous batching on the emulated device: aclnnStep hands\n"
        "out the blocks that sequences grow into, aclnnAdvanceStep moves every sequence, a toy\n"
        "model fills the paged KV cache, and every finished request is compared with a run on a\n"
        "contiguous cache."};
    AddServingOptions(app, options);
    app.add_option("--report", options.report,
                   "write an HTML page with what happened over time to this file");
    app.add_option("--trace-json", options.traceJson,
                   "write what the device does, and when, to this file, for Perfetto or "
                   "chrome://tracing; as ADVANCE_STEP_TRACE, which it overrides");

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        parsed.exitStatus = app.exit(error);
        return parsed;
    }
    FinishOptions(options);
    return parsed;
}

}  // namespace serve
