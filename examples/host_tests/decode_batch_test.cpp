// SPDX-License-Identifier: Apache-2.0
// Tests of DecodeBatch: a good one, two with faults, and one that leaks.
#include "decode_batch.h"

#include <stdexcept>
#include <string>

#include "device_test.h"

using Values = std::vector<int64_t>;

// Two sequences of 5 and 8 tokens, blocks of 4 tokens.
const Values kLengths = {5, 8};
const Values kTable = {2, 7, 0,  //
                       4, 6, 9};

class DecodeBatchTest : public DeviceTest {};

// [good]
TEST_F(DecodeBatchTest, PutsEachTokenIntoItsOwnBlock) {
    DecodeBatch batch(kLengths, kTable, 4);
    EXPECT_EQ(batch.Step({101, 102}, nullptr), (Values{7 * 4 + 1, 9 * 4 + 0}));
    EXPECT_EQ(batch.Step({103, 104}, nullptr), (Values{7 * 4 + 2, 9 * 4 + 1}));
}
// [/good]

TEST_F(DecodeBatchTest, SaysWhichSequenceHasNoBlockLeft) {
    DecodeBatch batch(kLengths, {2, 7, 4, 6}, 4);  // sequence 1 needs a third block
    try {
        batch.Step({101, 102}, nullptr);
        FAIL() << "expected an exception";
    } catch (const std::runtime_error& error) {
        EXPECT_NE(std::string(error.what()).find("query 1"), std::string::npos) << error.what();
    }
}

// [fault]
TEST_F(DecodeBatchTest, CanBeTriedAgainAfterTheDeviceFailed) {
    DecodeBatch batch(kLengths, kTable, 4);
    advstepFailLaunch(1, ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, ADVSTEP_FAULT_IN_STREAM);
    EXPECT_THROW(batch.Step({101, 102}, nullptr), std::runtime_error);
    EXPECT_EQ(batch.Step({101, 102}, nullptr), (Values{29, 36}));
}
// [/fault]

class LeakTest : public DeviceTest {};

// Disabled, because it fails: CMakeLists.txt runs it by itself, and expects just that.
TEST_F(LeakTest, DISABLED_ForgetsItsStream) {
    aclrtStream stream = nullptr;
    ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
}
