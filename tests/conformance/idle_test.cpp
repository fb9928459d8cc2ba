// SPDX-License-Identifier: Apache-2.0
// An idle runtime uses no CPU: its threads sleep, and nothing but a call can wake them.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "acl/acl.h"
#include "support/advance_step_batch.h"
#include "support/batches.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "support/tasks.h"

namespace {

using support::DoingOf;
using support::IsOk;
using support::SleepsForGood;

class IdleTest : public support::EndedRuntimeTest {
 protected:
    // Work for the streams' threads and for those of the cores.
    static void Work() {
        const support::Stream stream = support::MakeStream();
        const support::Recorder recorder;
        support::AdvanceStepBatch batch(support::MakeBatch(40000, 30000, 4, 5, 7));
        ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 0)));
        ASSERT_TRUE(recorder.WaitFor(1));
        ASSERT_TRUE(IsOk(batch.Run(stream.Get())));
    }
};

TEST_F(IdleTest, EveryThreadSleepsUntilItIsCalled) {
    if (DoingOf("/proc/thread-self").empty()) {
        GTEST_SKIP() << "the kernel does not tell what threads do";
    }
    const std::set<std::string> before = support::Tasks();  // the test's own, and a sanitizer's
    const support::SettingsGuard guard(support::Settings{{"ADVANCE_STEP_THREADS", "4"}});
    ASSERT_TRUE(IsOk(guard.Status()));
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    for (int round = 0; round < 2; ++round) {  // the second after they have been woken
        ASSERT_NO_FATAL_FAILURE(Work());
        const std::set<std::string> threads = support::TasksSince(before);
        ASSERT_GE(threads.size(), 4U) << "of streams and of cores";
        for (const std::string& thread : threads) {
            EXPECT_TRUE(support::Eventually([&] { return SleepsForGood(DoingOf(thread)); }))
                << "thread " << thread << " is at " << DoingOf(thread);
        }
        // One that slept was not woken by another that went to sleep.
        for (const std::string& thread : threads) {
            EXPECT_TRUE(SleepsForGood(DoingOf(thread))) << thread;
        }
    }
}

}  // namespace
