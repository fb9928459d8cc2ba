// SPDX-License-Identifier: Apache-2.0
// AdvanceStepV2 with spec tokens beside the same update as a plain loop.
#include <memory>

#include "tests/benchmark/dashboard/rows.h"
#include "tests/benchmark/speculative_batch.h"

namespace bench {
namespace {

Prepared PrepareSpeculative(int64_t queries) {
    const auto library = std::make_shared<SpecBatch>(queries);
    library->RequireSame();
    const auto start = std::make_shared<const PlainSpecBatch>(queries);
    const auto plain = std::make_shared<PlainSpecBatch>(*start);
    return {{InARow([library](int64_t) { library->Restart(); }, [library] { library->Run(); },
                    kMostSpecSteps),
             InARow([=](int64_t) { plain->inputPositions = start->inputPositions; },
                    [plain] { AdvanceSpecPlainly(plain.get(), kSpecBlockSize); }, kMostSpecSteps),
             true},
            ""};
}

}  // namespace

Rows SpeculativeRows() {
    return {{"v2_spec_256", "AdvanceStepV2, 256 queries of five rows", "plain loop", AtMost(0.5),
             [] { return PrepareSpeculative(256); }}};
}

}  // namespace bench
