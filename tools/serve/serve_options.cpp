// SPDX-License-Identifier: Apache-2.0
// Declares the options of serve, parses them and checks their combinations.

#include "serve_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <climits>
#include <cmath>
#include <map>

#include "decimal.h"
#include "device_session.h"
#include "help_text.h"
#include "line_reader.h"
#include "option_range.h"
#include "time_model.h"
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

// Of --kv-cache: a number of GB, or what the weights leave of the devices' memory.
int64_t BlocksOfCache(const Options& options, const TimeModel& model) {
    if (!model.deployment) {
        throw TimeModelError(
            fmt::format("--kv-cache {}: --time-model {} does not have the dimensions of a model, "
                        "from which the "
                        "size of a token's K and V follows",
                        options.kvCache, options.timeModel));
    }
    const double gigabytes = options.kvCache == "rest"
                                 ? model.deployment->FreeGb()
                                 : DecimalOf<double>(options.kvCache).value_or(0);
    if (options.kvCache != "rest" && !(gigabytes > 0)) {
        throw TimeModelError(
            fmt::format("--kv-cache {}: expected a number of GB, or rest", options.kvCache));
    }
    const double bytes =
        static_cast<double>(model.deployment->KvBytes()) * static_cast<double>(options.blockSize);
    const double blocks = gigabytes * 1e9 / bytes;
    if (!(blocks >= 1 && blocks <= static_cast<double>(kMaxBlocks))) {
        throw TimeModelError(
            fmt::format("--kv-cache {}: {:.3g} GB are {:.3g} blocks of {} tokens with {} bytes "
                        "each; expected 1 "
                        "to {}",
                        options.kvCache, gigabytes, std::floor(blocks), options.blockSize,
                        model.deployment->KvBytes(), kMaxBlocks));
    }
    return static_cast<int64_t>(blocks);
}

// The sample of the build, or the one that is installed beside the program.
std::string SampleTrace() {
    char program[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof(program));
    if (access(SERVE_SAMPLE_TRACE, R_OK) == 0 || length <= 0) {
        return SERVE_SAMPLE_TRACE;
    }
    const std::string path(program, static_cast<size_t>(length));
    return path.substr(0, path.rfind('/')) + "/../share/advance_step/sample_trace.csv";
}

// As a shell takes it.
std::string CommandLine(int argc, char** argv) {
    const std::string program = argc > 0 ? argv[0] : "serve";
    std::string line = program.substr(program.rfind('/') + 1);
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const bool plain = !word.empty() &&
                           word.find_first_of(" \t\n\"'\\$`&|;<>()*?[]#~!{}") == std::string::npos;
        std::string quoted;
        for (const char c : word) {
            quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
        }
        line += plain ? " " + word : " '" + quoted + "'";
    }
    return line;
}

}  // namespace

void AddServingOptions(CLI::App& app, Options& options) {
    options.trace = SampleTrace();
    CLI::Option* trace =
        app.add_option("trace,--trace", options.trace,
                       "requests in a published format: Azure Public Dataset or BurstGPT (CSV), "
                       "Mooncake (JSON lines), plain, .gz or .zst; - is standard input; "
                       "out-of-order lines are sorted by arrival")
            ->capture_default_str();
    // After the options that are not known: a check of its own would be told in their place, since
    // the value of such a one is taken for the trace.
    app.final_callback([&options] {
        const std::string problem = options.generate.empty() && options.trace != kStandardInput
                                        ? CLI::ExistingFile(options.trace)
                                        : "";
        if (!problem.empty()) {
            throw CLI::ValidationError("--trace", problem);
        }
    });
    app.add_option("--generate", options.generate, kGeneratorHelp)
        ->check(NotEmpty("KEY=VALUE, as arrivals=poisson,rate=4"))
        ->excludes(trace);
    app.add_option(
           "--limit", options.limit,
           "serve the first N requests by arrival only; of a file whose lines ascend so far, no "
           "more is read than these and 10000 after them")
        ->transform(Whole(1));
    app.add_option("--max-seqs", options.maxSeqs, "sequences decoded at a time")
        ->transform(Whole(1, kMaxSeqs))
        ->capture_default_str();
    app.add_option("--block-size", options.blockSize, "tokens per KV cache block")
        ->transform(Whole(1, kMaxBlockSize))
        ->capture_default_str();
    CLI::Option* blocks = app.add_option("--blocks", options.blocks,
                                         "KV cache blocks; default: as many as hold 524288 tokens")
                              ->transform(Whole(1, kMaxBlocks));
    app.add_option("--kv-cache", options.kvCache,
                   "GB of KV cache, for the model of --time-model; rest: what its weights leave of "
                   "nine tenths of the memory")
        ->check(NotEmpty("a number of GB, or rest"))
        ->excludes(blocks);
    app.add_option("--time-model", options.timeModel, kTimeModelHelp)->capture_default_str();
    app.add_option("--free-ratio", options.freeRatio,
                   "part of the blocks, 0 to 1, that the device hands out as sequences grow; the "
                   "others are for prompts")
        ->check(Between(0, 1))
        ->capture_default_str();
    app.add_option("--max-len", options.maxLen, "tokens of the longest sequence, prompt included")
        ->transform(Whole(1, kMaxLen))
        ->capture_default_str();
    app.add_option("--speculative", options.speculative,
                   "spec tokens that a draft model proposes for every sequence and pass, "
                   "0 to 128; 0: aclnnAdvanceStep moves the sequences, else aclnnAdvanceStepV2")
        ->transform(Whole(0, kMaxSpecTokens))
        ->capture_default_str();
    app.add_option("--scheduler", options.chunked,
                   "prefill-first: prompts whole, together within the token budget; chunked: what "
                   "decoding leaves of the budget goes to prompts, in chunks")
        ->transform(CLI::CheckedTransformer(
            std::map<std::string, bool>{{"prefill-first", false}, {"chunked", true}}))
        ->type_name("TEXT")
        ->default_str("prefill-first");
    app.add_option("--token-budget", options.tokenBudget,
                   "tokens of an iteration that --scheduler shares out")
        ->transform(Whole(1, kMaxLen))
        ->capture_default_str();
    app.add_option("--ttft-target", options.targets.ttft,
                   "seconds to the first token in which a request is good")
        ->check(Between(1e-6, 1e6));
    app.add_option("--tpot-target", options.targets.tpot,
                   "seconds for each token after the first in which a request is good")
        ->check(Between(1e-6, 1e6));
    app.add_flag("--reject", options.reject,
                 "leave out, and count, requests that never fit; otherwise one ends the run before "
                 "it begins");
    app.add_option("--summary", options.summary, "write the summary to this file as JSON")
        ->check(NotEmpty("the path of a file"));
    app.add_option("--requests", options.requests,
                   "write what became of each request to this file as CSV")
        ->check(NotEmpty("the path of a file"));
    CLI::Option* report =
        app.add_option("--report", options.report,
                       "write an HTML page with what happened over time to this file")
            ->check(NotEmpty("the path of a file"));
    app.add_option("--compare", options.compare,
                   "hold the run, on the page of --report, against the one of this report")
        ->check(CLI::ExistingFile)
        ->needs(report);
}

std::vector<NamedFile> Options::Outputs() const {
    return {{"--summary", summary},
            {"--requests", requests},
            {"--report", report},
            {"--timeline", timeline},
            {"--trace-json", traceJson}};
}

NamedFile Options::DeviceTrace() const {
    return traceJson.empty() ? NamedFile{"ADVANCE_STEP_TRACE", DeviceTracePath()}
                             : NamedFile{"--trace-json", traceJson};
}

std::vector<NamedFile> Options::Written() const {
    std::vector<NamedFile> written = Outputs();
    if (traceJson.empty()) {
        written.push_back(DeviceTrace());
    }
    return written;
}

std::vector<NamedFile> Options::Inputs() const {
    return {{"--trace", generate.empty() && trace != kStandardInput ? trace : ""},
            {"--compare", compare},
            {"--time-model", IsPreset(timeModel) ? "" : timeModel}};
}

void FinishOptions(Options& options) {
    const TimeModel model = LoadTimeModel(options.timeModel);
    options.costs = model.costs;
    if (!options.kvCache.empty()) {
        options.blocks = BlocksOfCache(options, model);
    }
    if (options.blocks == 0) {
        options.blocks = options.BlocksFor(kDefaultCacheTokens);
    }
}

ParsedOptions ParseOptions(int argc, char** argv, const std::vector<std::string>& more) {
    ParsedOptions parsed;
    Options& options = parsed.options;
    CLI::App app{
        "Serves a request trace with continuous batching on the emulated device:\n"
        "aclnnStep hands out the blocks that sequences grow into, aclnnAdvanceStep moves\n"
        "every sequence, a toy model fills the paged KV cache, and every finished request\n"
        "is compared with a run on a contiguous cache."};
    options.command = CommandLine(argc, argv);
    AddHelpAndVersion(app, "serve");
    AddServingOptions(app, options);
    app.add_option("--timeline", options.timeline,
                   "write iterations, requests and counters in virtual time to this file, for "
                   "Perfetto or chrome://tracing")
        ->check(NotEmpty("the path of a file"));
    app.add_flag("--prefix-caching", options.prefixCaching,
                 "prompts that begin alike, by the hash_ids of a Mooncake trace, share the blocks "
                 "that are in the cache already, and are prefilled from behind them");
    CLI::Option* sweep = app.add_option(
        "--sweep", options.sweep,
        "rate: serve the trace faster and slower, for the largest rate of requests at which enough "
        "of them meet the targets; OPTION=VALUE,VALUE,..., once or more: serve it with every "
        "combination of values, and tell which are best; of max-seqs, token-budget, blocks, "
        "scheduler, block-size, free-ratio and speculative");
    sweep->allow_extra_args(false)->check(NotEmpty("rate, or OPTION=VALUE,VALUE,..."));
    app.add_option("--attainment", options.attainment,
                   "part of the requests, above 0 to 1, that must meet the targets of --sweep")
        ->check(Between(1e-6, 1))
        ->needs(sweep)
        ->capture_default_str();
    app.add_option("--fit", options.fit,
                   "print the time model that fits the measurements of this CSV file best, in the "
                   "place of a run; columns prefill_tokens, decode_rows, context_tokens, seconds")
        ->check(CLI::ExistingFile);
    app.add_option("--trace-json", options.traceJson,
                   "write what the device does, and when, to this file, for Perfetto or "
                   "chrome://tracing; as ADVANCE_STEP_TRACE, which it overrides")
        ->check(NotEmpty("the path of a file"));

    try {
        std::vector<std::string> words(argv + 1, argv + argc);
        words.insert(words.end(), more.begin(), more.end());
        app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    } catch (const CLI::ParseError& error) {
        parsed.exitStatus = app.exit(error);
        return parsed;
    }
    for (const std::string& text : more.empty() ? options.sweep : std::vector<std::string>()) {
        const std::string name = text.substr(0, text.find('='));
        const CLI::Option* swept = app.get_option_no_throw("--" + name);
        if (swept != nullptr && swept->count() > 0) {
            throw std::runtime_error(fmt::format(
                "--sweep {}: --{} has a value, too; expected one of the two", text, name));
        }
    }
    FinishOptions(options);
    return parsed;
}

}  // namespace serve
