// SPDX-License-Identifier: Apache-2.0
// Tests of settings: defaults, environment, file, refused values.

#include "src/base/settings.h"

#include <gtest/gtest.h>

#include "acl/acl_base.h"
#include "support/settings.h"
#include "support/table.h"
#include "unit/status_check.h"

namespace advstep {
namespace {

// Settings of an environment with exactly these variables.
Status Load(const support::Settings& environment, Settings* settings,
            const char* configPath = nullptr) {
    const support::EnvironmentGuard guard(environment);
    return LoadSettings(configPath, settings);
}

TEST(SettingsTest, DefaultsAreTheDocumentedOnes) {
    Settings settings;
    ASSERT_TRUE(unit::Succeeds(Load({}, &settings)));
    EXPECT_EQ(settings.conformance, Conformance::kStandard);
    EXPECT_EQ(settings.soc.name, "Ascend910B3");
    EXPECT_EQ(settings.soc.aiCores, 20);
    EXPECT_EQ(settings.soc.vectorCores, 40);
    EXPECT_EQ(settings.soc.unifiedBufferBytes, 196608);
    EXPECT_EQ(settings.devices, 2);
    EXPECT_GE(settings.threads, 1);
    EXPECT_GT(settings.memoryBytes, 0U);
    EXPECT_EQ(settings.queueTasks, 1U << 20);
    EXPECT_FALSE(settings.coreOrder.has_value());
    EXPECT_EQ(settings.guard, GuardMode::kOff);
    EXPECT_EQ(settings.onDivergence, OnDivergence::kIgnore);
    EXPECT_EQ(settings.logLevel, LogLevel::kError);
}

TEST(SettingsTest, EveryVariableIsRead) {
    Settings settings;
    ASSERT_TRUE(unit::Succeeds(Load({{"ADVANCE_STEP_CONFORMANCE", "vllm"},
                                     {"ADVANCE_STEP_SOC", "Ascend910B1"},
                                     {"ADVANCE_STEP_DEVICES", "3"},
                                     {"ADVANCE_STEP_THREADS", "4"},
                                     {"ADVANCE_STEP_MEMORY", "6M"},
                                     {"ADVANCE_STEP_QUEUE", "9"},
                                     {"ADVANCE_STEP_CORE_ORDER", "6"},
                                     {"ADVANCE_STEP_GUARD", "before"},
                                     {"ADVANCE_STEP_ON_DIVERGENCE", "warn"},
                                     {"ADVANCE_STEP_ISA", "baseline"},
                                     {"ADVANCE_STEP_LOG", "debug"},
                                     {"ADVANCE_STEP_TRACE", "no-such-folder/trace.json"}},
                                    &settings)));
    EXPECT_EQ(settings.conformance, Conformance::kVllm);
    EXPECT_EQ(settings.soc.name, "Ascend910B1");
    EXPECT_EQ(settings.soc.vectorCores, 48);
    EXPECT_EQ(settings.devices, 3);
    EXPECT_EQ(settings.threads, 4);
    EXPECT_EQ(settings.memoryBytes, 6U << 20);
    EXPECT_EQ(settings.queueTasks, 9U);
    EXPECT_EQ(settings.coreOrder, std::optional<uint64_t>(6));
    EXPECT_EQ(settings.isa, Isa::kBaseline);
    EXPECT_EQ(settings.guard, GuardMode::kBefore);
    EXPECT_EQ(settings.onDivergence, OnDivergence::kWarn);
    EXPECT_EQ(settings.logLevel, LogLevel::kDebug);
    EXPECT_EQ(settings.trace, "no-such-folder/trace.json") << "reading settings opens no file";
}

struct BadSettingCase {
    const char* name;
    const char* variable;
    const char* text;
};

class BadSettingTest : public testing::TestWithParam<BadSettingCase> {};

TEST_P(BadSettingTest, IsRefusedAndChangesNothing) {
    Settings settings;
    settings.devices = 77;
    const Status status = Load({{GetParam().variable, GetParam().text}}, &settings);
    EXPECT_TRUE(unit::FailsWith(ACL_ERROR_FILE_ATTR_INVALID, status,
                                {GetParam().variable, "\"" + std::string(GetParam().text) + "\"",
                                 "in the environment", "expected"}));
    EXPECT_EQ(settings.devices, 77);
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadSettingTest,
    testing::Values(BadSettingCase{"Conformance", "ADVANCE_STEP_CONFORMANCE", "Standard"},
                    BadSettingCase{"ConformanceEmpty", "ADVANCE_STEP_CONFORMANCE", ""},
                    BadSettingCase{"Soc", "ADVANCE_STEP_SOC", "Ascend310"},
                    BadSettingCase{"SocNoCores", "ADVANCE_STEP_SOC", "sim:0"},
                    BadSettingCase{"DevicesNone", "ADVANCE_STEP_DEVICES", "0"},
                    BadSettingCase{"DevicesNegative", "ADVANCE_STEP_DEVICES", "-1"},
                    BadSettingCase{"DevicesTail", "ADVANCE_STEP_DEVICES", "2x"},
                    BadSettingCase{"DevicesTooMany", "ADVANCE_STEP_DEVICES", "1025"},
                    BadSettingCase{"ThreadsNone", "ADVANCE_STEP_THREADS", "0"},
                    BadSettingCase{"ThreadsEmpty", "ADVANCE_STEP_THREADS", ""},
                    BadSettingCase{"ThreadsSpace", "ADVANCE_STEP_THREADS", " 2"},
                    BadSettingCase{"ThreadsHuge", "ADVANCE_STEP_THREADS", "18446744073709551617"},
                    BadSettingCase{"MemoryNone", "ADVANCE_STEP_MEMORY", "0"},
                    BadSettingCase{"MemorySuffixAlone", "ADVANCE_STEP_MEMORY", "G"},
                    BadSettingCase{"MemorySuffixUnknown", "ADVANCE_STEP_MEMORY", "4T"},
                    BadSettingCase{"MemoryTooLargeToShift", "ADVANCE_STEP_MEMORY", "17179869184G"},
                    BadSettingCase{"QueueNegative", "ADVANCE_STEP_QUEUE", "-1"},
                    BadSettingCase{"QueueSuffix", "ADVANCE_STEP_QUEUE", "1M"},
                    BadSettingCase{"QueueEmpty", "ADVANCE_STEP_QUEUE", ""},
                    BadSettingCase{"CoreOrder", "ADVANCE_STEP_CORE_ORDER", "descending"},
                    BadSettingCase{"CoreOrderNegative", "ADVANCE_STEP_CORE_ORDER", "-3"},
                    BadSettingCase{"GuardBoth", "ADVANCE_STEP_GUARD", "after,before"},
                    BadSettingCase{"OnDivergence", "ADVANCE_STEP_ON_DIVERGENCE", "fail"},
                    BadSettingCase{"Isa", "ADVANCE_STEP_ISA", "AVX2"},
                    BadSettingCase{"Log", "ADVANCE_STEP_LOG", "verbose"},
                    BadSettingCase{"TraceEmpty", "ADVANCE_STEP_TRACE", ""}),
    support::CaseName());

struct MemoryCase {
    const char* name;
    const char* text;
    uint64_t bytes;
};

class MemorySettingTest : public testing::TestWithParam<MemoryCase> {};

TEST_P(MemorySettingTest, IsRead) {
    Settings settings;
    ASSERT_TRUE(unit::Succeeds(Load({{"ADVANCE_STEP_MEMORY", GetParam().text}}, &settings)));
    EXPECT_EQ(settings.memoryBytes, GetParam().bytes);
}

INSTANTIATE_TEST_SUITE_P(
    Table, MemorySettingTest,
    testing::Values(MemoryCase{"One", "1", 1}, MemoryCase{"Plain", "12", 12},
                    MemoryCase{"Kilo", "3K", 3 * 1024}, MemoryCase{"Mega", "3M", 2 * 1048576},
                    MemoryCase{"Even", "6M", 6 * 1048576},
                    MemoryCase{"Uneven", "16777215", 14 * 1048576},
                    MemoryCase{"Giga", "8G", 8589934592},
                    MemoryCase{"MostGiga", "17179869183G", uint64_t{17179869183} << 30}),
    support::CaseName());

struct SocCase {
    const char* name;
    const char* soc;
    int32_t aiCores;  // 0: unknown
    int32_t vectorCores;
};

class SocTest : public testing::TestWithParam<SocCase> {};

TEST_P(SocTest, HasItsCores) {
    const std::optional<SocSpec> soc = FindSoc(GetParam().soc);
    ASSERT_EQ(soc.has_value(), GetParam().aiCores > 0);
    if (soc) {
        EXPECT_EQ(soc->name, GetParam().soc);
        EXPECT_EQ(soc->aiCores, GetParam().aiCores);
        EXPECT_EQ(soc->vectorCores, GetParam().vectorCores);
        EXPECT_EQ(soc->unifiedBufferBytes, 196608);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Table, SocTest,
    testing::Values(SocCase{"B1", "Ascend910B1", 24, 48}, SocCase{"B2", "Ascend910B2", 24, 48},
                    SocCase{"B3", "Ascend910B3", 20, 40}, SocCase{"B4", "Ascend910B4", 20, 40},
                    SocCase{"A3", "Ascend910_9391", 24, 48}, SocCase{"SimOne", "sim:1", 1, 1},
                    SocCase{"SimOdd", "sim:7", 4, 7}, SocCase{"SimEven", "sim:48", 24, 48},
                    SocCase{"SimNone", "sim:", 0, 0}, SocCase{"SimTail", "sim:4 ", 0, 0},
                    SocCase{"SimTooMany", "sim:65537", 0, 0},
                    SocCase{"OtherCase", "ascend910b3", 0, 0}, SocCase{"Empty", "", 0, 0}),
    support::CaseName());

TEST(SettingsTest, FileIsReadAndTheEnvironmentWins) {
    const support::TempFile file(
        R"({"advance_step": {"ADVANCE_STEP_DEVICES": 5, "ADVANCE_STEP_THREADS": "6"}})");
    Settings settings;
    ASSERT_TRUE(unit::Succeeds(Load({{"ADVANCE_STEP_DEVICES", "3"}}, &settings, file.Path())));
    EXPECT_EQ(settings.devices, 3);
    EXPECT_EQ(settings.threads, 6);
}

TEST(SettingsTest, BadFileValueNamesTheFile) {
    const support::TempFile file(R"({"advance_step": {"ADVANCE_STEP_DEVICES": 0}})");
    Settings settings;
    EXPECT_TRUE(unit::FailsWith(ACL_ERROR_FILE_ATTR_INVALID, Load({}, &settings, file.Path()),
                                {"ADVANCE_STEP_DEVICES", "\"0\"", file.Path()}));
}

TEST(SettingsTest, EnvironmentHidesABadFileValue) {
    const support::TempFile file(R"({"advance_step": {"ADVANCE_STEP_DEVICES": 0}})");
    Settings settings;
    EXPECT_TRUE(unit::Succeeds(Load({{"ADVANCE_STEP_DEVICES", "4"}}, &settings, file.Path())));
    EXPECT_EQ(settings.devices, 4);
}

TEST(SettingsTest, EmptyPathIsNoFile) {
    Settings settings;
    EXPECT_TRUE(unit::Succeeds(Load({}, &settings, "")));
}

TEST(SettingsTest, AscendingIsNoSeed) {
    Settings settings;
    ASSERT_TRUE(unit::Succeeds(Load({{"ADVANCE_STEP_CORE_ORDER", "ascending"}}, &settings)));
    EXPECT_FALSE(settings.coreOrder.has_value());
    ASSERT_TRUE(unit::Succeeds(Load({{"ADVANCE_STEP_CORE_ORDER", "0"}}, &settings)));
    EXPECT_EQ(settings.coreOrder, std::optional<uint64_t>(0));
}

TEST(SettingsTest, InstructionSetsOfThisMachineOnly) {
    const std::pair<const char*, Isa> sets[] = {
        {"baseline", Isa::kBaseline}, {"avx2", Isa::kAvx2}, {"avx512", Isa::kAvx512}};
    for (const auto& [name, isa] : sets) {
        Settings settings;
        const Status loaded = Load({{"ADVANCE_STEP_ISA", name}}, &settings);
        EXPECT_EQ(loaded.code() == 0, IsSupported(isa)) << name;
        EXPECT_EQ(settings.isa, IsSupported(isa) ? isa : Isa::kBaseline) << name;
    }
    Settings settings;
    ASSERT_TRUE(unit::Succeeds(Load({{"ADVANCE_STEP_ISA", "auto"}}, &settings)));
    EXPECT_EQ(settings.isa, BestIsa());
    ASSERT_TRUE(unit::Succeeds(Load({}, &settings)));
    EXPECT_EQ(settings.isa, BestIsa());
}

TEST(SettingsTest, NamesOfSettings) {
    EXPECT_TRUE(IsSettingName("ADVANCE_STEP_SOC"));
    EXPECT_TRUE(IsSettingName("ADVANCE_STEP_TRACE"));
    EXPECT_FALSE(IsSettingName("ADVANCE_STEP_TEST_DATA"));
    EXPECT_FALSE(IsSettingName("advance_step_soc"));
}

}  // namespace
}  // namespace advstep
