// SPDX-License-Identifier: Apache-2.0
// Random graphs against their model; the fuzzer fuzz_graph makes them of any bytes.
#include <gtest/gtest.h>

#include <random>

#include "fuzz/fuzz_input.h"
#include "graph/graph_fixture.h"
#include "support/random_graph_maker.h"

namespace {

using support::RandomOutcome;

class RandomGraphTest : public graphs::GraphTest {};

TEST_F(RandomGraphTest, AgreesWithItsModel) {
    std::map<RandomOutcome, int> outcomes;
    for (uint32_t seed = 1; seed <= 3000; ++seed) {
        std::mt19937 random(seed);
        std::vector<uint8_t> bytes(4000);
        for (uint8_t& byte : bytes) {
            byte = static_cast<uint8_t>(random());
        }
        FuzzInput input(bytes.data(), bytes.size());
        const support::RandomGraph graph = support::MakeRandomGraph(&input);
        RandomOutcome outcome = RandomOutcome::kRan;
        const auto wrong = graph.Check(Session(), seed, &outcome);
        ASSERT_FALSE(wrong.has_value()) << "seed " << seed << ": " << *wrong;
        ++outcomes[outcome];
    }
    // Every outcome is common.
    EXPECT_GE(outcomes[RandomOutcome::kRan], 300);
    EXPECT_GE(outcomes[RandomOutcome::kDataError], 300);
    EXPECT_GE(outcomes[RandomOutcome::kRefused], 300);
}

}  // namespace
