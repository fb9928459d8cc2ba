// SPDX-License-Identifier: Apache-2.0
// Tests of host work: shares, what a run fails with, limits of time, the floating-point
// environment.

#include "src/runtime/commands/host_work.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <chrono>
#include <cstring>
#include <functional>
#include <stdexcept>

#include "acl/acl_base.h"
#include "src/runtime/commands/launcher.h"
#include "src/runtime/device/device.h"
#include "src/runtime/stream/stream.h"
#include "support/watchdog.h"
#include "unit/runtime/stream/stream_bench.h"
#include "unit/status_check.h"

namespace advstep {
namespace {

using unit::FailsWith;
using unit::Succeeds;

// Calls a function, and says when it is destroyed.
class TestWork final : public HostWork {
 public:
    TestWork(std::function<int32_t(void*, char*)> run, int* ended)
        : HostWork("aclnnWork"), run_(std::move(run)), ended_(ended) {}
    void ListUses(std::vector<Use>* /*uses*/) const override {}

 private:
    ~TestWork() override { ++*ended_; }
    int32_t Call(void* workspace, char* message, size_t /*size*/) const override {
        return run_(workspace, message);
    }

    const std::function<int32_t(void*, char*)> run_;
    int* const ended_;
};

class HostWorkTest : public testing::Test {
 protected:
    TestWork* Make(std::function<int32_t(void*, char*)> run) {
        return new TestWork(std::move(run), &ended_);
    }
    HostWorkLaunch OnDevice() const {
        HostWorkLaunch launch;
        launch.device = &device_;
        return launch;
    }
    uint64_t Count(DeviceCounters::Counter counter) const {
        return device_.counters().Read(counter);
    }

    support::Watchdog watchdog_{std::chrono::seconds(60)};
    unit::CountingWorkers workers_;
    Stream stream_;
    unit::StreamBench bench_{&stream_, 0x157, &workers_};
    const Device device_{0, Settings{}};
    int ended_ = 0;
};

TEST_F(HostWorkTest, ATaskHasAShareUntilItHasRun) {
    int workspace = 0;
    TestWork* const work = Make([](void* memory, char*) -> int32_t {
        ++*static_cast<int*>(memory);
        return 0;
    });
    HostWorkLaunch launch = OnDevice();
    launch.workspace = &workspace;
    work->Own();
    EXPECT_TRUE(work->IsShared());
    EXPECT_TRUE(Succeeds(EnqueueHostWork(bench_.Ref(), work, launch)));
    EXPECT_EQ(workspace, 0);
    EXPECT_TRUE(Succeeds(bench_.Synchronize()));
    EXPECT_EQ(workspace, 1);
    EXPECT_EQ(ended_, 0);
    EXPECT_FALSE(work->IsShared());
    EXPECT_EQ(Count(DeviceCounters::kLaunches), 1U);
    work->Drop();
    EXPECT_EQ(ended_, 1);
}

TEST_F(HostWorkTest, ARefusedTaskDropsTheShare) {
    EXPECT_FALSE(EnqueueHostWork({&stream_, 0x999, unit::kCaller},
                                 Make([](void*, char*) -> int32_t { return 0; }), OnDevice())
                     .ok());
    EXPECT_EQ(ended_, 1);
}

TEST_F(HostWorkTest, ASkippedTaskDropsTheShare) {
    int runs = 0;
    EXPECT_TRUE(Succeeds(EnqueueHostWork(
        bench_.Ref(), Make([&](void*, char*) -> int32_t { return ++runs; }), OnDevice())));
    EXPECT_TRUE(Succeeds(bench_.Ref().Abort()));
    (void)bench_.Synchronize();
    EXPECT_EQ(runs, 0);
    EXPECT_EQ(ended_, 1);
    EXPECT_EQ(Count(DeviceCounters::kLaunches), 0U);
}

TEST_F(HostWorkTest, FailuresAreCountedAndHaveTheName) {
    const auto run = [&](std::function<int32_t(void*, char*)> function) {
        EXPECT_TRUE(Succeeds(EnqueueHostWork(bench_.Ref(), Make(std::move(function)), OnDevice())));
        return bench_.Synchronize();
    };
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_AICPU_EXCEPTION, run([](void*, char* message) -> int32_t {
                              std::strcpy(message, "no");
                              return ACL_ERROR_RT_AICPU_EXCEPTION;
                          }),
                          {"aclnnWork: no"}));
    EXPECT_TRUE(FailsWith(ACL_ERROR_FAILURE, run([](void*, char*) -> int32_t {
                              throw std::runtime_error("a reason");
                          }),
                          {"aclnnWork threw an exception: a reason"}));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, run([](void*, char*) -> int32_t {
                              return ACL_ERROR_RT_RESOURCE_ALLOC_FAIL;
                          })));
    EXPECT_EQ(Count(DeviceCounters::kLaunches), 3U);
    EXPECT_EQ(Count(DeviceCounters::kExceptions), 2U);
    EXPECT_EQ(Count(DeviceCounters::kAllocationFailures), 1U);
    EXPECT_EQ(ended_, 3);
}

// The work of it takes 3 us or more.
TEST_F(HostWorkTest, ARunThatTakesLongerThanItsLimitFailsAtItsEnd) {
    using Clock = std::chrono::steady_clock;
    int runs = 0;
    const auto slow = [&](void*, char*) -> int32_t {
        const auto begin = Clock::now();
        while (Clock::now() - begin < std::chrono::microseconds(3)) {
        }
        ++runs;
        return 0;
    };
    HostWorkLaunch launch = OnDevice();
    launch.timeLimit = 1;
    EXPECT_TRUE(Succeeds(EnqueueHostWork(bench_.Ref(), Make(slow), launch)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_VECTOR_CORE_TIMEOUT, bench_.Synchronize(),
                          {"aclnnWork: took ", "; expected at most 1 us"}));
    launch.timeLimit = UINT64_MAX;
    EXPECT_TRUE(Succeeds(EnqueueHostWork(bench_.Ref(), Make(slow), launch)));
    EXPECT_TRUE(Succeeds(bench_.Synchronize()));
    EXPECT_EQ(runs, 2);
}

TEST_F(HostWorkTest, RunsInTheDefaultFloatingPointEnvironment) {
    int during = -1;
    ASSERT_EQ(std::fesetround(FE_DOWNWARD), 0);
    EXPECT_TRUE(Succeeds(EnqueueHostWork(bench_.Ref(), Make([&](void*, char*) -> int32_t {
                                             during = std::fegetround();
                                             return std::fesetround(FE_UPWARD);
                                         }),
                                         OnDevice())));
    EXPECT_TRUE(Succeeds(bench_.Synchronize()));
    EXPECT_EQ(during, FE_TONEAREST);
    EXPECT_EQ(std::fegetround(), FE_DOWNWARD);
    ASSERT_EQ(std::fesetround(FE_TONEAREST), 0);
}

}  // namespace
}  // namespace advstep
