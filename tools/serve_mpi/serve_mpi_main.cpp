// SPDX-License-Identifier: Apache-2.0
// Serves a request trace on the ranks of MPI: see docs/scaling.md.
#include <fmt/format.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>

#include "cluster_options.h"
#include "cluster_summary.h"
#include "interrupt.h"
#include "mpi_cluster.h"
#include "mpi_link.h"
#include "output_file.h"
#include "replay.h"
#include "standard_streams.h"

namespace serve {
namespace {

void Set(const char* name, const std::string& value) {
    // aclInit reads it. MPI's threads do not ask for it.
    setenv(name, value.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
}

// Another SoC, number of threads and order of cores for each of eight ranks, then the same again.
void EmulateOtherDevice(int rank) {
    constexpr const char* kSocs[] = {"Ascend910B3",    "Ascend910B1", "sim:7", "sim:1",
                                     "Ascend910_9391", "sim:64",      "sim:3", "sim:20"};
    Set("ADVANCE_STEP_SOC", kSocs[rank % 8]);
    Set("ADVANCE_STEP_THREADS", std::to_string(1 + rank % 3));
    Set("ADVANCE_STEP_CORE_ORDER", rank % 2 == 0 ? "ascending" : std::to_string(rank));
}

int Replay(const ClusterOptions& options) {
    CatchInterrupt();
    options.ExpectDistinctFiles();
    std::optional<OutputFile> summary;
    std::optional<OutputFile> requests;
    std::optional<OutputFile> report;
    OpenIfNamed(summary, options.serving.summary, "the summary");
    OpenIfNamed(requests, options.serving.requests, "the requests");
    OpenIfNamed(report, options.serving.report, "the report");
    std::optional<OtherRun> other;
    if (!options.serving.compare.empty()) {
        other = ReadReport(options.serving.compare);
    }
    const ClusterResult result = ReplayAssignment(options);
    if (!result.failure.empty()) {
        Tell(result.failure);
    }
    // The replicas are groups of one here.
    ClusterOptions single = options;
    single.tensorParallel = 1;
    bool written = result.traced;
    written &= Written(
        summary, [&] { return ClusterSummaryText(single, result); }, "--summary");
    written &= Written(
        requests, [&] { return FinishedText(result.finished); }, "--requests");
    if (!result.ranks.empty()) {
        written &= Written(
            report, [&] { return ClusterReportPage(single, result, other ? &*other : nullptr); },
            "--report");
    }
    PrintClusterSummary(single, result);
    FlushStandardOutput();
    return result.Good() && written ? EXIT_SUCCESS : EXIT_FAILURE;
}

int ServeOnRanks(const ClusterOptions& options, int ranks, int rank) {
    if (options.Ranks() != ranks) {
        if (rank == 0) {
            fmt::print(stderr,
                       "serve_mpi: --data-parallel {} x --tensor-parallel {} are {} ranks; mpirun "
                       "has started {}\n",
                       options.dataParallel, options.tensorParallel, options.Ranks(), ranks);
        }
        return EXIT_FAILURE;
    }
    CatchTerminate();
    if (options.mixedDevices) {
        EmulateOtherDevice(rank);
    }
    options.ChooseDeviceTrace(rank);
    Link link({static_cast<int>(options.dataParallel), static_cast<int>(options.tensorParallel)},
              options.timeoutSeconds);
    return rank == 0 ? RunFirstRank(link, options) : RunOtherRank(link, options);
}

int Main(int argc, char** argv) {
    int ranks = 1;
    int rank = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const ParsedClusterOptions parsed = ParseClusterOptions(argc, argv, rank == 0);
    if (parsed.exitStatus) {
        return *parsed.exitStatus;
    }
    if (parsed.options.assignmentIn.empty()) {
        return ServeOnRanks(parsed.options, ranks, rank);
    }
    return rank == 0 ? Replay(parsed.options) : EXIT_SUCCESS;
}

}  // namespace
}  // namespace serve

int main(int argc, char** argv) {
    serve::PrepareStandardStreams("serve_mpi");  // before MPI opens files
    MPI_Init(&argc, &argv);
    int status = EXIT_FAILURE;
    try {
        status = serve::Main(argc, argv);
    } catch (const std::exception& error) {
        serve::Tell(error.what());
    }
    MPI_Finalize();
    return status;
}
