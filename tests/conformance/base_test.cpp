// SPDX-License-Identifier: Apache-2.0
// acl_base.h, and errors and identity of acl_rt.h.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "acl/acl.h"
#include "acl/acl_mdl.h"
#include "aclnn/acl_meta.h"
#include "advance_step/fault_injection.h"
#include "support/handles.h"
#include "support/runtime_test.h"
#include "support/table.h"

namespace {

using namespace support;
using testing::HasSubstr;

struct DataTypeCase {
    const char* name;
    int dataType;
    size_t size;
};

class DataTypeSizeTest : public testing::TestWithParam<DataTypeCase> {};

TEST_P(DataTypeSizeTest, IsBytesOfOneElement) {
    EXPECT_EQ(aclDataTypeSize(static_cast<aclDataType>(GetParam().dataType)), GetParam().size);
}

INSTANTIATE_TEST_SUITE_P(
    Table, DataTypeSizeTest,
    testing::Values(
        DataTypeCase{"Undefined", -1, 0}, DataTypeCase{"Float", 0, 4},
        DataTypeCase{"Float16", 1, 2}, DataTypeCase{"Int8", 2, 1}, DataTypeCase{"Int32", 3, 4},
        DataTypeCase{"Uint8", 4, 1}, DataTypeCase{"Int16", 6, 2}, DataTypeCase{"Uint16", 7, 2},
        DataTypeCase{"Uint32", 8, 4}, DataTypeCase{"Int64", 9, 8}, DataTypeCase{"Uint64", 10, 8},
        DataTypeCase{"Double", 11, 8}, DataTypeCase{"Bool", 12, 1}, DataTypeCase{"String", 13, 0},
        DataTypeCase{"Complex64", 16, 8}, DataTypeCase{"Complex128", 17, 16},
        DataTypeCase{"Bf16", 27, 2}, DataTypeCase{"Int4", 29, 0}, DataTypeCase{"Uint1", 30, 0},
        DataTypeCase{"Complex32", 33, 4}, DataTypeCase{"Hifloat8", 34, 1},
        DataTypeCase{"Float8E5m2", 35, 1}, DataTypeCase{"Float8E4m3fn", 36, 1},
        DataTypeCase{"Float8E8m0", 37, 1}, DataTypeCase{"Float6E3m2", 38, 0},
        DataTypeCase{"Float6E2m3", 39, 0}, DataTypeCase{"Float4E2m1", 40, 0},
        DataTypeCase{"Float4E1m2", 41, 0}, DataTypeCase{"UnknownInside", 5, 0},
        DataTypeCase{"UnknownAbove", 42, 0}, DataTypeCase{"UnknownBelow", -2, 0}),
    support::CaseName());

class ErrorTest : public support::DeviceTest {};

TEST_F(ErrorTest, NoMessageBeforeAFailure) {
    std::thread([] { EXPECT_EQ(aclGetRecentErrMsg(), nullptr); }).join();
}

TEST_F(ErrorTest, MessageNamesCallAndArgument) {
    ASSERT_EQ(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM);
    const std::string message = TakeMessage();
    EXPECT_THAT(message, HasSubstr("aclrtFree: "));
    EXPECT_THAT(message, HasSubstr("devPtr"));
}

TEST_F(ErrorTest, ReadingClearsTheMessage) {
    ASSERT_EQ(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_NE(aclGetRecentErrMsg(), nullptr);
    EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
}

TEST_F(ErrorTest, MessageIsOfTheLatestFailure) {
    ASSERT_EQ(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM);
    ASSERT_EQ(aclrtFreeHost(nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_THAT(TakeMessage(), HasSubstr("aclrtFreeHost: "));
}

TEST_F(ErrorTest, SuccessKeepsTheMessage) {
    ASSERT_EQ(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM);
    uint32_t count = 0;
    ASSERT_TRUE(IsOk(aclrtGetDeviceCount(&count)));
    EXPECT_THAT(TakeMessage(), HasSubstr("aclrtFree: "));
}

TEST_F(ErrorTest, MessageBelongsToTheThread) {
    ASSERT_EQ(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM);
    std::thread([] {
        EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
        EXPECT_EQ(aclrtFreeHost(nullptr), ACL_ERROR_INVALID_PARAM);
    }).join();
    EXPECT_THAT(TakeMessage(), HasSubstr("aclrtFree: "));
}

TEST_F(ErrorTest, PeekKeepsAndGetClearsTheLastError) {
    EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
    EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
}

TEST_F(ErrorTest, SuccessKeepsTheLastError) {
    ASSERT_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_DEVICEID);
}

TEST_F(ErrorTest, LastErrorIsTheLatest) {
    ASSERT_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
    ASSERT_EQ(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_INVALID_PARAM);
}

TEST_F(ErrorTest, LastErrorBelongsToTheThread) {
    ASSERT_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
    std::thread([] { EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS); }).join();
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_DEVICEID);
}

TEST_F(ErrorTest, ReadingTheMessageKeepsTheLastError) {
    ASSERT_EQ(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_NE(aclGetRecentErrMsg(), nullptr);
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_INVALID_PARAM);
}

TEST_F(ErrorTest, OnlyCallsOfTheRuntimeSetTheLastError) {
    char package[] = "nothing";
    char text[ACL_PKG_VERSION_MAX_SIZE];
    EXPECT_EQ(aclsysGetVersionStr(package, text), ACL_ERROR_INVALID_FILE);
    EXPECT_EQ(aclGetCannAttribute(ACL_CANN_ATTR_BF16, nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclmdlFinalizeDump(), ACL_ERROR_DUMP_NOT_RUN);
    EXPECT_EQ(aclDestroyDataBuffer(nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(advstepReleaseHold(12345), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
    EXPECT_NE(aclGetRecentErrMsg(), nullptr);
    EXPECT_EQ(aclmdlRIDestroy(nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclsysGetVersionStr(package, text), ACL_ERROR_INVALID_FILE);
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_INVALID_PARAM);
}

TEST_F(ErrorTest, ASecondInitHasSucceededAndLeavesNoMessage) {
    EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
    EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
    EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
    ASSERT_EQ(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
    EXPECT_THAT(TakeMessage(), HasSubstr("aclrtFree: ")) << "as after any success";
    for (uint64_t left = 3; left > 1;) {
        ASSERT_TRUE(IsOk(aclFinalizeReference(&left)));
    }
}

// A client makes the arguments of an operator, and calls phase one of another library, which fails
// and leaves no message.
TEST_F(ErrorTest, TheArgumentsOfAnOperatorDropAnOlderMessage) {
    const int64_t dim = 4;
    const float number = 1;
    const auto leavesNone = [](const char* what, void* made) {
        EXPECT_NE(made, nullptr) << what;
        EXPECT_EQ(aclGetRecentErrMsg(), nullptr) << what;
    };
    const auto fail = [] { ASSERT_EQ(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM); };
    fail();
    aclTensor* const tensor =
        aclCreateTensor(&dim, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &dim, 1, nullptr);
    leavesNone("aclCreateTensor", tensor);
    fail();
    aclScalar* const scalar = aclCreateScalar(const_cast<float*>(&number), ACL_FLOAT);
    leavesNone("aclCreateScalar", scalar);
    fail();
    aclIntArray* const array = aclCreateIntArray(&dim, 1);
    leavesNone("aclCreateIntArray", array);
    fail();
    aclTensorList* const list = aclCreateTensorList(&tensor, 1);
    leavesNone("aclCreateTensorList", list);
    fail();
    EXPECT_EQ(aclDestroyTensorList(list), ACLNN_SUCCESS);
    EXPECT_EQ(aclDestroyIntArray(array), ACLNN_SUCCESS);
    EXPECT_EQ(aclDestroyScalar(scalar), ACLNN_SUCCESS);
    EXPECT_THAT(TakeMessage(), HasSubstr("aclrtFree: ")) << "the end of the arguments keeps it";
    EXPECT_EQ(aclCreateScalar(nullptr, ACL_FLOAT), nullptr);
    EXPECT_THAT(TakeMessage(), HasSubstr("aclCreateScalar: "));
}

TEST_F(ErrorTest, OtherLevelIsRefused) {
    const auto level = static_cast<aclrtLastErrLevel>(1);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtPeekAtLastError(level),
                        {"aclrtPeekAtLastError: ", "level"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtGetLastError(level),
                        {"aclrtGetLastError: ", "level"}));
}

TEST_F(ErrorTest, VersionIsTheHeaders) {
    int32_t major = 0, minor = 0, patch = -1;
    ASSERT_TRUE(IsOk(aclrtGetVersion(&major, &minor, &patch)));
    EXPECT_EQ(major, ACL_MAJOR_VERSION);
    EXPECT_EQ(minor, ACL_MINOR_VERSION);
    EXPECT_EQ(patch, ACL_PATCH_VERSION);
    EXPECT_EQ(major, 1);
    EXPECT_EQ(minor, 17);
    EXPECT_EQ(patch, 0);
}

TEST_F(ErrorTest, VersionNeedsEveryOutput) {
    int32_t a = 7, b = 7;
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtGetVersion(nullptr, &a, &b), {"major"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtGetVersion(&a, nullptr, &b), {"minor"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtGetVersion(&a, &b, nullptr), {"patch"}));
    EXPECT_EQ(a, 7);
    EXPECT_EQ(b, 7);
}

TEST_F(ErrorTest, RunModeIsHost) {
    aclrtRunMode mode = ACL_DEVICE;
    ASSERT_TRUE(IsOk(aclrtGetRunMode(&mode)));
    EXPECT_EQ(mode, ACL_HOST);
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtGetRunMode(nullptr), {"runMode"}));
}

TEST_F(ErrorTest, SocNameIsTheSetting) {
    EXPECT_STREQ(aclrtGetSocName(), "Ascend910B3");
    for (const char* soc : {"Ascend910B1", "Ascend910B2", "Ascend910B3", "Ascend910B4",
                            "Ascend910_9391", "sim:1", "sim:13"}) {
        ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_SOC", soc}}));
        EXPECT_STREQ(aclrtGetSocName(), soc);
    }
}

TEST(SocNameTest, IsNullWhenASettingIsBad) {
    const EnvironmentGuard environment(Settings{{"ADVANCE_STEP_SOC", "Ascend310"}});
    EXPECT_EQ(aclrtGetSocName(), nullptr);
    EXPECT_THAT(TakeMessage(), HasSubstr("ADVANCE_STEP_SOC"));
}

TEST(SocNameTest, NeedsNoInitialisation) {
    const EnvironmentGuard environment(Settings{{"ADVANCE_STEP_SOC", "sim:5"}});
    EXPECT_STREQ(aclrtGetSocName(), "sim:5");
}

}  // namespace
