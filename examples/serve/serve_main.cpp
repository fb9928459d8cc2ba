// SPDX-License-Identifier: Apache-2.0
// Serves a request trace through aclnnStep and aclnnAdvanceStep (or aclnnAdvanceStepV2) on the
// emulated device.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "interrupt.h"
#include "request_source.h"
#include "request_trace.h"
#include "run_report.h"
#include "run_summary.h"
#include "serve_options.h"
#include "server.h"

namespace serve {
namespace {

struct Outcome {
    Statistics statistics;
    RunRecord record;
};

// An error of the device ends the run, not the report on it.
Outcome Serve(const Trace& trace, const Options& options) {
    TraceSource source(trace.requests, LimitsOf(trace.requests, options));
    Server server(source, options);
    const auto start = std::chrono::steady_clock::now();
    try {
        server.Run();
    } catch (const AclError& error) {
        fmt::print(stderr, "serve: {}\n", error.what());
    } catch (const Stuck& error) {
        fmt::print(stderr, "serve: {}\n", error.what());
    }
    Statistics statistics = server.Result();
    statistics.interrupted = Interrupted();
    statistics.wallSeconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return {statistics, server.Record()};
}

int Main(int argc, char** argv) {
    const ParsedOptions parsed = ParseOptions(argc, argv);
    if (parsed.exitStatus) {
        return *parsed.exitStatus;
    }
    const Options& options = parsed.options;
    CatchInterrupt();
    const Trace trace = LoadTrace(options);
    if (!options.traceJson.empty()) {
        // aclInit reads it. No other thread runs yet.
        setenv("ADVANCE_STEP_TRACE", options.traceJson.c_str(),
               1);  // NOLINT(concurrency-mt-unsafe)
    }
    const auto [statistics, record] = Serve(trace, options);
    PrintSummary(options, statistics);
    if (!options.summary.empty()) {
        WriteSummary(options.summary, options, statistics);
    }
    if (!options.report.empty()) {
        WriteReport(options.report, options, statistics, record);
    }
    return statistics.Good() ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace serve

int main(int argc, char** argv) {
    try {
        return serve::Main(argc, argv);
    } catch (const std::exception& error) {
        fmt::print(stderr, "serve: {}\n", error.what());
        return EXIT_FAILURE;
    }
}
