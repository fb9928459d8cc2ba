// SPDX-License-Identifier: Apache-2.0
// Declares the options of serve_mpi, parses them and checks their combinations.

#include "cluster_options.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "option_range.h"
#include "request_trace.h"
#include "time_model.h"

namespace serve {
namespace {

constexpr int64_t kMaxRanks = 1 << 20;

std::string ToRankFault(const std::string& text, RankFault* fault, std::string* rest) {
    std::istringstream stream(text);
    char colon = 0;
    const bool valid = stream >> fault->rank >> colon && colon == ':' && stream >> fault->step &&
                       fault->rank >= 0 && fault->step >= 0;
    std::getline(stream, *rest);
    return valid ? "" : text + " is not RANK:STEP";
}

void AddTestOptions(CLI::App& app, ClusterOptions& options) {
    // An empty group: --help does not list them, docs/scaling.md does.
    const auto add = [&](const char* name, RankFault* fault, std::string* tensor) {
        app.add_option_function<std::string>(
               name,
               [fault, tensor](const std::string& text) {
                   std::string rest;
                   const std::string problem = ToRankFault(text, fault, &rest);
                   const bool named = rest.size() > 1 && rest[0] == ':';
                   if (!problem.empty() || named != (tensor != nullptr)) {
                       throw CLI::ValidationError(text,
                                                  "expected RANK:STEP, --flip-at :TENSOR too");
                   }
                   if (tensor != nullptr) {
                       *tensor = rest.substr(1);
                   }
               })
            ->group("");
    };
    add("--kill-at", &options.killAt, nullptr);
    add("--stop-at", &options.stopAt, nullptr);
    add("--flip-at", &options.flipAt, &options.flipAt.tensor);
    app.add_option("--slow-rank", options.slowRank)->group("");
    app.add_option("--slow-us", options.slowMicroseconds)->group("");
}

}  // namespace

std::vector<NamedFile> ClusterOptions::Outputs() const {
    std::vector<NamedFile> outputs = serving.Written();
    outputs.push_back({"--assignment-out", assignmentOut});
    return outputs;
}

std::vector<NamedFile> ClusterOptions::Inputs() const {
    std::vector<NamedFile> inputs = serving.Inputs();
    inputs.push_back({"--assignment", assignmentIn});
    return inputs;
}

int64_t ClusterOptions::WindowTicks() const {
    return std::llround(windowSeconds * static_cast<double>(kTicksPerSecond));
}

ParsedClusterOptions ParseClusterOptions(int argc, char** argv, bool talks) {
    ParsedClusterOptions parsed;
    ClusterOptions& options = parsed.options;
    CLI::App app{
        "Serves a request trace on the ranks of MPI: DATA-PARALLEL replicas of the server of\n"
        "serve, each of TENSOR-PARALLEL ranks that keep the same state and compare it after every\n"
        "step. Run it under mpirun with as many ranks; with --assignment, without mpirun."};
    AddServingOptions(app, options.serving);
    app.add_option("--data-parallel", options.dataParallel, "replicas, each with its own requests")
        ->check(CLI::Range(int64_t{1}, kMaxRanks))
        ->capture_default_str();
    app.add_option("--tensor-parallel", options.tensorParallel, "ranks of a replica")
        ->check(CLI::Range(int64_t{1}, kMaxRanks))
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
                       "write which request went to which replica to this file");
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
