// SPDX-License-Identifier: Apache-2.0
// main() of a program of benchmarks that does something before.

#pragma once

#include <benchmark/benchmark.h>

#include <cstdlib>

inline int RunBenchmarks(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
        return EXIT_FAILURE;
    }
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return EXIT_SUCCESS;
}
