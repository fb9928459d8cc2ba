// SPDX-License-Identifier: Apache-2.0
// Makes steps of AdvanceStep and of the bare loop, and compares them.

#include "tests/benchmark/same_steps.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

void RequireSameRows(const AdvanceBatch& library, const BareBatch& plain) {
    const BareBatch got = library.Outputs();
    const std::pair<const std::vector<int64_t>&, const std::vector<int64_t>&> pairs[] = {
        {got.inputTokens, plain.inputTokens},
        {got.inputPositions, plain.inputPositions},
        {got.seqLens, plain.seqLens},
        {got.slotMapping, plain.slotMapping}};
    const auto queries = static_cast<std::ptrdiff_t>(plain.sampledTokenIds.size());
    for (const auto& [ours, theirs] : pairs) {
        if (!std::equal(ours.begin(), ours.begin() + queries, theirs.begin())) {
            std::fprintf(stderr, "AdvanceStep and the plain update differ at N = %td\n",
                         queries + 1);
            std::exit(1);
        }
    }
}

void RequireSameSteps(AdvanceBatch* library, BareSteps* plain) {
    constexpr int64_t kCompared = 20;  // more than a block
    library->MakeRoom(kCompared);
    plain->MakeRoom(kCompared);
    for (int64_t step = 0; step < kCompared; ++step) {
        library->Call();
        plain->Run();
    }
    RequireSameRows(*library, plain->batch());
}
