// The phases of Step one after the other on host memory, cores in any order: what is planned before
// anything is written, and what is written then.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "op_kernel/step/step_kernels.h"
#include "op_kernel/step/step_tiling_data.h"

namespace advstep {
namespace {

constexpr int64_t kBatch = 4;
constexpr int64_t kWidth = 4;
constexpr int64_t kFree = 8;
constexpr int64_t kInput = 16;
constexpr int64_t kPre = 16;
constexpr KernelFn kPhases[] = {&StepCollect, &StepDecide, &StepGiveBack, &StepHandOut,
                                &StepRecover};

// Four slots, a core for each two, blocks of 4 tokens. Slot 0 has finished with blocks 10 and 11;
// slot 1 runs with 12, 13 and 14; slot 2 runs with 15 and needs one more; slot 3 is idle.
class StepPhasesTest : public testing::Test {
 protected:
    StepPhasesTest() { SetUpAgain(); }

    void SetUpAgain() {
        for (auto* values : {&thisTime_, &prompt_, &encoder_, &decoder_, &encoderBlocks_, &used_}) {
            values->assign(kBatch, 0);
        }
        for (auto* list : {&stack_, &recovered_, &need_}) {
            list->assign(kBatch, -1);
        }
        stackLen_ = recoverLen_ = needLen_ = freeLen_ = 0;
        stop_ = {1, 0, 0, 1};
        preempted_ = {0, 0, 0, 0};
        thisTime_ = {0, 1, 1, 0};
        prompt_ = {4, 4, 4, 4};
        decoder_ = {8, 10, 4, 0};
        used_ = {2, 3, 1, 0};
        table_ = {10, 11, -1, -1, 12, 13, 14, -1, 15, -1, -1, -1, -1, -1, -1, -1};
        free_.assign(kFree, 0);
        input_.assign(kBatch * kInput, 1);
        pre_.assign(kBatch * kPre, 2);
        generated_.assign(kBatch, 3);
        next_.assign(kBatch, 7);
        first_ = {20, 21, 22, -1};
    }

    StepPayload Payload() {
        StepPayload p{};
        p.tiling = {2, 0, 2, kBatch, kWidth, kFree, kInput, kPre, 4};
        p.args = {stop_.data(),    thisTime_.data(), prompt_.data(),        encoder_.data(),
                  decoder_.data(), table_.data(),    encoderBlocks_.data(), preempted_.data(),
                  stack_.data(),   &stackLen_,       recovered_.data(),     &recoverLen_,
                  need_.data(),    &needLen_,        used_.data(),          free_.data(),
                  &freeLen_,       input_.data(),    pre_.data(),           generated_.data(),
                  next_.data(),    first_.data()};
        p.offsets = {0, 128, 256, 320, 384, 448, 640};
        p.workspace = reinterpret_cast<uint8_t*>(workspace_.data());
        return p;
    }

    // Runs phases [begin, end); with `backwards` the later core first.
    Fault Run(size_t begin, size_t end, bool backwards = false) {
        const StepPayload payload = Payload();
        Fault fault;
        for (size_t phase = begin; phase < end && !fault.found(); ++phase) {
            for (int32_t core = 0; core < 2; ++core) {
                kPhases[phase]({backwards ? 1 - core : core, &fault}, &payload);
            }
        }
        return fault;
    }

    LaunchCounts Counts() {
        const StepPayload payload = Payload();
        return CountStep(&payload);
    }

    std::vector<uint8_t> stop_, preempted_;
    std::vector<int32_t> thisTime_, prompt_, encoder_, decoder_, table_, encoderBlocks_, stack_,
        recovered_, need_, used_, free_;
    std::vector<int64_t> input_, pre_, generated_, next_, first_;
    int32_t stackLen_ = 0, recoverLen_ = 0, needLen_ = 0, freeLen_ = 0;
    std::array<uint64_t, 128> workspace_{};
};

TEST_F(StepPhasesTest, ReleasedBlocksServeWhoNeedsOneInAnyOrderOfCores) {
    for (const bool backwards : {false, true}) {
        SetUpAgain();
        EXPECT_FALSE(Run(0, 5, backwards).found());
        EXPECT_EQ(freeLen_, 1);
        EXPECT_EQ(free_[0], 10);
        EXPECT_EQ(table_, (std::vector<int32_t>{-1, -1, -1, -1, 12, 13, 14, -1, 15, 11, -1, -1, -1,
                                                -1, -1, -1}));
        EXPECT_EQ(used_, (std::vector<int32_t>{0, 3, 2, 0}));
        EXPECT_EQ(first_[0], -1);
    }
}

TEST_F(StepPhasesTest, NothingIsWrittenBeforeTheCommit) {
    const auto table = table_;
    const auto used = used_;
    EXPECT_FALSE(Run(0, 2).found());
    EXPECT_EQ(table_, table);
    EXPECT_EQ(used_, used);
    EXPECT_EQ(freeLen_, 0);
}

TEST_F(StepPhasesTest, TheSlotWithMostBlocksIsPreempted) {
    stop_[0] = 1;
    used_[0] = 0;
    EXPECT_FALSE(Run(0, 5).found());
    // 12, 13 and 14 come free, 14 is handed out, and two are too few for slot 1 to come back.
    EXPECT_EQ(stackLen_, 1);
    EXPECT_EQ(stack_[0], 1);
    EXPECT_EQ(preempted_[1], 1);
    EXPECT_EQ(table_[2 * kWidth + 1], 14);
    EXPECT_EQ(freeLen_, 2);
    const LaunchCounts counts = Counts();
    EXPECT_EQ(counts.preempted, 1);
    EXPECT_EQ(counts.needed, 1);
    EXPECT_EQ(counts.dispatched, 1);
    EXPECT_EQ(counts.recovered, 0);
}

TEST_F(StepPhasesTest, NoProgressWhenNothingIsLeftToPreempt) {
    used_ = {0, 0, 0, 0};
    const Fault fault = Run(0, 5);
    ASSERT_TRUE(fault.found());
    EXPECT_EQ(fault.kind, static_cast<int32_t>(StepFault::kNoProgress));
    EXPECT_EQ(fault.values[0], 1);
    EXPECT_EQ(fault.values[1], 0);
}

TEST_F(StepPhasesTest, APreemptedSlotComesBackWithItsTokens) {
    preempted_[3] = 1;
    stack_[0] = 3;
    stackLen_ = 1;
    used_ = {2, 3, 1, 0};
    thisTime_[2] = 0;  // nobody needs a block
    first_[3] = 50;
    EXPECT_FALSE(Run(0, 5).found());
    EXPECT_EQ(stackLen_, 0);
    EXPECT_EQ(stack_[0], -1);
    EXPECT_EQ(table_[3 * kWidth], 11);
    EXPECT_EQ(used_[3], 1);
    EXPECT_EQ(thisTime_[3], 7);
    EXPECT_EQ(encoder_[3], 7);
    EXPECT_EQ(input_[3 * kInput], 50);
    EXPECT_EQ(input_[3 * kInput + 4], 2);
    EXPECT_EQ(input_[3 * kInput + 6], 7);
}

}  // namespace
}  // namespace advstep
