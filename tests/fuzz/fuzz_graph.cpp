// SPDX-License-Identifier: Apache-2.0
// Random graphs of AdvanceStep operators: never a crash, and the result, or the refusal, of a model
// that advances plain vectors.
#include <cstdio>
#include <cstdlib>

#include "fuzz/fuzz_input.h"
#include "support/random_graph_maker.h"

extern "C" int fuzz_graph(const uint8_t* bytes, size_t size) {
    static ge::Session* const session = [] {
        setenv("ADVANCE_STEP_SOC", "sim:3", 1);
        if (ge::GEInitialize({}) != ge::SUCCESS) {
            std::abort();
        }
        return new ge::Session(std::map<ge::AscendString, ge::AscendString>());
    }();
    FuzzInput input(bytes, size);
    const support::RandomGraph graph = support::MakeRandomGraph(&input);
    support::RandomOutcome outcome = support::RandomOutcome::kRan;
    if (const auto wrong = graph.Check(*session, 1, &outcome)) {
        std::fprintf(stderr, "%s\n", wrong->c_str());
        std::abort();
    }
    return 0;
}
