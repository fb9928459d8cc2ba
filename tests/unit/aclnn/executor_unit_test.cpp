// SPDX-License-Identifier: Apache-2.0
// Tests of executors: plan, addresses, extents, overlaps, reuse.

#include "src/aclnn/executor.h"

#include <gtest/gtest.h>

#include "support/table.h"
#include "unit/aclnn/plan_bench.h"
#include "unit/status_check.h"

namespace advstep {
namespace {

using unit::FailsWith;
using unit::PlanBench;
using unit::Succeeds;
using State = aclOpExecutor::State;

class ExecutorUnitTest : public testing::Test {
 protected:
    ~ExecutorUnitTest() override {
        if (executor_ != nullptr) {
            executor_->state = State::kFree;
            RecycleExecutor(executor_);
        }
    }

    int64_t memory_[64] = {};
    PlanBench bench_{nullptr};
    aclOpExecutor* executor_ = nullptr;
};

TEST_F(ExecutorUnitTest, HoldsThePlan) {
    bench_.Place(memory_, memory_ + 8, memory_ + 16, memory_ + 32);
    bench_.WorkspaceBytes() = 128;
    ASSERT_TRUE(Succeeds(bench_.Make(&executor_)));
    EXPECT_EQ(executor_->state.load(), State::kPlanned);
    EXPECT_EQ(executor_->launch.program, &unit::AddProgram());
    EXPECT_EQ(executor_->launch.payloadBytes, sizeof(unit::AddPayload));
    EXPECT_EQ(executor_->workspaceBytes, 128U);
    EXPECT_EQ(executor_->checkedEpoch, 0U);
    ASSERT_EQ(executor_->tensorCount, 4);
    unit::AddPayload payload{};
    std::memcpy(&payload, executor_->payload, sizeof(payload));
    EXPECT_EQ(payload.count, 4);
    EXPECT_EQ(payload.out, memory_);
    EXPECT_EQ(payload.in, memory_ + 8);
    EXPECT_EQ(payload.table, memory_ + 16);
    EXPECT_EQ(payload.extra, memory_ + 32);
}

TEST_F(ExecutorUnitTest, AddressesAreOfTheFirstElement) {
    bench_.Place(memory_, memory_ + 8, memory_ + 16, memory_ + 32);
    bench_.In().offset = 3;
    ASSERT_TRUE(Succeeds(bench_.Make(&executor_)));
    EXPECT_EQ(executor_->tensors[1].address, reinterpret_cast<uint8_t*>(memory_ + 11));
    EXPECT_EQ(executor_->tensors[1].offsetBytes, 24);
    EXPECT_STREQ(executor_->slots[1].name, "in");
    EXPECT_FALSE(executor_->slots[1].written);
    EXPECT_TRUE(executor_->slots[3].written);
}

TEST_F(ExecutorUnitTest, UnknownAddressesStayNull) {
    bench_.In().offset = 3;
    ASSERT_TRUE(Succeeds(bench_.Make(&executor_)));
    for (int32_t index = 0; index < 4; ++index) {
        EXPECT_EQ(executor_->tensors[index].address, nullptr);
    }
}

TEST_F(ExecutorUnitTest, ExtentsFollowTheViews) {
    ASSERT_TRUE(Succeeds(bench_.Make(&executor_)));
    EXPECT_EQ(executor_->tensors[0].extent.rows, 1);
    EXPECT_EQ(executor_->tensors[0].extent.spanBytes(), 32);
    EXPECT_EQ(executor_->tensors[2].extent.rows, 2);
    EXPECT_EQ(executor_->tensors[2].extent.rowBytes, 16);
    EXPECT_EQ(executor_->tensors[2].extent.strideBytes, 32);
}

TEST_F(ExecutorUnitTest, ContiguousMatrixIsOneRun) {
    const int64_t strides[2] = {2, 1};
    bench_.Table().strides = strides;
    ASSERT_TRUE(Succeeds(bench_.Make(&executor_)));
    EXPECT_EQ(executor_->tensors[2].extent.rows, 1);
    EXPECT_EQ(executor_->tensors[2].extent.spanBytes(), 32);
}

struct OverlapCase {
    const char* name;
    int out, in, table, extra;    // places in memory, -1: unknown
    const char *written, *other;  // that the message names; null: apart
};

class ExecutorOverlapTest : public testing::TestWithParam<OverlapCase> {};

TEST_P(ExecutorOverlapTest, IsTold) {
    int64_t memory[64] = {};
    const auto at = [&](int place) { return place < 0 ? nullptr : memory + place; };
    PlanBench bench(nullptr);
    const OverlapCase& c = GetParam();
    bench.Place(at(c.out), at(c.in), at(c.table), at(c.extra));
    auto* const untouched = reinterpret_cast<aclOpExecutor*>(memory);
    aclOpExecutor* executor = untouched;
    const Status status = bench.Make(&executor);
    if (c.written == nullptr) {
        ASSERT_TRUE(Succeeds(status));
        executor->state = State::kFree;
        RecycleExecutor(executor);
    } else {
        EXPECT_TRUE(FailsWith(
            ACLNN_ERR_PARAM_INVALID, status,
            {std::string(c.written) + " at ", std::string(" overlaps ") + c.other, "(32 bytes)"}));
        EXPECT_EQ(executor, untouched);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Table, ExecutorOverlapTest,
    testing::Values(OverlapCase{"Apart", 0, 4, 8, 16, nullptr, nullptr},
                    OverlapCase{"WrittenOnRead", 0, 3, 8, 16, "out", "in"},
                    OverlapCase{"SamePlace", 4, 4, 8, 16, "out", "in"},
                    OverlapCase{"WrittenOnWritten", 0, 20, 30, 2, "out", "extra"},
                    OverlapCase{"ReadOnRead", 0, 8, 8, 20, nullptr, nullptr},
                    OverlapCase{"TableRow", 12, 30, 8, 20, "out", "table"},
                    OverlapCase{"LaterWritten", 0, 20, 30, 20, "extra", "in"},
                    OverlapCase{"UnknownAddresses", -1, 4, 4, -1, nullptr, nullptr}),
    support::CaseName());

TEST_F(ExecutorUnitTest, WrittenTensorMayLieBetweenTheRowsOfTheTable) {
    const int64_t strides[2] = {8, 1};
    bench_.Table().strides = strides;
    // Rows of the table at 8 and 16, two elements each.
    bench_.Place(memory_ + 10, memory_ + 30, memory_ + 8, memory_ + 40);
    EXPECT_TRUE(Succeeds(bench_.Make(&executor_)));
    executor_->SetAddress(0, reinterpret_cast<uint8_t*>(memory_ + 13));  // ends in the second row
    EXPECT_TRUE(FailsWith(ACLNN_ERR_PARAM_INVALID, CheckOverlaps(*executor_), {"table"}));
    executor_->SetAddress(0, reinterpret_cast<uint8_t*>(memory_ + 12));
    EXPECT_TRUE(Succeeds(CheckOverlaps(*executor_)));
}

// Addresses are numbers here, and no sum of them wraps.
TEST_F(ExecutorUnitTest, ATensorThatEndsBeyondTheLastAddressIsRefused) {
    auto* const almostLast = reinterpret_cast<int64_t*>(UINTPTR_MAX - 7);
    bench_.Place(memory_, almostLast, memory_ + 8, memory_ + 32);
    EXPECT_TRUE(FailsWith(ACLNN_ERR_PARAM_INVALID, bench_.Make(&executor_),
                          {"in takes ", "0xfffffffffffffff8", "0xffffffffffffffff"}));
    bench_.Place(memory_, memory_ + 4, memory_ + 8, memory_ + 32);
    ASSERT_TRUE(Succeeds(bench_.Make(&executor_)));
    executor_->SetAddress(1, reinterpret_cast<uint8_t*>(almostLast));
    LookAtAddresses(executor_);
    EXPECT_TRUE(FailsWith(ACLNN_ERR_PARAM_INVALID, CheckOverlaps(*executor_), {"in takes "}));
    executor_->tensors[1].offsetBytes = 64;  // of a storage at 2^64 - 32
    executor_->SetAddress(1, reinterpret_cast<uint8_t*>(uintptr_t{32}));
    LookAtAddresses(executor_);
    EXPECT_TRUE(FailsWith(ACLNN_ERR_PARAM_INVALID, CheckOverlaps(*executor_),
                          {"in takes ", "at offset 64 of 0xffffffffffffffe0"}));
}

TEST_F(ExecutorUnitTest, RecordIsUsedAgain) {
    ASSERT_TRUE(Succeeds(bench_.Make(&executor_)));
    aclOpExecutor* const first = executor_;
    first->checkedEpoch = 9;
    first->state = State::kFree;
    RecycleExecutor(first);
    ASSERT_TRUE(Succeeds(bench_.Make(&executor_)));
    EXPECT_EQ(executor_, first);
    EXPECT_EQ(executor_->checkedEpoch, 9U) << "for the same addresses";
    EXPECT_EQ(executor_->state.load(), State::kPlanned);
    first->state = State::kFree;
    RecycleExecutor(first);
    bench_.Place(memory_, memory_ + 8, memory_ + 16, memory_ + 32);
    ASSERT_TRUE(Succeeds(bench_.Make(&executor_)));
    EXPECT_EQ(executor_, first);
    EXPECT_EQ(executor_->checkedEpoch, 0U) << "for others";
}

}  // namespace
}  // namespace advstep
