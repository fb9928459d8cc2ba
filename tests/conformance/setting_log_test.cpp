// SPDX-License-Identifier: Apache-2.0
// What the log says of settings and failures, level by level.
#include <gmock/gmock.h>

#include <string>

#include "acl/acl.h"
#include "advance_step/version.h"
#include "support/advance_step_batch.h"
#include "support/batches.h"
#include "support/runtime_test.h"
#include "support/settings.h"
#include "support/stderr_capture.h"

namespace {

using namespace support;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

std::string TextOfStart(const Settings& settings) {
    const StderrCapture capture;
    const SettingsGuard guard(settings);
    EXPECT_TRUE(IsOk(guard.Status()));
    return capture.Text();
}

TEST(UnknownSettingTest, IsWarnedOfWithTheNearestName) {
    EXPECT_EQ(TextOfStart({{"ADVANCE_STEP_THREAD", "4"}}),
              "advance_step warn: the environment has ADVANCE_STEP_THREAD, which is no setting; "
              "the nearest is ADVANCE_STEP_THREADS\n");
    EXPECT_THAT(TextOfStart({{"ADVANCE_STEP_CONFROMANCE", "exact"}}),
                HasSubstr("the nearest is ADVANCE_STEP_CONFORMANCE\n"));
}

TEST(UnknownSettingTest, IsSilentIfTheLogIsOff) {
    EXPECT_THAT(TextOfStart({{"ADVANCE_STEP_THREAD", "4"}, {"ADVANCE_STEP_LOG", "off"}}),
                IsEmpty());
}

TEST(UnknownSettingTest, IsNoneThatThePackageOrTheTestsKnow) {
    EXPECT_THAT(TextOfStart({{"ADVANCE_STEP_LIBRARY", "x"},
                             {"ADVANCE_STEP_HOST_OPERATORS", "0"},
                             {"ADVANCE_STEP_HCCL", "c"},
                             {"ADVANCE_STEP_TEST_SEED", "3"},
                             {"ADVANCE_STEP_DEVICES", "1"}}),
                IsEmpty());
}

TEST(InfoLogTest, TellsSettingsAndDevices) {
    const std::string text = TextOfStart({{"ADVANCE_STEP_LOG", "info"},
                                          {"ADVANCE_STEP_SOC", "sim:5"},
                                          {"ADVANCE_STEP_MEMORY", "4M"},
                                          {"ADVANCE_STEP_THREADS", "3"}});
    EXPECT_THAT(text,
                AllOf(HasSubstr("advance_step info: libadvance_step " ADVSTEP_VERSION_STRING "\n"),
                      HasSubstr("advance_step info: settings of the environment:"),
                      HasSubstr(" ADVANCE_STEP_SOC=sim:5"),
                      HasSubstr("advance_step info: 2 devices of SoC sim:5: 5 vector cores "
                                "and 4194304 bytes of memory each, on 3 threads\n")));
}

TEST(InfoLogTest, TellsFailuresOfTasksAsTheyHappen) {
    const SettingsGuard guard(Settings{{"ADVANCE_STEP_LOG", "info"}});
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    auto data = support::MakeBatch(6, 4, 4, 3, 1);
    data.seqLens[1] = 977;
    support::AdvanceStepBatch batch(data);
    const StderrCapture capture;
    EXPECT_EQ(batch.Run(nullptr), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
    EXPECT_THAT(capture.Text(),
                AllOf(HasSubstr("advance_step info: task "), HasSubstr(" of stream "),
                      HasSubstr(" failed with 507035: "), HasSubstr("977")));
}

TEST(DebugLogTest, TellsEachCallThatFails) {
    const SettingsGuard guard(Settings{{"ADVANCE_STEP_LOG", "debug"}});
    const StderrCapture capture;
    EXPECT_EQ(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(capture.Text(),
              "advance_step debug: aclrtFree returned 100000: devPtr is null; expected a "
              "pointer\n");
}

}  // namespace
