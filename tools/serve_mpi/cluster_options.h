// SPDX-License-Identifier: Apache-2.0
// The options of serve_mpi's command line.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "output_file.h"
#include "serve_options.h"

namespace serve {

/// Faults on purpose, for tests: what a rank does after a step.
struct RankFault {
    int rank = -1;     // -1: none
    int64_t step = 0;  // iterations before
};

struct FlipFault : RankFault {
    std::string tensor;
};

struct ClusterOptions {
    Options serving;
    int64_t dataParallel = 1;
    int64_t tensorParallel = 1;
    double windowSeconds = 0.02;
    double timeoutSeconds = 30;
    std::string assignmentIn;   // empty: the dispatcher decides
    std::string assignmentOut;  // empty: no file
    bool mixedDevices = false;
    bool progress = false;
    std::string deviceTrace;  // as ADVANCE_STEP_TRACE was at the start; empty: no trace

    RankFault killAt;  // SIGKILL
    RankFault stopAt;  // SIGSTOP: alive, but silent
    FlipFault flipAt;
    int slowRank = -1;
    int64_t slowMicroseconds = 0;  // in every step

    std::vector<NamedFile> Outputs() const;
    std::vector<NamedFile> Inputs() const;
    /// @throws std::runtime_error  two files, traces of devices included, are the same, or such a
    ///                             trace is the file of the standard output or error
    void ExpectDistinctFiles() const;
    /// The trace of a rank or, with assignmentIn, of a replica: with deviceTrace run.json it is
    /// run.rank1.json, run.replica1.json. A single one has deviceTrace itself, and so have all if
    /// that is no regular file, as /dev/null.
    std::string DeviceTraceOf(int64_t index) const;
    /// Sets ADVANCE_STEP_TRACE, which the next aclInit reads, to that file.
    void ChooseDeviceTrace(int64_t index) const;
    int64_t WindowTicks() const;
    int64_t Ranks() const { return dataParallel * tensorParallel; }

 private:
    int64_t DeviceTraces() const;
};

struct ParsedClusterOptions {
    ClusterOptions options;
    std::optional<int> exitStatus;  // as ParsedOptions
};

/// @param talks  whether help and complaints are printed: one rank does it for all
ParsedClusterOptions ParseClusterOptions(int argc, char** argv, bool talks);

}  // namespace serve
