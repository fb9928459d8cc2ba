// SPDX-License-Identifier: Apache-2.0
// The phases of Step one after the other on host memory, cores in any order or in one call: what is
// planned before anything is written, and what is written then.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "op_kernel/step/step_bits.h"
#include "op_kernel/step/step_kernels.h"
#include "op_kernel/step/step_rules.h"
#include "op_kernel/step/step_tiling_data.h"
#include "src/aclnn/run.h"

namespace advstep {
namespace {

constexpr int64_t kBatch = 68, kWidth = 4, kFree = 8, kInput = 16, kPre = 16;
constexpr KernelFn kPhases[] = {&StepCollect, &StepDecide, &StepGiveBack, &StepHandOut,
                                &StepRecover};

// The slots with something to do: two of each core.
constexpr size_t kFinished = 0, kRuns = 63, kNeedy = 64, kIdle = 67;

enum class Cores { kForwards, kBackwards, kMerged, kOne };
constexpr Cores kEveryWay[] = {Cores::kForwards, Cores::kBackwards, Cores::kMerged, Cores::kOne};

// Two cores, blocks of 4 tokens. kFinished has blocks 10 and 11; kRuns runs with 12, 13 and 14;
// kNeedy runs with 15 and needs one more; all others are idle.
class StepPhasesTest : public testing::Test {
 protected:
    StepPhasesTest() { SetUpAgain(); }

    void SetUpAgain() {
        for (auto* values : {&thisTime_, &encoder_, &decoder_, &encoderBlocks_, &used_}) {
            values->assign(kBatch, 0);
        }
        for (auto* list : {&stack_, &recovered_, &need_}) {
            list->assign(kBatch, -1);
        }
        stackLen_ = recoverLen_ = needLen_ = freeLen_ = 0;
        stop_.assign(kBatch, 1);
        stop_[kRuns] = stop_[kNeedy] = 0;
        preempted_.assign(kBatch, 0);
        thisTime_[kRuns] = thisTime_[kNeedy] = 1;
        prompt_.assign(kBatch, 4);
        decoder_[kFinished] = 8;
        decoder_[kRuns] = 10;
        decoder_[kNeedy] = 4;
        used_[kFinished] = 2;
        used_[kRuns] = 3;
        used_[kNeedy] = 1;
        table_.assign(kBatch * kWidth, -1);
        std::iota(Row(kFinished), Row(kFinished) + 2, 10);
        std::iota(Row(kRuns), Row(kRuns) + 3, 12);
        *Row(kNeedy) = 15;
        free_.assign(kFree, 0);
        input_.assign(kBatch * kInput, 1);
        pre_.assign(kBatch * kPre, 2);
        generated_.assign(kBatch, 3);
        next_.assign(kBatch, 7);
        first_.assign(kBatch, 20);
    }

    int32_t* Row(size_t slot) { return &table_[slot * kWidth]; }

    StepPayload Payload(int32_t cores = 2) {
        StepPayload p{};
        p.tiling = {
            cores, 0,   kSlotsPerWord * (3 - cores), kBatch, kWidth, kFree, kInput, kPre, 4, 2,
            0,     0.25};
        p.args = {stop_.data(),    thisTime_.data(), prompt_.data(),        encoder_.data(),
                  decoder_.data(), table_.data(),    encoderBlocks_.data(), preempted_.data(),
                  stack_.data(),   &stackLen_,       recovered_.data(),     &recoverLen_,
                  need_.data(),    &needLen_,        used_.data(),          free_.data(),
                  &freeLen_,       input_.data(),    pre_.data(),           generated_.data(),
                  next_.data(),    first_.data()};
        advance_step::op::WorkspaceLayout layout;
        p.offsets.plan = layout.Book<StepPlan>(1);
        p.offsets.counts = layout.Book<StepCoreCounts>(2);
        for (auto* set :
             {&p.offsets.releases, &p.offsets.needs, &p.offsets.served, &p.offsets.waiting}) {
            *set = layout.Book<uint64_t>(WordsOf(kBatch));
        }
        p.offsets.nextCandidate = layout.Book<int32_t>(kBatch);
        p.offsets.firstCandidate = layout.Book<int32_t>(kWidth + 2);
        p.offsets.victims = layout.Book<StepVictim>(kBatch);
        p.offsets.recoveries = layout.Book<StepRecovery>(kBatch);
        workspace_.resize(layout.bytes() / sizeof(uint64_t) + 1);
        p.workspace = reinterpret_cast<uint8_t*>(workspace_.data());
        return p;
    }

    // Runs phases [begin, end) on two cores, or all of them on one.
    Fault Run(size_t begin, size_t end, Cores cores = Cores::kForwards) {
        Fault fault;
        if (cores == Cores::kOne) {
            const StepPayload payload = Payload(1);
            StepOnOneCore({0, &fault, 1}, &payload);
            return fault;
        }
        const StepPayload payload = Payload();
        for (size_t phase = begin; phase < end && !fault.found(); ++phase) {
            if (cores == Cores::kMerged) {
                kPhases[phase]({0, &fault, 2}, &payload);
                continue;
            }
            for (const int32_t core : {0, 1}) {
                kPhases[phase]({cores == Cores::kBackwards ? 1 - core : core, &fault, 1}, &payload);
            }
        }
        return fault;
    }

    std::array<int64_t, StepCounter::kCount> Counts() {
        const StepPayload payload = Payload();
        std::array<int64_t, StepCounter::kCount> numbers{};
        CountStep(&payload, numbers.data());
        return numbers;
    }

    std::vector<uint8_t> stop_, preempted_;
    std::vector<int32_t> thisTime_, prompt_, encoder_, decoder_, table_, encoderBlocks_, stack_,
        recovered_, need_, used_, free_;
    std::vector<int64_t> input_, pre_, generated_, next_, first_;
    int32_t stackLen_ = 0, recoverLen_ = 0, needLen_ = 0, freeLen_ = 0;
    std::vector<uint64_t> workspace_;
};

TEST_F(StepPhasesTest, ReleasedBlocksServeWhoNeedsOneInAnyOrderOfCores) {
    for (const Cores cores : kEveryWay) {
        SCOPED_TRACE(static_cast<int>(cores));
        SetUpAgain();
        auto table = table_;
        std::fill_n(&table[kFinished * kWidth], 2, -1);
        table[kNeedy * kWidth + 1] = 11;
        EXPECT_FALSE(Run(0, 5, cores).found());
        EXPECT_EQ(freeLen_, 1);
        EXPECT_EQ(free_[0], 10);
        EXPECT_EQ(table_, table);
        EXPECT_EQ(used_[kFinished], 0);
        EXPECT_EQ(used_[kRuns], 3);
        EXPECT_EQ(used_[kNeedy], 2);
        EXPECT_EQ(first_[kFinished], -1);
        EXPECT_EQ(first_[kIdle], -1);
        EXPECT_EQ(first_[kRuns], 20);
        EXPECT_EQ(need_[0], -1);
        EXPECT_EQ(needLen_, 0);
    }
}

// Both cores release and both need: the places of the second begin where those of the first end.
TEST_F(StepPhasesTest, CoresTakeTheirPlacesOneBehindTheOther) {
    for (const Cores cores : kEveryWay) {
        SCOPED_TRACE(static_cast<int>(cores));
        SetUpAgain();
        used_[kIdle] = 2;
        std::iota(Row(kIdle), Row(kIdle) + 2, 16);
        used_[kRuns] = 2;
        *(Row(kRuns) + 2) = -1;
        EXPECT_FALSE(Run(0, 5, cores).found());
        // The free list was 10, 11, 16, 17.
        EXPECT_EQ(Row(kRuns)[2], 17);
        EXPECT_EQ(Row(kNeedy)[1], 16);
        EXPECT_EQ(freeLen_, 2);
        EXPECT_EQ(free_[0], 10);
        EXPECT_EQ(free_[1], 11);
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
    for (const Cores cores : kEveryWay) {
        SCOPED_TRACE(static_cast<int>(cores));
        SetUpAgain();
        used_[kFinished] = 0;
        EXPECT_FALSE(Run(0, 5, cores).found());
        // 12, 13 and 14 come free, 14 is handed out, and two are too few for kRuns to come back.
        EXPECT_EQ(stackLen_, 1);
        EXPECT_EQ(stack_[0], static_cast<int32_t>(kRuns));
        EXPECT_EQ(preempted_[kRuns], 1);
        EXPECT_EQ(Row(kNeedy)[1], 14);
        EXPECT_EQ(freeLen_, 2);
        const auto counts = Counts();
        EXPECT_EQ(counts[StepCounter::kPreempted], 1);
        EXPECT_EQ(counts[StepCounter::kNeeded], 1);
        EXPECT_EQ(counts[StepCounter::kDispatched], 1);
        EXPECT_EQ(counts[StepCounter::kRecovered], 0);
    }
}

TEST_F(StepPhasesTest, NoProgressWhenNothingIsLeftToPreempt) {
    for (const Cores cores : kEveryWay) {
        SCOPED_TRACE(static_cast<int>(cores));
        SetUpAgain();
        used_.assign(kBatch, 0);
        const auto table = table_;
        const Fault fault = Run(0, 5, cores);
        ASSERT_TRUE(fault.found());
        EXPECT_EQ(fault.kind, static_cast<int32_t>(StepFault::kNoProgress));
        EXPECT_EQ(fault.values[0], 1);
        EXPECT_EQ(fault.values[1], 0);
        EXPECT_EQ(table_, table);
        EXPECT_EQ(first_[kFinished], 20);
    }
}

// Slots 5 and 66 are bad: 5 in the word that is looked at at once, 66 in the one that is not.
TEST_F(StepPhasesTest, TheLowestBadSlotIsReported) {
    for (const Cores cores : kEveryWay) {
        SCOPED_TRACE(static_cast<int>(cores));
        SetUpAgain();
        used_[66] = -3;
        Fault fault = Run(0, 5, cores);
        ASSERT_TRUE(fault.found());
        EXPECT_EQ(fault.row, 66);
        EXPECT_EQ(fault.kind, static_cast<int32_t>(StepFault::kNegativeUsed));
        decoder_[5] = -2;
        thisTime_[5] = 1;
        stop_[5] = 0;
        fault = Run(0, 5, cores);
        EXPECT_EQ(fault.row, 5);
        EXPECT_EQ(fault.kind, static_cast<int32_t>(StepFault::kNegativeDecoder));
        EXPECT_EQ(first_[kFinished], 20);
    }
}

TEST_F(StepPhasesTest, APreemptedSlotComesBackWithItsTokens) {
    for (const Cores cores : kEveryWay) {
        SCOPED_TRACE(static_cast<int>(cores));
        SetUpAgain();
        preempted_[kIdle] = 1;
        stack_[0] = kIdle;
        stackLen_ = 1;
        thisTime_[kNeedy] = 0;  // nobody needs a block
        first_[kIdle] = 50;
        EXPECT_FALSE(Run(0, 5, cores).found());
        EXPECT_EQ(stackLen_, 0);
        EXPECT_EQ(stack_[0], -1);
        EXPECT_EQ(Row(kIdle)[0], 11);
        EXPECT_EQ(used_[kIdle], 1);
        EXPECT_EQ(thisTime_[kIdle], 7);
        EXPECT_EQ(encoder_[kIdle], 7);
        EXPECT_EQ(input_[kIdle * kInput], 50);
        EXPECT_EQ(input_[kIdle * kInput + 4], 2);
        EXPECT_EQ(input_[kIdle * kInput + 6], 7);
    }
}

}  // namespace
}  // namespace advstep
