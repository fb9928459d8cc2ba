// SPDX-License-Identifier: Apache-2.0
// Handles of operators that one thread copies and drops while another links the operators.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "graph/graph_fixture.h"

namespace {

// The link moves the operator to a larger group, again and again.
TEST(OperatorHandleTest, MayBeCopiedWhileTheOperatorIsLinked) {
    constexpr int kRounds = 500;
    for (int round = 0; round < kRounds; ++round) {
        const ge::op::Data moved("moved");
        std::atomic<bool> isLinked{false};
        std::atomic<int> copies{0};
        std::thread copier([&] {
            while (!isLinked) {
                const ge::Operator copy(moved);
                ++copies;
            }
        });
        while (copies == 0) {
            std::this_thread::yield();
        }
        ge::op::AdvanceStep one("one"), two("two");
        two.AddControlInput(one);
        one.SetInput("seq_lens", moved);
        isLinked = true;
        copier.join();
        EXPECT_EQ(one.GetInputsSize(), 8U);
    }
}

}  // namespace
