// SPDX-License-Identifier: Apache-2.0
// Serves a request trace through aclnnStep and aclnnAdvanceStep (or aclnnAdvanceStepV2) on the
// emulated device.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "device_session.h"
#include "finished_request.h"
#include "interrupt.h"
#include "option_sweep.h"
#include "output_file.h"
#include "rate_sweep.h"
#include "report_compare.h"
#include "request_source.h"
#include "request_trace.h"
#include "run_report.h"
#include "run_summary.h"
#include "run_timeline.h"
#include "serve_options.h"
#include "server.h"
#include "standard_streams.h"
#include "time_fit.h"

namespace serve {
namespace {

struct Outcome {
    Statistics statistics;
    RunRecord record;
    std::vector<FinishedRequest> finished;  // if a file of them is wanted
    RunTimeline timeline;                   // the same
    bool ended = false;                     // without an error
};

// Keeps what the files want of the run.
class RunObserver : public ServerObserver {
 public:
    RunObserver(const Options& options, Outcome& outcome)
        : listsRequests_(!options.requests.empty()),
          hasTimeline_(!options.timeline.empty()),
          outcome_(outcome) {}
    void Finished(const Sequence& sequence, int64_t slot) override {
        if (listsRequests_) {
            outcome_.finished.push_back(MakeFinished(0, sequence));
        }
        if (hasTimeline_) {
            outcome_.timeline.Finish(sequence, slot);
        }
    }
    void Shed(const Sequence& sequence, int64_t slot) override {
        if (hasTimeline_) {
            outcome_.timeline.Shed(sequence, slot);
        }
    }
    void Iterated(const IterationState& state) override {
        if (hasTimeline_) {
            outcome_.timeline.Add(state);
        }
    }

 private:
    bool listsRequests_;
    bool hasTimeline_;
    Outcome& outcome_;
};

// An error of the device ends the run, not the report on it.
Outcome Serve(const Trace& trace, const Options& options) {
    Outcome outcome;
    RunObserver observer(options, outcome);
    TraceSource source(trace.requests, LimitsOf(trace.requests), &trace.prefixSeeds);
    Server server(source, options, &observer);
    const auto start = std::chrono::steady_clock::now();
    try {
        server.Run();
        outcome.ended = true;
    } catch (const AclError& error) {
        Tell(error.what());
    } catch (const Stuck& error) {
        Tell(error.what());
    } catch (const std::bad_alloc&) {
        Tell("the host has no memory left for the run; it ends early");
    }
    outcome.statistics = server.Result();
    outcome.statistics.rejected = trace.rejected;
    outcome.statistics.interrupted = Interrupted();
    outcome.statistics.wallSeconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    outcome.record = server.Record();
    return outcome;
}

void PrintTrial(const RateTrial& trial) {
    const Statistics& s = trial.statistics;
    fmt::print("  {:>12.4f} {:>10.3f} {:>10.3f} {:>10.3f} {:>10.3f} {:>10.4f} {:>10.2f} %\n",
               trial.rate, s.latency.ttft.p50, s.latency.ttft.p99, s.latency.tpot.p50,
               s.latency.tpot.p99,
               s.virtualSeconds > 0 ? static_cast<double>(s.good) / s.virtualSeconds : 0.0,
               100 * trial.Attainment());
}

nlohmann::ordered_json ToJson(const RateSweep& sweep, const Options& options) {
    nlohmann::ordered_json trials = nlohmann::ordered_json::array();
    for (const RateTrial& trial : sweep.trials) {
        nlohmann::ordered_json json = {{"rate", trial.rate}, {"attainment", trial.Attainment()}};
        json.update(SummaryJson(options, trial.statistics));
        trials.push_back(json);
    }
    return {{"attainment", options.attainment},
            {"largest_rate",
             sweep.best ? nlohmann::ordered_json(*sweep.best) : nlohmann::ordered_json(nullptr)},
            {"trials", trials}};
}

void ExpectNoFileOfOneRun(const Options& options) {
    for (const NamedFile& file :
         {NamedFile{"--requests", options.requests}, NamedFile{"--timeline", options.timeline},
          NamedFile{"--trace-json", options.traceJson}, NamedFile{"--compare", options.compare}}) {
        if (!file.path.empty()) {
            throw std::runtime_error(
                fmt::format("--sweep makes many runs; {} is of one", file.option));
        }
    }
}

int Sweep(const Trace& trace, const Options& options, std::optional<OutputFile>& summary) {
    if (!options.targets.Any()) {
        throw std::runtime_error("--sweep rate needs --ttft-target or --tpot-target");
    }
    if (!options.report.empty()) {
        throw std::runtime_error("--sweep rate makes many runs; --report is of one");
    }
    bool traced = true;  // each trial begins the trace of the device anew
    const RateSweep sweep =
        SweepRate(trace.requests, options.attainment, [&](const std::vector<Request>& requests) {
            Trace changed;
            changed.requests = requests;
            changed.prefixSeeds = trace.prefixSeeds;
            changed.rejected = trace.rejected;
            try {
                const Outcome outcome = Serve(changed, options);
                traced = !outcome.ended || DeviceTraceIsWhole();
                return outcome.statistics;
            } catch (const InterruptedEarly&) {
                // The trials before it count, as they do after an interrupt in the midst of one.
                Statistics none;
                none.requests = static_cast<int64_t>(requests.size());
                none.interrupted = true;
                return none;
            }
        });
    const bool written = Written(
        summary, [&] { return JsonText(ToJson(sweep, options)); }, "--summary");
    fmt::print("\n{}\n  {:>12} {:>10} {:>10} {:>10} {:>10} {:>10} {:>12}\n", options.TraceName(),
               "requests/s", "TTFT p50", "TTFT p99", "TPOT p50", "TPOT p99", "goodput",
               "meet targets");
    for (const RateTrial& trial : sweep.trials) {
        PrintTrial(trial);
    }
    const bool completed = sweep.trials.back().statistics.Good();
    fmt::print("  {}\n", !completed    ? "the sweep ended early"
                         : !sweep.best ? "no rate meets the targets"
                         : sweep.isLimit
                             ? fmt::format("largest rate: {:.4f} requests a second", *sweep.best)
                             : fmt::format("every rate up to {:.4f} requests a second meets the "
                                           "targets",
                                           *sweep.best));
    FlushStandardOutput();
    return completed && sweep.best && written && traced ? EXIT_SUCCESS : EXIT_FAILURE;
}

// The options of each combination; nothing but a status when a value is not valid, which has been
// told.
std::optional<int> ParseTrials(int argc, char** argv, const std::vector<SweepAxis>& axes,
                               std::vector<OptionTrial>& trials) {
    for (const std::vector<std::string>& values : CombinationsOf(axes)) {
        std::vector<std::string> words;
        for (size_t i = 0; i < axes.size(); ++i) {
            words.insert(words.end(), {"--" + axes[i].option, values[i]});
        }
        ParsedOptions parsed = ParseOptions(argc, argv, words);
        if (parsed.exitStatus) {
            return parsed.exitStatus;
        }
        trials.push_back({values, std::move(parsed.options)});
    }
    return std::nullopt;
}

struct SweepFiles {
    std::optional<OutputFile>& summary;
    std::optional<OutputFile>& report;
};

// Serves the trace with each combination; ends early after an interrupt.
int SweepOptions(const Trace& trace, const std::vector<SweepAxis>& axes,
                 std::vector<OptionTrial> trials, const SweepFiles& files) {
    // What never fits is told before the first run; with --reject each run tells what it leaves
    // out.
    for (const OptionTrial& trial : trials) {
        if (!trial.options.reject) {
            Trace fitting = trace;
            KeepFitting(fitting, trial.options);
        }
    }
    bool traced = true;  // each trial begins the trace of the device anew
    size_t done = 0;
    for (; done < trials.size() && !Interrupted(); ++done) {
        Trace fitting = trace;
        KeepFitting(fitting, trials[done].options);
        const Outcome outcome = Serve(fitting, trials[done].options);
        trials[done].statistics = outcome.statistics;
        traced &= !outcome.ended || DeviceTraceIsWhole();
    }
    if (done == 0) {
        throw InterruptedEarly();  // no trial began, so there is nothing to report
    }
    const bool whole = done == trials.size() && !Interrupted();
    trials.resize(done);
    MarkFront(trials);
    bool written = Written(
        files.summary, [&] { return JsonText(SweepJson(axes, trials)); }, "--summary");
    written &= Written(
        files.report, [&] { return SweepPage(axes, trials); }, "--report");
    fmt::print("\n{}{}", SweepTable(axes, trials), whole ? "" : "  the sweep ended early\n");
    FlushStandardOutput();
    const bool completed = std::all_of(trials.begin(), trials.end(), [](const OptionTrial& trial) {
        return trial.statistics.Good();
    });
    return whole && completed && written && traced ? EXIT_SUCCESS : EXIT_FAILURE;
}

int Main(int argc, char** argv) {
    const ParsedOptions parsed = ParseOptions(argc, argv);
    if (parsed.exitStatus) {
        FlushStandardOutput();
        return *parsed.exitStatus;
    }
    const Options& options = parsed.options;
    CatchInterrupt();
    if (!options.fit.empty()) {
        for (const NamedFile& output : options.Outputs()) {
            if (!output.path.empty()) {
                throw std::runtime_error(fmt::format(
                    "--fit makes no run, and {} is of one; the fit goes to standard output",
                    output.option));
            }
        }
        const std::vector<Measurement> measurements = ReadMeasurements(options.fit);
        const Fit fit = FitCosts(measurements);
        if (!fit.isDetermined) {
            Tell(
                fmt::format("--fit: {}: other costs fit the {} measurements as well; expected some "
                            "that differ in each of prefill_tokens, decode_rows and context_tokens",
                            options.fit, measurements.size()));
        }
        fmt::print("{}", FitText(fit, measurements.size()));
        FlushStandardOutput();
        return EXIT_SUCCESS;
    }
    std::vector<SweepAxis> axes;
    std::vector<OptionTrial> trials;
    if (!options.sweep.empty()) {
        ExpectNoFileOfOneRun(options);
        if (!options.SweepsRate()) {
            axes = ParseAxes(options.sweep);
            if (const std::optional<int> status = ParseTrials(argc, argv, axes, trials)) {
                FlushStandardOutput();
                return *status;
            }
        }
    }
    ExpectDistinct(options.Written(), options.Inputs());
    ExpectNoStandardStream(options.DeviceTrace());
    std::optional<OutputFile> summary;
    std::optional<OutputFile> requests;
    std::optional<OutputFile> report;
    std::optional<OutputFile> timeline;
    OpenIfNamed(summary, options.summary, "the summary");
    OpenIfNamed(requests, options.requests, "the requests");
    OpenIfNamed(report, options.report, "the report");
    OpenIfNamed(timeline, options.timeline, "the timeline");
    std::optional<OtherRun> other;
    if (!options.compare.empty()) {
        other = ReadReport(options.compare);
    }
    if (!axes.empty()) {
        return SweepOptions(ReadRequests(options), axes, std::move(trials), {summary, report});
    }
    const Trace trace = LoadTrace(options);
    if (options.SweepsRate()) {
        return Sweep(trace, options, summary);
    }
    if (!options.traceJson.empty()) {
        // aclInit reads it. No other thread runs yet.
        setenv("ADVANCE_STEP_TRACE", options.traceJson.c_str(),
               1);  // NOLINT(concurrency-mt-unsafe)
    }
    const Outcome outcome = Serve(trace, options);
    bool written = !outcome.ended || DeviceTraceIsWhole();
    written &= Written(
        summary, [&] { return JsonText(SummaryJson(options, outcome.statistics)); }, "--summary");
    written &= Written(
        requests, [&] { return FinishedText(outcome.finished); }, "--requests");
    const auto page = [&] {
        const RunRecord& record = outcome.record;
        return ReportPage({options, outcome.statistics, record.Buckets(), record.Resolution(),
                           record.Latencies(), 1, other ? &*other : nullptr});
    };
    written &= Written(report, page, "--report");
    written &= Written(
        timeline, [&] { return outcome.timeline.Text(); }, "--timeline");
    PrintSummary(options, outcome.statistics);
    FlushStandardOutput();
    return outcome.statistics.Good() && written ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace serve

int main(int argc, char** argv) {
    serve::PrepareStandardStreams("serve");
    try {
        return serve::Main(argc, argv);
    } catch (const std::exception& error) {
        serve::Tell(error.what());
        return EXIT_FAILURE;
    }
}
