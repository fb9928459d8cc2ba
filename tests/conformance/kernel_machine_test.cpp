// SPDX-License-Identifier: Apache-2.0
// Blocks of a launch on machines of each kind, and on the threads that run them.
#include <array>
#include <string>
#include <thread>
#include <vector>

#include "conformance/kernel_launch_fixture.h"
#include "support/table.h"

namespace conformance {
namespace {

struct MachineCase {
    std::string name;
    const char* threads;
    const char* coreOrder;
    uint32_t cores;  // limit
};

class KernelMachineTest : public KernelLaunchTest, public testing::WithParamInterface<MachineCase> {
 protected:
    void SetUp() override {
        ASSERT_NO_FATAL_FAILURE(RestartWith({{"ADVANCE_STEP_THREADS", GetParam().threads},
                                             {"ADVANCE_STEP_CORE_ORDER", GetParam().coreOrder}}));
        ASSERT_TRUE(IsOk(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, GetParam().cores)));
    }
};

TEST_P(KernelMachineTest, EveryBlockRunsOnce) {
    for (const uint32_t blocks : {1U, 2U, 7U, 40U, 41U, 257U, 1000U, 65535U}) {
        const Values values{std::vector<int64_t>(blocks)};
        ASSERT_TRUE(IsOk(LaunchAndWait("count_blocks", blocks, values.With(0))));
        EXPECT_EQ(values.Read(), std::vector<int64_t>(blocks, blocks));
    }
}

TEST_P(KernelMachineTest, NoMoreBlocksAtATimeThanCores) {
    const Values values{std::vector<int64_t>(2)};
    ASSERT_TRUE(IsOk(LaunchAndWait("most_at_a_time", 300, values.With(0))));
    EXPECT_GE(values.Read()[1], 1);
    EXPECT_LE(values.Read()[1], GetParam().cores);
}

TEST_P(KernelMachineTest, TheLowestRowsFaultIsTold) {
    const Values values({5, 5, -7, 5, -9, 5});
    for (const uint32_t blocks : {1U, 3U, 6U}) {
        EXPECT_TRUE(IsError(kFault, LaunchAndWait("check_rows", blocks, values.With(11)),
                            {"check_rows: row 2 has a fault of kind 3 with -7, 11, which block " +
                             std::to_string(2 % blocks) + " of " + std::to_string(blocks)}));
    }
}

// Several blocks report the same row: that of the lowest block is told, whichever ran first.
TEST_P(KernelMachineTest, OfOneRowTheLowestBlocksFirstFaultIsTold) {
    const Values values{std::vector<int64_t>(1)};
    for (int repeat = 0; repeat < 20; ++repeat) {
        ASSERT_TRUE(IsError(kFault, LaunchAndWait("same_row", 200, values.With(12)),
                            {"same_row: row 12 has a fault of kind 0 with 1, 2, 3, 4, which block "
                             "0 of 200 reports"}));
        ASSERT_TRUE(IsError(kFault, LaunchAndWait("same_row", 200, values.With(-5)),
                            {"same_row: the data has a fault of kind 0"}));
    }
}

INSTANTIATE_TEST_SUITE_P(Table, KernelMachineTest,
                         testing::Values(MachineCase{"OneThread", "1", "ascending", 40},
                                         MachineCase{"TwoThreads", "2", "ascending", 40},
                                         MachineCase{"FourThreads", "4", "ascending", 40},
                                         MachineCase{"Shuffled", "3", "7", 40},
                                         MachineCase{"OneCore", "4", "ascending", 1},
                                         MachineCase{"ThreeCores", "4", "3", 3}),
                         support::CaseName());

// A call that may wait for the kernel itself is refused on every thread that runs a block: on that
// of the stream's tasks and on one that helps.
TEST_F(KernelLaunchTest, CallsThatWaitAreRefusedOnEveryThread) {
    ASSERT_NO_FATAL_FAILURE(RestartWith({{"ADVANCE_STEP_THREADS", "2"}}));
    struct Seen {
        std::array<aclError, 2> created;
        std::array<aclError, 2> destroyed;
        std::array<aclrtContext, 2> contexts;
        std::array<std::thread::id, 2> threads;
    };
    Seen seen{};
    const PinnedArray<int64_t> entered(1);
    const CallArguments arguments{
        entered.Get(),
        [](void* argument, uint32_t block) {
            auto* const mine = static_cast<Seen*>(argument);
            mine->created[block] = aclrtCreateContext(&mine->contexts[block], 0);
            mine->destroyed[block] = aclrtDestroyContext(mine->contexts[block]);
            mine->threads[block] = std::this_thread::get_id();
        },
        &seen};
    const Stream stream = MakeStream();
    ASSERT_TRUE(IsOk(LaunchWith(Function("calls_together"), 2, arguments, stream.Get())));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_NE(seen.threads[0], seen.threads[1]);
    for (size_t block = 0; block < 2; ++block) {
        EXPECT_EQ(seen.created[block], ACL_SUCCESS);
        EXPECT_EQ(seen.destroyed[block], ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
        EXPECT_TRUE(IsOk(aclrtDestroyContext(seen.contexts[block])));
    }
}

}  // namespace
}  // namespace conformance
