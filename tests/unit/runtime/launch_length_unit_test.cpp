// SPDX-License-Identifier: Apache-2.0
// How long launches count as, by their programs and rows, and their time limits.
#include <gtest/gtest.h>

#include <chrono>

#include "acl/acl_base.h"
#include "src/runtime/device/device.h"
#include "src/runtime/device/kernel_launch.h"
#include "unit/status_check.h"

namespace advstep {
namespace {

constexpr int64_t kUnknown = -1;

TEST(LaunchLengthTest, MuchWorkIsHeavy) {
    const KernelProgram program;
    EXPECT_EQ(LengthOf(program, 8, 256), TaskLength::kUsual);
    EXPECT_EQ(LengthOf(program, 8, 16384), TaskLength::kUsual);
    EXPECT_EQ(LengthOf(program, 8, 16385), TaskLength::kHeavy);
    EXPECT_EQ(LengthOf(program, 16385, kUnknown), TaskLength::kHeavy);
}

// Rows of which the data decide may be long.
TEST(LaunchLengthTest, FewEvenRowsAreBriefAndThoseWhoseDataDecideMayBe) {
    KernelProgram program;
    program.isBrief = [](const void*) { return true; };
    EXPECT_EQ(LengthOf(program, 2048, kUnknown), TaskLength::kGauged);
    EXPECT_EQ(LengthOf(program, 2049, kUnknown), TaskLength::kUnknown);
    EXPECT_EQ(LengthOf(program, 16384, kUnknown), TaskLength::kUnknown);
    EXPECT_EQ(LengthOf(program, 16385, kUnknown), TaskLength::kHeavy);
    program.evenRows = true;
    EXPECT_EQ(LengthOf(program, 2048, kUnknown), TaskLength::kBrief);
    EXPECT_EQ(LengthOf(program, 2049, kUnknown), TaskLength::kUsual);
}

TEST(LaunchLengthTest, RowsTellLittleUnlessTheyAreEvenOrTheirWorkIsKnown) {
    KernelProgram program;
    for (const int64_t rows : {0, 1, 2048, 2049, 16384}) {
        EXPECT_EQ(LengthOf(program, rows, kUnknown), TaskLength::kUnknown) << rows;
        EXPECT_EQ(LengthOf(program, rows, rows), TaskLength::kUsual) << rows;
    }
}

// The kernel of it takes 3 us or more.
TEST(LaunchLengthTest, ALaunchThatTakesLongerThanItsLimitFailsAtItsEnd) {
    using Clock = std::chrono::steady_clock;
    KernelProgram program;
    program.call = "aclnnSlow";
    program.phaseCount = 1;
    program.phases[0].run = [](const CoreContext&, const void* payload) {
        const auto begin = Clock::now();
        while (Clock::now() - begin < std::chrono::microseconds(3)) {
        }
        ++**static_cast<int* const*>(payload);
    };
    const Device device(0, Settings{});
    int runs = 0;
    const int* const payload = &runs;
    PlannedLaunch launch;
    launch.program = &program;
    launch.device = &device;
    launch.coreCount = 1;
    launch.payloadBytes = sizeof(payload);
    alignas(kTaskAlignment) unsigned char record[256];
    const Task& task = *KernelTask::Make(record, launch, &payload);
    constexpr int32_t kCode = ACL_ERROR_RT_VECTOR_CORE_TIMEOUT;
    EXPECT_TRUE(unit::FailsWith(kCode, RunKernelTaskWithin(task, 1, kCode),
                                {"aclnnSlow: took ", "; expected at most 1 us"}));
    EXPECT_TRUE(unit::Succeeds(RunKernelTaskWithin(task, 0, kCode)));
    EXPECT_TRUE(unit::Succeeds(RunKernelTaskWithin(task, UINT64_MAX, kCode)));
    EXPECT_TRUE(unit::Succeeds(RunOperatorTask(task)));
    EXPECT_TRUE(unit::Succeeds(RunFloatOperatorTask(task)));
    EXPECT_EQ(runs, 5);
}

}  // namespace
}  // namespace advstep
