// SPDX-License-Identifier: Apache-2.0
// Tests of the launcher: copies, checks, replacement.

#include "src/runtime/commands/launcher.h"

#include <gtest/gtest.h>

#include "acl/acl_base.h"
#include "src/runtime/device/device.h"
#include "src/runtime/stream/stream.h"
#include "support/watchdog.h"
#include "unit/runtime/stream/stream_bench.h"
#include "unit/status_check.h"

namespace advstep {
namespace {

using unit::FailsWith;
using unit::Succeeds;

struct SumPayload {
    int64_t* sum;
    int64_t value;
};

class LauncherTest : public testing::Test {
 protected:
    LauncherTest() {
        program_.call = "aclnnSum";
        program_.phases[program_.phaseCount++].run = [](const CoreContext& core, const void* data) {
            const auto& payload = *static_cast<const SumPayload*>(data);
            *payload.sum += payload.value * (core.index + 1);
        };
    }

    StreamRef Target(Handle handle, Handle caller) { return {&stream_, handle, caller}; }

    support::Watchdog watchdog_{std::chrono::seconds(60)};
    unit::CountingWorkers workers_;
    Stream stream_;
    unit::StreamBench bench_{&stream_, 0x157, &workers_};
    const Device device_{0, Settings{}};
    KernelProgram program_;
};

TEST_F(LauncherTest, QueuesACopyOfThePayload) {
    int64_t sum = 0;
    SumPayload payload{&sum, 5};
    const PlannedLaunch launch{{&program_, &device_, 2, {0}, 2}, sizeof(payload)};
    EXPECT_TRUE(Succeeds(TheLauncher().Launch(Target(0x157, unit::kCaller), launch, &payload,
                                              KernelTask::BytesFor(launch))));
    payload = {nullptr, 7};
    EXPECT_EQ(sum, 0);
    EXPECT_TRUE(Succeeds(bench_.Synchronize()));
    EXPECT_EQ(sum, 15);
}

TEST_F(LauncherTest, StreamIsChecked) {
    const SumPayload payload{nullptr, 0};
    const PlannedLaunch launch{{&program_, &device_, 2, {0}, 2}, sizeof(payload)};
    Launcher& launcher = TheLauncher();
    EXPECT_TRUE(Succeeds(launcher.CheckStream(Target(0x157, unit::kCaller))));
    for (const auto& [handle, caller, code] :
         {std::tuple<Handle, Handle, int32_t>{0x257, unit::kCaller, ACL_ERROR_RT_INVALID_HANDLE},
          {0x157, 0x2C5, ACL_ERROR_RT_STREAM_CONTEXT}}) {
        EXPECT_TRUE(FailsWith(code, launcher.CheckStream(Target(handle, caller))));
        EXPECT_TRUE(FailsWith(code, launcher.Launch(Target(handle, caller), launch, &payload,
                                                    KernelTask::BytesFor(launch))));
    }
    EXPECT_TRUE(bench_.Complete());  // nothing was queued
}

TEST_F(LauncherTest, AnotherOneCanBePutInPlace) {
    Launcher& real = TheLauncher();
    Launcher other;
    EXPECT_EQ(ExchangeLauncher(&other), nullptr);
    EXPECT_EQ(&TheLauncher(), &other);
    EXPECT_EQ(ExchangeLauncher(nullptr), &other);
    EXPECT_EQ(&TheLauncher(), &real);
}

}  // namespace
}  // namespace advstep
