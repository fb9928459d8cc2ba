// SPDX-License-Identifier: Apache-2.0
// The device's counters: what AdvanceStep and Step add to them, when they start over, and the
// codes.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_advance_step.h"
#include "advance_step/counters.h"
#include "support/advance_step_batch.h"

namespace {

class CountersTest : public testing::Test {
 protected:
    void SetUp() override {
        ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
        ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    }
    void TearDown() override { EXPECT_EQ(aclFinalize(), ACL_SUCCESS); }

    static AdvStepCounters Read(int32_t device) {
        AdvStepCounters counters{};
        EXPECT_EQ(advstepReadCounters(device, &counters), ACL_SUCCESS);
        return counters;
    }

    // Five rows, three of them queries; the first position is given.
    static aclError Advance(int64_t firstPosition) {
        reference::AdvanceStepData data;
        data.numSeqs = 5;
        data.numQueries = 3;
        data.blockSize = 4;
        data.maxBlocks = 2;
        data.inputTokens = {1, 2, 3, 4, 5};
        data.sampledTokenIds = {7, 8, 9};
        data.inputPositions = {0, 0, 0, 0, 0};
        data.seqLens = {firstPosition, 1, 2, 3, 4};
        data.slotMapping = {0, 0, 0, 0, 0};
        data.blockTables = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
        const support::AdvanceStepBatch batch(data);
        uint64_t workspaceSize = 0;
        aclOpExecutor* executor = nullptr;
        EXPECT_EQ(aclnnAdvanceStepGetWorkspaceSize(
                      batch.TensorAt(0), batch.TensorAt(1), batch.TensorAt(2), batch.TensorAt(3),
                      batch.TensorAt(4), batch.TensorAt(5), 5, 3, 4, &workspaceSize, &executor),
                  ACLNN_SUCCESS);
        EXPECT_EQ(aclnnAdvanceStep(nullptr, 0, executor, nullptr), ACLNN_SUCCESS);
        return aclrtSynchronizeStream(nullptr);
    }
};

// The counters of device 0.
void ExpectCounters(uint64_t launches, uint64_t advanced, uint64_t padded, uint64_t dataErrors) {
    AdvStepCounters counters{};
    ASSERT_EQ(advstepReadCounters(0, &counters), ACL_SUCCESS);
    EXPECT_EQ(counters.launches, launches);
    EXPECT_EQ(counters.advanced, advanced);
    EXPECT_EQ(counters.padded, padded);
    EXPECT_EQ(counters.dataErrors, dataErrors);
}

TEST_F(CountersTest, AdvanceStepCountsQueriesAndPadding) {
    ASSERT_EQ(Advance(0), ACL_SUCCESS);
    ASSERT_EQ(Advance(3), ACL_SUCCESS);
    ExpectCounters(2, 6, 4, 0);
    EXPECT_EQ(Read(1).launches, 0u) << "another device has its own";
}

TEST_F(CountersTest, AFailedLaunchIsADataErrorAndNothingElse) {
    ASSERT_EQ(Advance(8), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
    ExpectCounters(1, 0, 0, 1);
    EXPECT_EQ(Read(0).noProgress, 0u);
}

TEST_F(CountersTest, AreReadByName) {
    uint64_t value = 7;
    EXPECT_EQ(advstepReadCounter(0, "stalled", &value), ACL_SUCCESS);
    EXPECT_EQ(value, 0u) << "before any launch";
    ASSERT_EQ(Advance(0), ACL_SUCCESS);
    ASSERT_EQ(Advance(8), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
    const struct {
        const char* name;
        uint64_t value;
    } expected[] = {{"launches", 2},  {"advanced", 3},   {"padded", 2},
                    {"recovered", 0}, {"dataErrors", 1}, {"noProgress", 0}};
    for (const auto& counter : expected) {
        EXPECT_EQ(advstepReadCounter(0, counter.name, &value), ACL_SUCCESS) << counter.name;
        EXPECT_EQ(value, counter.value) << counter.name;
    }
}

TEST_F(CountersTest, HaveNoOtherNames) {
    uint64_t value = 7;
    for (const char* const name : {"", "Stalled", "padding"}) {
        EXPECT_EQ(advstepReadCounter(0, name, &value), ACL_ERROR_INVALID_PARAM) << name;
        EXPECT_NE(std::string(aclGetRecentErrMsg()).find("expected launches"), std::string::npos);
    }
    EXPECT_EQ(advstepReadCounter(0, nullptr, &value), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(advstepReadCounter(0, "launches", nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(advstepReadCounter(2, "launches", &value), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT_EQ(value, 7u);
}

TEST_F(CountersTest, StartOverWhenResetAndWhenTheDeviceIs) {
    ASSERT_EQ(Advance(0), ACL_SUCCESS);
    ASSERT_EQ(advstepResetCounters(0), ACL_SUCCESS);
    EXPECT_EQ(Read(0).launches, 0u);
    ASSERT_EQ(Advance(0), ACL_SUCCESS);
    EXPECT_EQ(Read(0).advanced, 3u);
    ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(Read(0).advanced, 0u);
}

TEST_F(CountersTest, CodesOfBadArguments) {
    AdvStepCounters counters{};
    EXPECT_EQ(advstepReadCounters(0, nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(advstepReadCounters(-1, &counters), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT_EQ(advstepReadCounters(2, &counters), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT_EQ(advstepResetCounters(2), ACL_ERROR_RT_INVALID_DEVICEID);
}

}  // namespace
