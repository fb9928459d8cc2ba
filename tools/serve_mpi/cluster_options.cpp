// SPDX-License-Identifier: Apache-2.0
// Declares the options of serve_mpi, parses them and checks their combinations.

#include "cluster_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <system_error>
#include <type_traits>

#include "decimal.h"
#include "device_session.h"
#include "help_text.h"
#include "line_reader.h"
#include "option_range.h"
#include "request_trace.h"
#include "time_model.h"

namespace serve {
namespace {

constexpr int64_t kMaxRanks = 1 << 20;

// Whether the text is RANK:STEP.
bool ToRankFault(std::string_view text, RankFault* fault) {
    const size_t colon = text.find(':');
    if (colon == text.npos) {
        return false;
    }
    const std::optional<int> rank = DecimalOf<int>(text.substr(0, colon));
    const std::optional<int64_t> step = DecimalOf<int64_t>(text.substr(colon + 1));
    fault->rank = rank.value_or(-1);
    fault->step = step.value_or(-1);
    return fault->rank >= 0 && fault->step >= 0;
}

// Whether the text is RANK:STEP:TENSOR.
bool ToFlipFault(std::string_view text, FlipFault* fault) {
    const size_t colon = text.rfind(':');
    fault->tensor = colon == text.npos ? "" : text.substr(colon + 1);
    return !fault->tensor.empty() && ToRankFault(text.substr(0, colon), fault);
}

void AddTestOptions(CLI::App& app, ClusterOptions& options) {
    constexpr int64_t kMostMicroseconds = 3'600'000'000;  // as of --timeout
    // An empty group: --help does not list them, docs/internals/scaling.md does.
    const auto add = [&](const std::string& name, const char* form, auto* fault, auto toFault) {
        app.add_option_function<std::string>(
               name,
               [=](const std::string& text) {
                   if (!toFault(text, fault)) {
                       throw CLI::ValidationError(
                           name, fmt::format("Value {} is not of the form {}, with whole numbers "
                                             "from 0",
                                             text, form));
                   }
               })
            ->group("");
    };
    add("--kill-at", "RANK:STEP", &options.killAt, ToRankFault);
    add("--stop-at", "RANK:STEP", &options.stopAt, ToRankFault);
    add("--flip-at", "RANK:STEP:TENSOR", &options.flipAt, ToFlipFault);
    const auto addNumber = [&](const std::string& name, auto* number, int64_t most) {
        app.add_option_function<std::string>(
               name,
               [=](std::string text) {
                   // A validator's message would not name an option of the empty group.
                   const std::string problem = Whole(0, most)(text);
                   if (!problem.empty()) {
                       throw CLI::ValidationError(name, problem);
                   }
                   *number = DecimalOf<std::decay_t<decltype(*number)>>(text).value();
               })
            ->group("");
    };
    addNumber("--slow-rank", &options.slowRank, kMaxRanks);
    addNumber("--slow-us", &options.slowMicroseconds, kMostMicroseconds);
}

}  // namespace

std::vector<NamedFile> ClusterOptions::Outputs() const {
    std::vector<NamedFile> outputs = serving.Outputs();
    outputs.push_back({"--assignment-out", assignmentOut});
    return outputs;
}

std::vector<NamedFile> ClusterOptions::Inputs() const {
    std::vector<NamedFile> inputs = serving.Inputs();
    inputs.push_back({"--assignment", assignmentIn});
    return inputs;
}

void ClusterOptions::ExpectDistinctFiles() const {
    std::vector<NamedFile> others = Outputs();
    const std::vector<NamedFile> inputs = Inputs();
    ExpectDistinct(others, inputs);
    others.insert(others.end(), inputs.begin(), inputs.end());
    for (int64_t index = 0; index < DeviceTraces(); ++index) {
        const NamedFile trace = {"ADVANCE_STEP_TRACE", DeviceTraceOf(index)};
        ExpectDistinct({trace}, others);
        ExpectNoStandardStream(trace);
    }
}

std::string ClusterOptions::DeviceTraceOf(int64_t index) const {
    std::error_code ignored;
    const std::filesystem::file_status status = std::filesystem::status(deviceTrace, ignored);
    if (DeviceTraces() < 2 || (exists(status) && !is_regular_file(status))) {
        return deviceTrace;
    }
    const std::filesystem::path whole(deviceTrace);
    const char* const part = assignmentIn.empty() ? "rank" : "replica";
    return (whole.parent_path() / fmt::format("{}.{}{}{}", whole.stem().string(), part, index,
                                              whole.extension().string()))
        .string();
}

void ClusterOptions::ChooseDeviceTrace(int64_t index) const {
    if (!deviceTrace.empty()) {
        // MPI's threads do not ask for it, and the library has none now.
        setenv("ADVANCE_STEP_TRACE", DeviceTraceOf(index).c_str(),
               1);  // NOLINT(concurrency-mt-unsafe)
    }
}

int64_t ClusterOptions::DeviceTraces() const {
    return deviceTrace.empty() ? 0 : assignmentIn.empty() ? Ranks() : dataParallel;
}

int64_t ClusterOptions::WindowTicks() const {
    return std::llround(windowSeconds * static_cast<double>(kTicksPerSecond));
}

ParsedClusterOptions ParseClusterOptions(int argc, char** argv, bool talks) {
    ParsedClusterOptions parsed;
    ClusterOptions& options = parsed.options;
    options.deviceTrace = DeviceTracePath();
    CLI::App app{
        "Serves a request trace on the ranks of MPI: DATA-PARALLEL replicas of the server of\n"
        "serve, each of TENSOR-PARALLEL ranks that keep the same state and compare it after every\n"
        "step. Run it under mpirun with as many ranks; with --assignment, without mpirun."};
    AddHelpAndVersion(app, "serve_mpi");
    AddServingOptions(app, options.serving);
    app.add_option("--data-parallel", options.dataParallel, "replicas, each with its own requests")
        ->transform(Whole(1, kMaxRanks))
        ->capture_default_str();
    app.add_option("--tensor-parallel", options.tensorParallel, "ranks of a replica")
        ->transform(Whole(1, kMaxRanks))
        ->capture_default_str();
    app.add_option("--window", options.windowSeconds,
                   "seconds of virtual time, 0.001 to 3600, whose arrivals are dispatched together")
        ->check(Between(0.001, 3600))
        ->capture_default_str();
    app.add_option("--timeout", options.timeoutSeconds,
                   "seconds, 1 to 3600, after which a rank that does not answer ends the run")
        ->check(Between(1, 3600))
        ->capture_default_str();
    CLI::Option* const out =
        app.add_option("--assignment-out", options.assignmentOut,
                       "write which request went to which replica to this file")
            ->check(NotEmpty("the path of a file"));
    app.add_option("--assignment", options.assignmentIn,
                   "serve the replicas one after the other in one process, with the requests that "
                   "this file gives them")
        ->check(CLI::ExistingFile)
        ->excludes(out);
    app.add_flag("--mixed-devices", options.mixedDevices,
                 "each rank emulates another device: SoC, threads and order of cores");
    app.add_flag("--progress", options.progress,
                 "show progress even if standard error is no terminal, as under mpirun");
    AddTestOptions(app, options);

    try {
        app.parse(argc, argv);
        if (options.serving.trace == kStandardInput) {
            throw CLI::ValidationError("--trace",
                                       "- is for serve; each rank reads the trace, from a file");
        }
        FinishOptions(options.serving);
    } catch (const CLI::ParseError& error) {
        std::ostringstream silent;
        parsed.exitStatus = talks ? app.exit(error) : app.exit(error, silent, silent);
    } catch (const TimeModelError&) {
        if (talks) {
            throw;
        }
        parsed.exitStatus = EXIT_FAILURE;
    }
    return parsed;
}

}  // namespace serve
