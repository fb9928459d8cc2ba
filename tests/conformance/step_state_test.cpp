// SPDX-License-Identifier: Apache-2.0
// What the device finds wrong with a state, and the edges that are not wrong.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "advance_step/counters.h"
#include "support/runtime_test.h"
#include "support/step_batch.h"
#include "support/table.h"

namespace {

using namespace reference;
using support::IsOk;
using support::StepBatch;

constexpr int kBadData = ACL_ERROR_RT_VECTOR_CORE_EXCEPTION;

constexpr StepDims kStateDims = {6, 7, 6, 7, 16, 10, 4};

// Slot 0 runs, 1 runs and needs a block, 2 has finished, 4 and 3 are preempted and wait, 5 is idle,
// 6 is past the batch. One run releases 2, serves 1 and recovers 4; then 3 does not fit.
StepData GoodState() {
    StepData data = IdleStepData(kStateDims);
    data[kStopFlags] = {0, 0, 1, 1, 1, 1, 0};
    data[kSeqLensThisTime] = {1, 1, 0, 0, 0, 0};
    data[kOriSeqLensEncoder] = {4, 4, 4, 4, 4, 0, -9};
    data[kSeqLensDecoder] = {9, 8, 5, 0, 0, 0, -9};
    data[kStepBlockTables] = {500, 100, 101, -1, -1, -1,  //
                              501, 102, -1,  -1, -1, -1,  //
                              502, 103, -1,  -1, -1, -1,  //
                              503, -1,  -1,  -1, -1, -1,  //
                              504, -1,  -1,  -1, -1, -1,  //
                              -1,  -1,  -1,  -1, -1, -1,  //
                              -1,  -1,  -1,  -1, -1, -1};
    data[kEncoderBlockLens] = {1, 1, 1, 1, 1, 0, -9};
    data[kIsBlockStep] = {0, 0, 0, 1, 1, 0, 1};
    data[kStepBlockList] = {3, 4, -1, -1, -1, -1, -1};
    data[kStepLens] = {2};
    data[kUsedListLen] = {2, 1, 1, 1, 2, 0, -9};
    data[kFreeList] = {104, 105, 106, -1, -1, -1, -1};
    data[kFreeListLen] = {3};
    data[kStepIdx] = {6, 5, 2, 4, 8, 0, -9};
    data[kNextTokens] = {70, 71, 72, 73, 74, 75, 76};
    data[kFirstTokenIds] = {10, 11, 12, 13, 14, 15, 16};
    for (size_t k = 0; k < data[kPreIds].size(); ++k) {
        data[kPreIds][k] = 2000 + static_cast<int64_t>(k);
    }
    return data;
}

using Change = std::function<void(StepData&)>;

Change Set(StepTensor tensor, size_t index, int64_t value) {
    return [=](StepData& data) { data[tensor][index] = value; };
}
Change Both(const Change& first, const Change& second) {
    return [=](StepData& data) {
        first(data);
        second(data);
    };
}

struct StateCase {
    const char* name;
    Change change;
    int64_t slot = -1;  // that the message names; -1: none
    std::vector<int64_t> values = {};
};

class StepStateTest : public support::DeviceTest, public testing::WithParamInterface<StateCase> {
 protected:
    static StepData State() {
        StepData data = GoodState();
        GetParam().change(data);
        return data;
    }
};
class StepBadStateTest : public StepStateTest {};
class StepEdgeStateTest : public StepStateTest {};

TEST_P(StepBadStateTest, IsReportedAndWritesNothing) {
    for (const char* conformance : {"standard", "exact"}) {
        for (const char* soc : {"Ascend910B3", "sim:1", "sim:7"}) {
            SCOPED_TRACE(std::string(conformance) + " " + soc);
            ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_CONFORMANCE", conformance},
                                             {"ADVANCE_STEP_SOC", soc},
                                             {"ADVANCE_STEP_THREADS", "3"},
                                             {"ADVANCE_STEP_CORE_ORDER", "5"}}));
            const support::Stream stream = support::MakeStream();
            StepData expected = State();
            ASSERT_EQ(Step(expected, conformance[0] == 'e').outcome, StepOutcome::kInvalid);
            StepBatch bad(State());
            StepBatch good(GoodState());
            ASSERT_TRUE(IsOk(bad.Plan()));
            ASSERT_TRUE(IsOk(good.Plan()));
            ASSERT_TRUE(IsOk(bad.Launch(stream.Get())));
            ASSERT_TRUE(IsOk(good.Launch(stream.Get())));
            const int status = aclrtSynchronizeStream(stream.Get());
            const std::string message = support::TakeMessage();
            EXPECT_EQ(status, kBadData) << message;
            EXPECT_NE(message.find("aclnnStep"), std::string::npos) << message;
            if (GetParam().slot >= 0) {
                const std::string slot = "slot " + std::to_string(GetParam().slot);
                EXPECT_NE(message.find(slot), std::string::npos) << message;
            }
            for (const int64_t value : GetParam().values) {
                EXPECT_TRUE(support::HasNumber(message, value)) << value << " not in: " << message;
            }
            EXPECT_TRUE(bad.IsUntouched());
            ASSERT_EQ(Step(expected = GoodState(), false).outcome, StepOutcome::kOk);
            EXPECT_TRUE(good.Holds(expected)) << "later work goes on";
            EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get()))) << "reported once";
        }
    }
}

const StateCase kBadStates[] = {
    {"FreeListLenNegative", Set(kFreeListLen, 0, -1), -1, {-1, 7}},
    {"FreeListLenAboveCapacity", Set(kFreeListLen, 0, 8), -1, {8, 7}},
    {"FreeListLenLargest", Set(kFreeListLen, 0, INT32_MAX), -1, {INT32_MAX}},
    {"StepLensNegative", Set(kStepLens, 0, -1), -1, {-1, 6}},
    {"StepLensAboveBatch", Set(kStepLens, 0, 7), -1, {7, 6}},
    {"StackEntryNegative", Set(kStepBlockList, 0, -1), -1, {-1}},
    {"StackEntryPastTheBatch", Set(kStepBlockList, 1, 6), -1, {6}},
    {"StackEntryLargest", Set(kStepBlockList, 1, INT32_MAX), -1, {INT32_MAX}},
    {"StackEntryLeast", Set(kStepBlockList, 1, INT32_MIN), -1, {INT32_MIN}},
    {"StackEntryTwice", Set(kStepBlockList, 1, 3), 3},
    {"StackEntryNotFlagged", Set(kStepBlockList, 0, 0), 0},
    {"StackEntryNoLongerFlagged", Set(kIsBlockStep, 4, 0), 4},
    {"NeedBlockLenOne", Set(kNeedBlockLen, 0, 1), -1, {1}},
    {"NeedBlockLenNegative", Set(kNeedBlockLen, 0, -3), -1, {-3}},
    {"RecoverLensOne", Set(kRecoverLens, 0, 1), -1, {1}},
    {"RecoverLensNegative", Set(kRecoverLens, 0, -3), -1, {-3}},
    {"UsedNegative", Set(kUsedListLen, 0, -1), 0, {-1}},
    {"UsedLeast", Set(kUsedListLen, 1, INT32_MIN), 1, {INT32_MIN}},
    {"UsedNegativeOfAnIdleSlot", Set(kUsedListLen, 5, -1), 5, {-1}},
    {"UsedNegativeOfAPreemptedSlot", Set(kUsedListLen, 3, -2), 3, {-2}},
    {"BlocksPastTheRow", Set(kEncoderBlockLens, 0, 5), 0, {5, 2}},
    {"BlocksFarPastTheRow", Set(kEncoderBlockLens, 0, INT32_MAX), 0, {INT32_MAX}},
    {"BlocksBeforeTheRow", Set(kEncoderBlockLens, 0, -1), 0, {-1}},
    {"BlocksOfAFinishedSlot", Set(kEncoderBlockLens, 2, 6), 2, {6}},
    {"NextColumnJustPastTheRow", Set(kSeqLensDecoder, 1, 24), 1, {24}},
    {"NextColumnFarPastTheRow", Set(kSeqLensDecoder, 1, INT32_MAX), 1, {INT32_MAX}},
    {"NegativeLength", Set(kSeqLensDecoder, 0, -1), 0, {-1}},
    {"LeastLength", Set(kSeqLensDecoder, 0, INT32_MIN), 0, {INT32_MIN}},
    {"NegativeLengthOfASlotThatFeedsLessThanNothing",
     Both(Set(kSeqLensDecoder, 1, -5), Set(kSeqLensThisTime, 1, -1)),
     1,
     {-5}},
    {"NegativeLengthOfAWaitingSlotThatFeeds",
     Both(Set(kSeqLensDecoder, 3, -5), Set(kSeqLensThisTime, 3, 1)),
     3,
     {-5}},
    {"MoreBlocksThanTheListHolds", Set(kFreeListLen, 0, 4), -1, {4, 7}},
    {"FarMoreBlocksThanTheListHolds",
     [](StepData& data) {
         data = IdleStepData({6, 7, 6, 7, 16, 10, 4});
         data[kUsedListLen].assign(7, 6);
     },
     -1,
     {7}},
    {"GrantPastTheRow", Set(kEncoderBlockLens, 4, 5), 4, {5}},
    {"GrantFarPastTheRow", Set(kEncoderBlockLens, 4, INT32_MAX), 4, {INT32_MAX}},
    {"GrantBeforeTheRow", Set(kEncoderBlockLens, 4, -1), 4, {-1}},
    {"PromptNegative", Set(kOriSeqLensEncoder, 4, -1), 4, {-1}},
    {"PromptLargest", Set(kOriSeqLensEncoder, 4, INT32_MAX), 4, {INT32_MAX}},
    {"StepIdxNegative", Set(kStepIdx, 4, -1), 4, {-1}},
    {"StepIdxPastPreIds", Set(kStepIdx, 4, 11), 4, {11, 10}},
    {"StepIdxLargest", Set(kStepIdx, 4, INT64_MAX), 4, {INT64_MAX}},
    {"StepIdxLeast", Set(kStepIdx, 4, INT64_MIN), 4, {INT64_MIN}},
    {"NothingToReplay", Both(Set(kOriSeqLensEncoder, 4, 0), Set(kStepIdx, 4, 0)), 4, {0}},
    {"TooMuchToReplay", Set(kOriSeqLensEncoder, 4, 9), 4, {16}},
};

INSTANTIATE_TEST_SUITE_P(Table, StepBadStateTest, testing::ValuesIn(kBadStates),
                         support::CaseName());

TEST_P(StepEdgeStateTest, IsComputed) {
    for (const char* conformance : {"standard", "vllm", "exact"}) {
        SCOPED_TRACE(conformance);
        ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_CONFORMANCE", conformance}}));
        StepData expected = State();
        ASSERT_EQ(Step(expected, conformance[0] == 'e').outcome, StepOutcome::kOk);
        StepBatch batch(State());
        EXPECT_TRUE(IsOk(batch.Run(nullptr)));
        EXPECT_TRUE(batch.Holds(expected));
    }
}

// Everything wrong that can be, where nothing is done.
StepData SpoiltState(const StepDims& dims) {
    StepData data = IdleStepData(dims);
    for (auto& tensor : data.tensors) {
        tensor.assign(tensor.size(), 3);
    }
    return data;
}

const StateCase kEdgeStates[] = {
    {"Good", [](StepData&) {}},
    {"FlagsOfAnyByte",
     [](StepData& data) {
         data[kStopFlags] = {0, 0, 128, 2, 254, 255, 77};
         data[kIsBlockStep] = {0, 0, 0, 255, 128, 0, 77};
     }},
    {"NoRows",
     [](StepData& data) {
         data = SpoiltState({0, 0, 6, 7, 16, 10, 4});
     }},
    {"NoBatch",
     [](StepData& data) {
         data = SpoiltState({0, 7, 6, 7, 16, 10, 4});
     }},
    {"NoBatchAndNoBlocks",
     [](StepData& data) {
         data = SpoiltState({0, 7, 6, 0, 16, 10, 4});
     }},
    {"NoBlocks",
     [](StepData& data) {
         data = IdleStepData({6, 7, 6, 0, 16, 10, 4});
     }},
    {"LargestBlockSize",
     [](StepData& data) {
         data.dims.blockSize = INT64_MAX;
         data[kStepLens][0] = 0;
     }},
    {"IdsMayBeAnything",
     [](StepData& data) { data[kFreeList] = {-1, INT32_MIN, INT32_MAX, 0, 0, 0, 0}; }},
    {"TokensMayBeAnything",
     [](StepData& data) {
         data[kNextTokens][4] = INT64_MIN;
         data[kFirstTokenIds][4] = INT64_MAX;
         data[kPreIds].assign(data[kPreIds].size(), -1);
     }},
    {"SlotsThatDoNotFeedAreNotRead",
     Both(Set(kSeqLensThisTime, 0, 0), Set(kSeqLensDecoder, 0, -1))},
    {"FinishedSlotsDoNotFeed", Both(Set(kSeqLensThisTime, 2, 1), Set(kSeqLensDecoder, 2, -1))},
    {"WaitingSlotsThatDoNotFitAreNotRead",
     Both(Set(kOriSeqLensEncoder, 3, -1), Set(kStepIdx, 3, INT64_MAX))},
    {"LastColumn", Set(kSeqLensDecoder, 1, 23)},
    {"LargestTotal", Set(kOriSeqLensEncoder, 4, 8)},
    {"LargestStepIdx", Set(kStepIdx, 4, 10)},
    {"StaleLists",
     [](StepData& data) {
         data[kNeedBlockList].assign(7, 99);
         data[kRecoverBlockList].assign(7, -99);
     }},
};

INSTANTIATE_TEST_SUITE_P(Table, StepEdgeStateTest, testing::ValuesIn(kEdgeStates),
                         support::CaseName());

class StepStalledTest : public support::DeviceTest {
 protected:
    static uint64_t Stalled() {
        uint64_t value = 77;
        EXPECT_TRUE(IsOk(advstepReadCounter(0, "stalled", &value)));
        return value;
    }
    // Runs the state, and keeps what it becomes.
    static void Run(StepData& data) {
        StepBatch batch(data);
        ASSERT_TRUE(IsOk(batch.Plan()));
        ASSERT_TRUE(IsOk(batch.Launch(nullptr)));
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
        ASSERT_EQ(Step(data, false).outcome, StepOutcome::kOk);
        EXPECT_TRUE(batch.Holds(data));
    }
};

TEST_F(StepStalledTest, CountsTheRunsThatLeaveOnlySlotsThatWait) {
    ASSERT_NO_FATAL_FAILURE(Restart({}));
    StepData data = GoodState();
    ASSERT_NO_FATAL_FAILURE(Run(data));
    EXPECT_EQ(Stalled(), 0U) << "slot 3 waits, and others generate";

    data = GoodState();
    data[kStopFlags] = {1, 1, 1, 1, 1, 1, 0};
    data[kUsedListLen] = {0, 0, 0, 1, 4, 0, -9};  // slot 4 on top wants four blocks, three are free
    data[kSeqLensThisTime] = {0, 0, 0, 0, 0, 0};
    ASSERT_NO_FATAL_FAILURE(Run(data));
    EXPECT_EQ(Stalled(), 1U);
    ASSERT_NO_FATAL_FAILURE(Run(data));
    EXPECT_EQ(Stalled(), 2U);

    data[kFreeList] = {104, 105, 106, 107, -1, -1, -1};
    data[kFreeListLen] = {4};
    ASSERT_NO_FATAL_FAILURE(Run(data));
    EXPECT_EQ(data[kIsBlockStep][4], 0);
    EXPECT_EQ(Stalled(), 2U) << "slot 4 is recovered";
}

}  // namespace
