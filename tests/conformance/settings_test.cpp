// SPDX-License-Identifier: Apache-2.0
// The settings of the emulated machine: which values each takes, and what they do.
#include <gtest/gtest.h>

#include <string>

#include "acl/acl.h"
#include "support/handles.h"
#include "support/runtime_test.h"
#include "support/table.h"

namespace {

using namespace support;

struct SettingCase {
    const char* name;
    const char* variable;
    const char* value;
};

class BadSettingTest : public testing::TestWithParam<SettingCase> {};

TEST_P(BadSettingTest, IsRefusedByInit) {
    const EnvironmentGuard environment(Settings{{GetParam().variable, GetParam().value}});
    EXPECT_TRUE(IsError(ACL_ERROR_FILE_ATTR_INVALID, aclInit(nullptr),
                        {"aclInit: ", GetParam().variable, GetParam().value}));
}

TEST_P(BadSettingTest, IsRefusedInAFile) {
    const EnvironmentGuard environment{Settings{}};
    const TempFile file(std::string(R"({"advance_step": {")") + GetParam().variable + R"(": ")" +
                        GetParam().value + R"("}})");
    EXPECT_TRUE(IsError(ACL_ERROR_FILE_ATTR_INVALID, aclInit(file.Path()),
                        {"aclInit: ", GetParam().variable}));
}

TEST_P(BadSettingTest, IsRefusedAtFirstDeviceUse) {
    const EnvironmentGuard environment(Settings{{GetParam().variable, GetParam().value}});
    EXPECT_TRUE(IsError(ACL_ERROR_FILE_ATTR_INVALID, aclrtSetDevice(0),
                        {"aclrtSetDevice: ", GetParam().variable}));
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadSettingTest,
    testing::Values(SettingCase{"ConformanceUnknown", "ADVANCE_STEP_CONFORMANCE", "fast"},
                    SettingCase{"ConformanceCase", "ADVANCE_STEP_CONFORMANCE", "Standard"},
                    SettingCase{"SocUnknown", "ADVANCE_STEP_SOC", "Ascend310P3"},
                    SettingCase{"SocPrefix", "ADVANCE_STEP_SOC", "Ascend910B"},
                    SettingCase{"SocSimBare", "ADVANCE_STEP_SOC", "sim"},
                    SettingCase{"SocSimEmpty", "ADVANCE_STEP_SOC", "sim:"},
                    SettingCase{"SocSimZero", "ADVANCE_STEP_SOC", "sim:0"},
                    SettingCase{"SocSimNegative", "ADVANCE_STEP_SOC", "sim:-4"},
                    SettingCase{"SocSimWord", "ADVANCE_STEP_SOC", "sim:many"},
                    SettingCase{"SocSimTail", "ADVANCE_STEP_SOC", "sim:4x"},
                    SettingCase{"SocSimHuge", "ADVANCE_STEP_SOC", "sim:99999999999999999999"},
                    SettingCase{"DevicesZero", "ADVANCE_STEP_DEVICES", "0"},
                    SettingCase{"DevicesNegative", "ADVANCE_STEP_DEVICES", "-1"},
                    SettingCase{"DevicesWord", "ADVANCE_STEP_DEVICES", "two"},
                    SettingCase{"DevicesTail", "ADVANCE_STEP_DEVICES", "2x"},
                    SettingCase{"DevicesHuge", "ADVANCE_STEP_DEVICES", "99999999999999999999"},
                    SettingCase{"ThreadsZero", "ADVANCE_STEP_THREADS", "0"},
                    SettingCase{"ThreadsNegative", "ADVANCE_STEP_THREADS", "-2"},
                    SettingCase{"ThreadsFraction", "ADVANCE_STEP_THREADS", "1.5"},
                    SettingCase{"MemoryWord", "ADVANCE_STEP_MEMORY", "all"},
                    SettingCase{"MemoryNegative", "ADVANCE_STEP_MEMORY", "-1"},
                    SettingCase{"MemorySuffixAlone", "ADVANCE_STEP_MEMORY", "M"},
                    SettingCase{"MemorySuffixUnknown", "ADVANCE_STEP_MEMORY", "1X"},
                    SettingCase{"MemoryTail", "ADVANCE_STEP_MEMORY", "1MM"},
                    SettingCase{"MemoryHuge", "ADVANCE_STEP_MEMORY", "99999999999999999999"},
                    SettingCase{"MemoryOverflow", "ADVANCE_STEP_MEMORY", "17179869184G"},
                    SettingCase{"QueueWord", "ADVANCE_STEP_QUEUE", "unlimited"},
                    SettingCase{"QueueNegative", "ADVANCE_STEP_QUEUE", "-1"},
                    SettingCase{"CoreOrderWord", "ADVANCE_STEP_CORE_ORDER", "descending"},
                    SettingCase{"CoreOrderTail", "ADVANCE_STEP_CORE_ORDER", "7seven"},
                    SettingCase{"GuardUnknown", "ADVANCE_STEP_GUARD", "on"},
                    SettingCase{"DivergenceUnknown", "ADVANCE_STEP_ON_DIVERGENCE", "abort"},
                    SettingCase{"LeaksUnknown", "ADVANCE_STEP_LEAKS", "on"},
                    SettingCase{"SourceLinesUnknown", "ADVANCE_STEP_SOURCE_LINES", "yes"},
                    SettingCase{"LogUnknown", "ADVANCE_STEP_LOG", "verbose"}),
    support::CaseName());

class GoodSettingTest : public testing::TestWithParam<SettingCase> {};

TEST_P(GoodSettingTest, IsTaken) {
    const support::SettingsGuard settings(Settings{{GetParam().variable, GetParam().value}});
    ASSERT_TRUE(IsOk(settings.Status()));
    EXPECT_TRUE(IsOk(aclrtSetDevice(0)));
}

TEST_P(GoodSettingTest, IsTakenInAFile) {
    const EnvironmentGuard environment{Settings{}};
    const TempFile file(std::string(R"({"advance_step": {")") + GetParam().variable + R"(": ")" +
                        GetParam().value + R"("}})");
    ASSERT_TRUE(IsOk(aclInit(file.Path())));
    EXPECT_TRUE(IsOk(aclrtSetDevice(0)));
}

INSTANTIATE_TEST_SUITE_P(
    Table, GoodSettingTest,
    testing::Values(SettingCase{"Standard", "ADVANCE_STEP_CONFORMANCE", "standard"},
                    SettingCase{"Vllm", "ADVANCE_STEP_CONFORMANCE", "vllm"},
                    SettingCase{"Exact", "ADVANCE_STEP_CONFORMANCE", "exact"},
                    SettingCase{"SocDefault", "ADVANCE_STEP_SOC", "Ascend910B3"},
                    SettingCase{"SocC", "ADVANCE_STEP_SOC", "Ascend910_9391"},
                    SettingCase{"SocOneCore", "ADVANCE_STEP_SOC", "sim:1"},
                    SettingCase{"OneDevice", "ADVANCE_STEP_DEVICES", "1"},
                    SettingCase{"OneThread", "ADVANCE_STEP_THREADS", "1"},
                    SettingCase{"FourThreads", "ADVANCE_STEP_THREADS", "4"},
                    SettingCase{"MemoryBytes", "ADVANCE_STEP_MEMORY", "4194304"},
                    SettingCase{"NoQueueLimit", "ADVANCE_STEP_QUEUE", "0"},
                    SettingCase{"LargestQueueLimit", "ADVANCE_STEP_QUEUE", "18446744073709551615"},
                    SettingCase{"Ascending", "ADVANCE_STEP_CORE_ORDER", "ascending"},
                    SettingCase{"CoreSeed", "ADVANCE_STEP_CORE_ORDER", "12345"},
                    SettingCase{"GuardOff", "ADVANCE_STEP_GUARD", "off"},
                    SettingCase{"GuardAfter", "ADVANCE_STEP_GUARD", "after"},
                    SettingCase{"GuardBefore", "ADVANCE_STEP_GUARD", "before"},
                    SettingCase{"DivergenceIgnore", "ADVANCE_STEP_ON_DIVERGENCE", "ignore"},
                    SettingCase{"DivergenceWarn", "ADVANCE_STEP_ON_DIVERGENCE", "warn"},
                    SettingCase{"DivergenceError", "ADVANCE_STEP_ON_DIVERGENCE", "error"},
                    SettingCase{"LeaksOff", "ADVANCE_STEP_LEAKS", "off"},
                    SettingCase{"LeaksReport", "ADVANCE_STEP_LEAKS", "report"},
                    SettingCase{"LogOff", "ADVANCE_STEP_LOG", "off"},
                    SettingCase{"LogError", "ADVANCE_STEP_LOG", "error"},
                    SettingCase{"LogWarn", "ADVANCE_STEP_LOG", "warn"},
                    SettingCase{"LogInfo", "ADVANCE_STEP_LOG", "info"},
                    SettingCase{"LogDebug", "ADVANCE_STEP_LOG", "debug"}),
    support::CaseName());

struct MemoryCase {
    const char* name;
    const char* value;
    size_t bytes;
};

class MemorySettingTest : public testing::TestWithParam<MemoryCase> {};

TEST_P(MemorySettingTest, IsTheTotalOfTheDevice) {
    const support::SettingsGuard settings(Settings{{"ADVANCE_STEP_MEMORY", GetParam().value}});
    ASSERT_TRUE(IsOk(settings.Status()));
    for (const int32_t device : {0, 1}) {
        ASSERT_TRUE(IsOk(aclrtSetDevice(device)));
        size_t free = 0, total = 0;
        ASSERT_TRUE(IsOk(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total)));
        EXPECT_EQ(total, GetParam().bytes);
    }
}

INSTANTIATE_TEST_SUITE_P(Table, MemorySettingTest,
                         testing::Values(MemoryCase{"Bytes", "4194304", 4194304},
                                         MemoryCase{"K", "4096K", 4194304},
                                         MemoryCase{"M", "6M", 6291456},
                                         MemoryCase{"G", "1G", 1073741824}),
                         support::CaseName());

}  // namespace
