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

    RankFault killAt;  // SIGKILL
    RankFault stopAt;  // SIGSTOP: alive, but silent
    FlipFault flipAt;
    int slowRank = -1;
    int64_t slowMicroseconds = 0;  // in every step

    std::vector<NamedFile> Outputs() const;
    std::vector<NamedFile> Inputs() const;
    int64_t WindowTicks() const;
    int64_t Ranks() const { return dataParallel * tensorParallel; }
};

struct ParsedClusterOptions {
    ClusterOptions options;
    std::optional<int> exitStatus;  // as ParsedOptions
};

/// @param talks  whether help and complaints are printed: one rank does it for all
ParsedClusterOptions ParseClusterOptions(int argc, char** argv, bool talks);

}  // namespace serve
