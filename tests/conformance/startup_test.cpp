// SPDX-License-Identifier: Apache-2.0
// The start as a framework makes it: visible devices, and a default device for every thread.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>
#include <thread>

#include "acl/acl.h"
#include "support/handles.h"
#include "support/runtime_test.h"

namespace {

using namespace support;

class VisibleDevicesTest : public support::EndedRuntimeTest {
 protected:
    ~VisibleDevicesTest() override {
        unsetenv(kVariable);
        support::EndRuntime();
    }
    static constexpr const char* kVariable = "ASCEND_RT_VISIBLE_DEVICES";
    static void See(const char* devices) {
        setenv("ADVANCE_STEP_DEVICES", "4", 1);
        setenv(kVariable, devices, 1);
    }
    static int Count() {
        uint32_t count = 77;
        EXPECT_TRUE(IsOk(aclrtGetDeviceCount(&count)));
        return static_cast<int>(count);
    }
};

TEST_F(VisibleDevicesTest, CountsThoseBeforeTheFirstBadEntry) {
    struct {
        const char* text;
        int count;
    } const cases[] = {{"0", 1},       {"3", 1},     {"0,1,2,3", 4},      {"1,3", 2},
                       {"0,1,x", 2},   {"0,4,1", 1}, {"0,-1", 1},         {"2,3,", 2},
                       {" 1 , 2 ", 2}, {"0,1;2", 1}, {"0,99999999999", 1}};
    for (const auto& c : cases) {
        See(c.text);
        EXPECT_EQ(Count(), c.count) << c.text << ": read anew, because nothing has started";
    }
}

TEST_F(VisibleDevicesTest, WithoutOneThereIsNoDevice) {
    for (const char* const text : {"", "x", "4", "-1", "1,0", "0,0", "0,2,1", ","}) {
        See(text);
        uint32_t count = 77;
        EXPECT_TRUE(IsError(
            ACL_ERROR_RT_NO_DEVICE, aclrtGetDeviceCount(&count),
            {"aclrtGetDeviceCount: ", kVariable, std::string("\"") + text + "\"", "expected"}))
            << text;
        EXPECT_EQ(count, 77U);
        ASSERT_TRUE(IsOk(aclInit(nullptr)));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_NO_DEVICE, aclrtGetDeviceCount(&count), {kVariable}));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_NO_DEVICE, aclrtSetDevice(0), {kVariable}));
        EXPECT_EQ(aclrtGetSocName(), nullptr);
        ASSERT_TRUE(IsOk(aclFinalize()));
    }
}

TEST_F(VisibleDevicesTest, IsReadOnceWhenTheRuntimeStarts) {
    See("1,2,3");
    ASSERT_TRUE(IsOk(aclInit(nullptr)));
    See("0");
    EXPECT_EQ(Count(), 3);
    ASSERT_TRUE(IsOk(aclFinalize()));
    EXPECT_EQ(Count(), 1);
}

TEST_F(VisibleDevicesTest, NumbersBeginAtZero) {
    See("1,3");
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    int32_t device = -1;
    EXPECT_TRUE(IsOk(aclrtGetDevice(&device)));
    EXPECT_EQ(device, 1);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(2), {"device count = 2"}));
    int32_t can = 0;
    EXPECT_TRUE(IsOk(aclrtDeviceCanAccessPeer(&can, 0, 1)));
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_INVALID_DEVICEID, aclrtDeviceCanAccessPeer(&can, 0, 3)));
    (void)support::TakeMessage();
}

class DefaultDeviceTest : public support::EndedRuntimeTest {
 protected:
    static int Init(const std::string& text) {
        const TempFile file(text);
        return aclInit(file.Path());
    }
    static int DeviceOfANewThread(int code = ACL_SUCCESS) {
        int32_t device = -1;
        std::thread([&] { EXPECT_TRUE(IsCode(code, aclrtGetDevice(&device))); }).join();
        return device;
    }
};

TEST_F(DefaultDeviceTest, EveryThreadWithoutAContextGetsIt) {
    ASSERT_TRUE(IsOk(Init(R"({"dump": {"dump_scene": "lite_exception"},
                             "defaultDevice": {"default_device": "1"}})")));
    EXPECT_EQ(DeviceOfANewThread(), 1);
    std::thread([] {
        const support::Stream stream = support::MakeStream();
        EXPECT_NE(stream.Get(), nullptr) << "a stream before any aclrtSetDevice";
    }).join();
    std::thread([] {
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
        const support::DeviceBuffer buffer(64);
        EXPECT_TRUE(IsOk(aclrtMemset(buffer.Get(), 64, 0, 64)));
    }).join();
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    int32_t device = -1;
    EXPECT_TRUE(IsOk(aclrtGetDevice(&device)));
    EXPECT_EQ(device, 0) << "a thread with a context keeps it";
}

TEST_F(DefaultDeviceTest, TakesTheUseAndADestroyedContextAsSetDeviceWould) {
    ASSERT_TRUE(IsOk(Init(R"({"defaultDevice": {"default_device": 0}})")));
    int32_t device = -1;
    ASSERT_TRUE(IsOk(aclrtGetDevice(&device)));
    EXPECT_TRUE(IsOk(aclrtResetDevice(0)));
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, aclrtResetDevice(0)));
    ASSERT_TRUE(IsOk(aclrtGetDevice(&device))) << "the context has gone, so it is made anew";
    EXPECT_TRUE(IsOk(aclrtResetDevice(0)));
}

TEST_F(DefaultDeviceTest, EndsWithTheRuntime) {
    ASSERT_TRUE(IsOk(Init(R"({"defaultDevice": {"default_device": "0"}})")));
    EXPECT_EQ(DeviceOfANewThread(), 0);
    ASSERT_TRUE(IsOk(aclFinalize()));
    EXPECT_EQ(DeviceOfANewThread(ACL_ERROR_RT_CONTEXT_NULL), -1);
    ASSERT_TRUE(IsOk(aclInit(nullptr)));
    EXPECT_EQ(DeviceOfANewThread(ACL_ERROR_RT_CONTEXT_NULL), -1) << "the key is not in force";
}

TEST_F(DefaultDeviceTest, AlsoAfterAnEarlierDevice) {
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    EXPECT_TRUE(
        IsError(ACL_ERROR_INTERNAL_ERROR, Init(R"({"defaultDevice": {"default_device": "2"}})")));
    ASSERT_TRUE(IsOk(Init(R"({"defaultDevice": {"default_device": "1"}})")));
    EXPECT_EQ(DeviceOfANewThread(), 1);
}

TEST_F(DefaultDeviceTest, RefusesOtherValues) {
    for (const char* const value :
         {R"("2")", R"("-1")", R"("")", R"("x")", "2", "-1", "1.5", "null", "[0]", "{}"}) {
        EXPECT_TRUE(
            IsError(ACL_ERROR_INTERNAL_ERROR,
                    Init(std::string(R"({"defaultDevice": {"default_device": )") + value + "}}"),
                    {"aclInit: ", "default_device", "expected"}))
            << value;
    }
    for (const char* const text :
         {R"({"defaultDevice": "0"})", R"({"defaultDevice": {}})", R"({"defaultDevice": []})"}) {
        EXPECT_TRUE(IsError(ACL_ERROR_INTERNAL_ERROR, Init(text), {"aclInit: ", "expected"}));
    }
    EXPECT_EQ(DeviceOfANewThread(ACL_ERROR_RT_CONTEXT_NULL), -1);
    ASSERT_TRUE(IsOk(aclInit(nullptr))) << "a failed call leaves no reference";
}

}  // namespace
