// SPDX-License-Identifier: Apache-2.0
// The performance dashboard: every goal, its baseline beside it in the row's process, in turns.
// docs/internals/benchmarking.md.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/benchmark/dashboard/compare.h"
#include "tests/benchmark/dashboard/curves.h"
#include "tests/benchmark/dashboard/machine.h"
#include "tests/benchmark/dashboard/own_process.h"
#include "tests/benchmark/dashboard/result.h"
#include "tests/benchmark/dashboard/rows.h"
#include "tests/benchmark/require.h"

namespace {

using namespace bench;
using Json = nlohmann::ordered_json;

struct Options {
    bool list = false;
    bool quick = false;
    bool curves = false;
    std::string json;
    std::vector<std::string> peers;
    std::string compare;
    std::vector<std::string> only;
    int64_t iterations = 0;
};

void AddOptions(CLI::App* app, Options* options) {
    app->add_flag("--list", options->list, "Name every row and end");
    app->add_option("--json", options->json, "Write the results and the raw series to this file");
    app->add_option("--peers", options->peers,
                    "Read what peers.py, torch_operators.py or graph_benchmark has measured")
        ->check(CLI::ExistingFile);
    app->add_option("--compare", options->compare, "Name the rows that moved since this --json")
        ->check(CLI::ExistingFile);
    app->add_flag("--curves", options->curves, "Measure what the plots need, too; with --json");
    app->add_flag("--quick", options->quick, "One short pair per row, for a test of the program");
    CLI::Option* const row = app->add_option("--row", options->only, "Measure these rows only");
    app->add_option("--iterations", options->iterations,
                    "Only run the library's part of the one row, so many times")
        ->check(CLI::PositiveNumber)
        ->needs(row);
}

Budget BudgetOf(const Options& options) {
    Budget budget;
    if (options.quick) {
        budget = {1e3, 0, 1, 1};
    }
    return budget;
}

// The result of a row that another process has measured.
Result ReadResult(const Row& row, const Json& measured) {
    if (measured.contains("why")) {
        return Skip(row, measured["why"]);
    }
    Series series;
    series.library = measured["library_ns"].get<std::vector<double>>();
    series.baseline = measured["baseline_ns"].get<std::vector<double>>();
    series.libraryRuns = measured["library_runs"];
    series.baselineRuns = measured["baseline_runs"];
    Result result = Judge(row, std::move(series));
    result.otherCores = measured["other_cores"];
    return result;
}

Json MeasureHere(const Row& row, const Budget& budget) {
    const DeviceInUse device;
    const Prepared prepared = row.prepare();
    if (!prepared.ok()) {
        return {{"why", prepared.whyNot}};
    }
    const OtherLoad others;
    const Series series = Interleave(prepared.comparison, budget);
    return {{"library_ns", series.library},
            {"library_runs", series.libraryRuns},
            {"baseline_ns", series.baseline},
            {"baseline_runs", series.baselineRuns},
            {"other_cores", others.Cores()}};
}

Result Measure(const Row& row, const Json& peers, const Budget& budget) {
    if (row.prepare) {
        return ReadResult(
            row, Json::parse(InOwnProcess([&] { return MeasureHere(row, budget).dump(); })));
    }
    return peers.contains(row.name) ? ReadResult(row, peers[row.name])
                                    : Skip(row, "measured by another program, which run.sh runs");
}

// What a profiler looks at. Not inlined, so that callgrind can collect in here only.
[[gnu::noinline]] void RunLibraryPart(const Side& library, int64_t iterations) {
    while (iterations > 0) {
        const int64_t runs = std::min(iterations, library.mostRuns);
        library.time(runs);
        iterations -= runs;
    }
}

int Profile(const Row& row, int64_t iterations) {
    const DeviceInUse device;
    const Prepared prepared = row.prepare ? row.prepare() : NotHere("measured in Python");
    if (!prepared.ok()) {
        fmt::print(stderr, "{}: {}\n", row.name, prepared.whyNot);
        return 1;
    }
    RunLibraryPart(prepared.comparison.library, iterations);
    return 0;
}

bool WriteJson(const std::string& path, const Json& json) {
    std::ofstream file(path);
    file << json.dump(1) << '\n';
    file.close();
    if (!file) {
        fmt::print(stderr, "cannot write {}\n", path);
    }
    return !file.fail();
}

// False: one of the names is no row's.
bool KeepOnly(const std::vector<std::string>& names, Rows* rows) {
    Rows kept;
    for (const std::string& name : names) {
        const auto row = std::find_if(rows->begin(), rows->end(),
                                      [&](const Row& each) { return each.name == name; });
        if (row == rows->end()) {
            fmt::print(stderr, "no row is called {}; --list names them\n", name);
            return false;
        }
        kept.push_back(*row);
    }
    *rows = std::move(kept);
    return true;
}

int Run(const Options& options, const Rows& rows) {
    if (options.iterations > 0) {
        return Profile(rows.front(), options.iterations);
    }
    Json peers = Json::object();
    for (const std::string& path : options.peers) {
        std::ifstream file(path);
        const Json more = Json::parse(file, nullptr, false);
        if (!more.is_object()) {
            fmt::print(stderr,
                       "{} is not a file of peers.py, torch_operators.py or graph_benchmark\n",
                       path);
            return 1;
        }
        peers.update(more);
    }
    std::optional<EarlierRun> earlier;
    if (!options.compare.empty()) {
        earlier = EarlierRun::Read(options.compare);
        if (!earlier) {
            fmt::print(stderr, "{} is not a file of --json\n", options.compare);
            return 1;
        }
    }
    std::vector<std::string> moved;
    const Budget budget = BudgetOf(options);
    Json json = {{"machine",
                  {{"cpu", CpuModel()},
                   {"hardware_threads", std::thread::hardware_concurrency()},
                   {"compiler", __VERSION__}}},
                 {"rows", Json::array()}};
    constexpr double kManyOtherCores = 0.2;
    int disturbed = 0;
    int counts[3] = {};
    fmt::print("{}\n", TableHeading());
    for (const Row& row : rows) {
        const Result result = Measure(row, peers, budget);
        fmt::print("{}\n", TableLine(result));
        std::fflush(stdout);
        json["rows"].push_back(ToJson(result));
        ++counts[static_cast<int>(result.verdict)];
        if (const auto line = earlier ? earlier->Moved(result) : std::nullopt; line) {
            moved.push_back(*line);
        }
        disturbed += result.otherCores > kManyOtherCores ? 1 : 0;
    }
    fmt::print("{} rows: {} hold, {} do not, {} skipped\n", rows.size(), counts[0], counts[1],
               counts[2]);
    if (disturbed > 0) {
        fmt::print("{} rows were measured while other programs used over {} cores: see others\n",
                   disturbed, kManyOtherCores);
    }
    if (earlier) {
        fmt::print("{} rows moved beyond their quartiles since {}\n", moved.size(),
                   options.compare);
        for (const std::string& line : moved) {
            fmt::print("{}\n", line);
        }
    }
    if (options.curves) {
        const DeviceInUse device;
        Budget short_ = budget;
        short_.seconds /= 4;
        json["curves"] = MeasureCurves(short_);
        json["curves"]["peers"] = peers.value("curves", Json::object());
    }
    return options.json.empty() || WriteJson(options.json, json) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app("Measures every performance goal beside its baseline.", "dashboard");
    AddOptions(&app, &options);
    CLI11_PARSE(app, argc, argv);
    Rows rows = AllRows();
    if (options.list) {
        for (const Row& row : rows) {
            fmt::print("{}\n", row.name);
        }
        return 0;
    }
    if (!options.only.empty() && !KeepOnly(options.only, &rows)) {
        return 1;
    }
    if (options.iterations > 0 && rows.size() != 1) {
        fmt::print(stderr, "--iterations is for one row; --row names {}\n", rows.size());
        return 1;
    }
    return Run(options, rows);
}
