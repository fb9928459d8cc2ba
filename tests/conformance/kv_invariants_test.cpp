// SPDX-License-Identifier: Apache-2.0
// kv_invariants.h: the first violation of a state is named, and a legal state has none.
#include "advance_step/kv_invariants.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "support/runtime_test.h"
#include "support/table.h"

namespace {

using support::IsError;
using support::IsOk;
using support::TakeMessage;

constexpr int64_t kBatch = 5;
constexpr int64_t kWidth = 4;

// A legal state of five slots and the pool 100 to 107. Slot 0 runs, 1 and 4 are preempted, 2 has
// finished and still has its block, 3 is free. Blocks 7, 8 and 9 belong to the host's allocator.
struct KvState {
    std::vector<unsigned char> stopFlags = {0, 1, 1, 1, 1};
    std::vector<int32_t> seqLensThisTime = {1, 0, 0, 0, 0};
    std::vector<int32_t> seqLensDecoder = {10, 0, 3, 0, 0};
    std::vector<int32_t> blockTables = {7,   100, 101, -1,  //
                                        8,   -1,  -1,  -1,  //
                                        102, -1,  -1,  -1,  //
                                        -1,  -1,  -1,  -1,  //
                                        9,   -1,  -1,  -1};
    std::vector<int32_t> encoderBlockLens = {1, 1, 0, 0, 1};
    std::vector<unsigned char> isBlockStep = {0, 1, 0, 0, 1};
    std::vector<int32_t> stepBlockList = {4, 1, -1, -1, -1};
    std::vector<int32_t> usedListLen = {2, 2, 1, 0, 3};
    std::vector<int32_t> freeList = {103, 104, 105, 106, 107, 100, 100, -1};
    int32_t stepLens = 2;
    int32_t freeListLen = 5;
    int32_t blockCount = 8;

    int32_t& Block(size_t slot, size_t column) { return blockTables[slot * kWidth + column]; }

    AdvStepKvState View() const {
        AdvStepKvState view{};
        view.batch = kBatch;
        view.tableWidth = kWidth;
        view.freeCapacity = static_cast<int64_t>(freeList.size());
        view.blockSize = 4;
        view.firstBlock = 100;
        view.blockCount = blockCount;
        view.stopFlags = reinterpret_cast<const bool*>(stopFlags.data());
        view.seqLensThisTime = seqLensThisTime.data();
        view.seqLensDecoder = seqLensDecoder.data();
        view.blockTables = blockTables.data();
        view.encoderBlockLens = encoderBlockLens.data();
        view.isBlockStep = reinterpret_cast<const bool*>(isBlockStep.data());
        view.stepBlockList = stepBlockList.data();
        view.stepLens = stepLens;
        view.usedListLen = usedListLen.data();
        view.freeList = freeList.data();
        view.freeListLen = freeListLen;
        return view;
    }
};

// The code, with the text of the violation.
aclError Check(const KvState& state, std::string* violation) {
    char text[256] = "unset";
    const AdvStepKvState view = state.View();
    const aclError code = advstepCheckKvInvariants(&view, text, sizeof(text));
    *violation = text;
    return code;
}

struct KvCase {
    const char* name;
    void (*change)(KvState& state);
    const char* violation;
};

class KvInvariantsTest : public testing::Test {};
class KvViolationTest : public testing::TestWithParam<KvCase> {};
class KvLegalTest : public testing::TestWithParam<KvCase> {};

TEST_P(KvViolationTest, IsNamed) {
    KvState state;
    GetParam().change(state);
    std::string violation;
    EXPECT_EQ(Check(state, &violation), ACL_ERROR_FAILURE);
    EXPECT_EQ(violation, GetParam().violation);
    EXPECT_EQ(TakeMessage(), std::string("advstepCheckKvInvariants: ") + GetParam().violation);
}

INSTANTIATE_TEST_SUITE_P(
    Counts, KvViolationTest,
    testing::Values(
        KvCase{"FreeListLenNegative", [](KvState& s) { s.freeListLen = -1; },
               "freeListLen is -1; expected 0 <= freeListLen <= freeCapacity = 8"},
        KvCase{"FreeListLenAboveCapacity", [](KvState& s) { s.freeListLen = 9; },
               "freeListLen is 9; expected 0 <= freeListLen <= freeCapacity = 8"},
        KvCase{"StepLensNegative", [](KvState& s) { s.stepLens = -2; },
               "stepLens is -2; expected 0 <= stepLens <= batch = 5"},
        KvCase{"StepLensAboveBatch", [](KvState& s) { s.stepLens = 6; },
               "stepLens is 6; expected 0 <= stepLens <= batch = 5"},
        KvCase{"UsedListLenNegative", [](KvState& s) { s.usedListLen[3] = -1; },
               "slot 3: usedListLen is -1; expected at least 0"},
        KvCase{"ColumnsBeforeTheRow", [](KvState& s) { s.encoderBlockLens[2] = -1; },
               "slot 2: dynamic columns begin at encoderBlockLens -1 and are usedListLen 1; "
               "expected them inside the 4 columns of blockTables"},
        KvCase{"ColumnsBehindTheRow", [](KvState& s) { s.usedListLen[0] = 4; },
               "slot 0: dynamic columns begin at encoderBlockLens 1 and are usedListLen 4; "
               "expected them inside the 4 columns of blockTables"},
        KvCase{"ColumnsOfPreemptedBehindTheRow", [](KvState& s) { s.usedListLen[4] = INT32_MAX; },
               "slot 4: dynamic columns begin at encoderBlockLens 1 and are usedListLen "
               "2147483647; expected them inside the 4 columns of blockTables"}),
    support::CaseName());

INSTANTIATE_TEST_SUITE_P(
    Stack, KvViolationTest,
    testing::Values(
        KvCase{"EntryNegative", [](KvState& s) { s.stepBlockList[0] = -1; },
               "stepBlockList[0] is slot -1; expected 0 <= slot < batch = 5"},
        KvCase{"EntryBehindTheBatch", [](KvState& s) { s.stepBlockList[1] = 5; },
               "stepBlockList[1] is slot 5; expected 0 <= slot < batch = 5"},
        KvCase{"EntryNotPreempted", [](KvState& s) { s.stepBlockList[1] = 2; },
               "stepBlockList[1] is slot 2, whose isBlockStep is false; expected a preempted slot"},
        KvCase{"EntryTwice", [](KvState& s) { s.stepBlockList[1] = 4; },
               "stepBlockList[1] is slot 4, which stands there before; expected every slot once"},
        KvCase{"PreemptedSlotMissing", [](KvState& s) { s.stepLens = 1; },
               "slot 1: isBlockStep is true and the slot is not on the stack; expected it in the "
               "first stepLens = 1 entries of stepBlockList"}),
    support::CaseName());

INSTANTIATE_TEST_SUITE_P(
    Blocks, KvViolationTest,
    testing::Values(
        KvCase{"PreemptedSlotOwnsOne", [](KvState& s) { s.Block(4, 3) = 103; },
               "slot 4: column 3 holds block 103 and the slot is preempted; expected -1"},
        KvCase{"FreeListHoldsNoBlock", [](KvState& s) { s.freeList[2] = -1; },
               "freeList[2] holds block -1; expected 100 <= block < 108"},
        KvCase{"FreeListHoldsAForeignBlock", [](KvState& s) { s.freeList[4] = 108; },
               "freeList[4] holds block 108; expected 100 <= block < 108"},
        KvCase{"FreeListHoldsOneTwice", [](KvState& s) { s.freeList[3] = 104; },
               "freeList[3] holds block 104, which freeList[1] holds too; expected every block "
               "once"},
        KvCase{"ColumnHoldsNoBlock", [](KvState& s) { s.Block(2, 0) = -1; },
               "slot 2: column 0 holds block -1; expected 100 <= block < 108"},
        KvCase{"ColumnHoldsAForeignBlock", [](KvState& s) { s.Block(0, 2) = 99; },
               "slot 0: column 2 holds block 99; expected 100 <= block < 108"},
        KvCase{"ColumnHoldsAFreeBlock", [](KvState& s) { s.Block(0, 2) = 106; },
               "slot 0: column 2 holds block 106, which freeList[3] holds too; expected every "
               "block once"},
        KvCase{"TwoColumnsHoldOne", [](KvState& s) { s.Block(2, 0) = 101; },
               "slot 2: column 0 holds block 101, which slot 0: column 2 holds too; expected every "
               "block once"},
        KvCase{"FreeBlockLost", [](KvState& s) { s.freeListLen = 4; },
               "block 107 is neither on freeList nor in a dynamic column; expected it once"},
        KvCase{"ColumnBlockLost", [](KvState& s) { s.usedListLen[2] = 0; },
               "block 102 is neither on freeList nor in a dynamic column; expected it once"},
        KvCase{"PoolLarger", [](KvState& s) { s.blockCount = 9; },
               "block 108 is neither on freeList nor in a dynamic column; expected it once"}),
    support::CaseName());

INSTANTIATE_TEST_SUITE_P(
    Backing, KvViolationTest,
    testing::Values(
        KvCase{"LengthNegative", [](KvState& s) { s.seqLensDecoder[0] = -3; },
               "slot 0: seqLensDecoder is -3; expected at least 0"},
        KvCase{"LengthBehindTheRow", [](KvState& s) { s.seqLensDecoder[0] = 17; },
               "slot 0: seqLensDecoder 17 with blockSize 4 needs column 4 of blockTables; expected "
               "column < tableWidth = 4"},
        KvCase{"HostColumnEmpty", [](KvState& s) { s.Block(0, 0) = -1; },
               "slot 0: column 0 holds block -1 and seqLensDecoder is 10 with blockSize 4; "
               "expected a block for every cached token"},
        KvCase{"LastTokenWithoutABlock", [](KvState& s) { s.seqLensDecoder[0] = 13; },
               "slot 0: column 3 holds block -1 and seqLensDecoder is 13 with blockSize 4; "
               "expected a block for every cached token"}),
    support::CaseName());

TEST_P(KvLegalTest, HasNoViolation) {
    KvState state;
    GetParam().change(state);
    std::string violation;
    EXPECT_TRUE(IsOk(Check(state, &violation)));
    EXPECT_EQ(violation, GetParam().violation);
}

INSTANTIATE_TEST_SUITE_P(
    Table, KvLegalTest,
    testing::Values(
        KvCase{"AsItIs", [](KvState&) {}, ""},
        KvCase{"CachedTokensFillTheBlock", [](KvState& s) { s.seqLensDecoder[0] = 12; }, ""},
        KvCase{"StoppedSlotIsNotBacked", [](KvState& s) { s.seqLensDecoder[2] = 16; }, ""},
        KvCase{"UnfedSlotIsNotBacked",
               [](KvState& s) {
                   s.seqLensThisTime[0] = 0;
                   s.seqLensDecoder[0] = 100;
               },
               ""},
        KvCase{"AnyByteIsTrue", [](KvState& s) { s.isBlockStep[1] = s.stopFlags[1] = 0x80; }, ""},
        KvCase{"NoDynamicColumnsAnywhere", [](KvState& s) { s.encoderBlockLens[3] = -9; }, ""},
        KvCase{"FreeListInAnyOrder",
               [](KvState& s) { std::reverse(s.freeList.begin(), s.freeList.begin() + 5); }, ""},
        KvCase{"StackInAnyOrder",
               [](KvState& s) { std::swap(s.stepBlockList[0], s.stepBlockList[1]); }, ""}),
    support::CaseName());

TEST_F(KvInvariantsTest, NamesTheRulesInTheirOrder) {
    const KvCase broken[] = {
        {"Backing", [](KvState& s) { s.Block(0, 0) = -1; }, "slot 0: column 0 holds block -1"},
        {"Missing", [](KvState& s) { s.blockCount = 9; }, "block 108 is neither"},
        {"Column", [](KvState& s) { s.Block(2, 0) = 50; }, "slot 2: column 0 holds block 50"},
        {"FreeList", [](KvState& s) { s.freeList[0] = 60; }, "freeList[0] holds block 60"},
        {"Preempted", [](KvState& s) { s.Block(4, 1) = 70; }, "slot 4: column 1 holds block 70"},
        {"Stack", [](KvState& s) { s.stepBlockList[1] = 2; }, "stepBlockList[1] is slot 2"},
        {"Columns", [](KvState& s) { s.usedListLen[0] = 5; }, "slot 0: dynamic columns"},
        {"Used", [](KvState& s) { s.usedListLen[3] = -1; }, "slot 3: usedListLen"},
        {"StepLens", [](KvState& s) { s.stepLens = -1; }, "stepLens is -1"},
        {"FreeListLen", [](KvState& s) { s.freeListLen = -1; }, "freeListLen is -1"},
    };
    KvState state;
    for (const KvCase& next : broken) {
        next.change(state);
        std::string violation;
        EXPECT_EQ(Check(state, &violation), ACL_ERROR_FAILURE);
        EXPECT_EQ(violation.substr(0, std::strlen(next.violation)), next.violation) << next.name;
    }
}

TEST_F(KvInvariantsTest, CutsTheTextToItsRoom) {
    KvState state;
    state.freeListLen = -1;
    const AdvStepKvState view = state.View();
    char text[] = "0123456789";
    EXPECT_EQ(advstepCheckKvInvariants(&view, text, 5), ACL_ERROR_FAILURE);
    EXPECT_EQ(std::string(text, sizeof(text) - 1), std::string("free\0"
                                                               "56789",
                                                               10));
    EXPECT_EQ(advstepCheckKvInvariants(&view, text, 0), ACL_ERROR_FAILURE);
    EXPECT_EQ(text[0], 'f');
    EXPECT_EQ(advstepCheckKvInvariants(&view, nullptr, 5), ACL_ERROR_FAILURE);
}

TEST_F(KvInvariantsTest, RefusesNullPointers) {
    const AdvStepKvState whole = KvState().View();
    char text[8] = "unset";
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                        advstepCheckKvInvariants(nullptr, text, sizeof(text)), {"state is null"}));
    EXPECT_STREQ(text, "");
    const auto refuses = [&](auto AdvStepKvState::*member, const char* name) {
        AdvStepKvState state = whole;
        state.*member = nullptr;
        EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, advstepCheckKvInvariants(&state, nullptr, 0),
                            {"advstepCheckKvInvariants: ", name, "is null"}));
    };
    refuses(&AdvStepKvState::stopFlags, "stopFlags");
    refuses(&AdvStepKvState::seqLensThisTime, "seqLensThisTime");
    refuses(&AdvStepKvState::seqLensDecoder, "seqLensDecoder");
    refuses(&AdvStepKvState::blockTables, "blockTables");
    refuses(&AdvStepKvState::encoderBlockLens, "encoderBlockLens");
    refuses(&AdvStepKvState::isBlockStep, "isBlockStep");
    refuses(&AdvStepKvState::stepBlockList, "stepBlockList");
    refuses(&AdvStepKvState::usedListLen, "usedListLen");
    refuses(&AdvStepKvState::freeList, "freeList");
}

TEST_F(KvInvariantsTest, RefusesNegativeDims) {
    const AdvStepKvState whole = KvState().View();
    const auto refuses = [&](auto AdvStepKvState::*member, int value, const char* name) {
        AdvStepKvState state = whole;
        state.*member = value;
        EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, advstepCheckKvInvariants(&state, nullptr, 0),
                            {name}, {value}));
    };
    refuses(&AdvStepKvState::batch, -1, "batch");
    refuses(&AdvStepKvState::tableWidth, -2, "tableWidth");
    refuses(&AdvStepKvState::freeCapacity, -3, "freeCapacity");
    refuses(&AdvStepKvState::blockSize, 0, "blockSize");
    refuses(&AdvStepKvState::blockCount, -4, "blockCount");
}

TEST_F(KvInvariantsTest, EmptyStateNeedsNoPointers) {
    AdvStepKvState state{};
    state.blockSize = 1;
    EXPECT_TRUE(IsOk(advstepCheckKvInvariants(&state, nullptr, 0)));
}

}  // namespace
