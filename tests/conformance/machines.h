// SPDX-License-Identifier: Apache-2.0
// Emulated machines that must not change a result: SoCs, threads, orders of cores, instruction
// sets.
#ifndef ADVANCE_STEP_TESTS_CONFORMANCE_MACHINES_H_
#define ADVANCE_STEP_TESTS_CONFORMANCE_MACHINES_H_

#include <string>
#include <vector>

#include "support/settings.h"

namespace conformance {

struct Machine {
    std::string name;
    std::string soc;
    std::string threads;
    std::string order;
    std::string isa = "auto";

    support::Settings With(const std::string& conformance) const {
        return {{"ADVANCE_STEP_CONFORMANCE", conformance},
                {"ADVANCE_STEP_SOC", soc},
                {"ADVANCE_STEP_THREADS", threads},
                {"ADVANCE_STEP_CORE_ORDER", order},
                {"ADVANCE_STEP_ISA", isa}};
    }
};

// Machines of any number of cores.
inline std::vector<Machine> Machines() {
    std::vector<Machine> machines = {{"Default", "Ascend910B3", "2", "ascending"},
                                     {"OneCore", "sim:1", "1", "ascending"},
                                     {"OneCoreFourThreads", "sim:1", "4", "7"},
                                     {"TwoCores", "sim:2", "1", "1"},
                                     {"SevenCores", "sim:7", "3", "2"},
                                     {"ThirteenCores", "sim:13", "4", "3"},
                                     {"TwentyCores", "sim:20", "2", "4"},
                                     {"FortyShuffled", "sim:40", "4", "5"},
                                     {"FortyOneThread", "Ascend910B4", "1", "6"},
                                     {"FortySevenCores", "sim:47", "3", "8"},
                                     {"FortyEightCores", "Ascend910B1", "4", "9"},
                                     {"Sim48", "sim:48", "2", "10"},
                                     {"Baseline", "Ascend910B3", "2", "ascending", "baseline"}};
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        machines.push_back({"Avx2", "Ascend910B3", "2", "ascending", "avx2"});
    }
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
        machines.push_back({"Avx512", "Ascend910B3", "2", "ascending", "avx512"});
    }
#endif
    return machines;
}

// Machines of 40 or 48 vector cores, which conformance exact depends on.
inline std::vector<Machine> ExactMachines(int cores) {
    const std::string soc = cores == 40 ? "Ascend910B3" : "Ascend910B1";
    const std::string sim = "sim:" + std::to_string(cores);
    return {{"Default", soc, "2", "ascending"}, {"OneThread", soc, "1", "ascending"},
            {"Shuffled", soc, "4", "1"},        {"ShuffledAgain", soc, "3", "2"},
            {"Sim", sim, "2", "ascending"},     {"SimShuffled", sim, "4", "3"}};
}

}  // namespace conformance

#endif  // ADVANCE_STEP_TESTS_CONFORMANCE_MACHINES_H_
