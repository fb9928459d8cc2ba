// SPDX-License-Identifier: Apache-2.0
// The end of a process with work pending: it ends, with the status that was asked for.
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "advance_step/fault_injection.h"
#include "support/advance_step_batch.h"
#include "support/batches.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "support/table.h"

namespace {

using support::IsOk;

struct WayOut {
    const char* name;
    void (*leave)();
    int status;
};

class ProcessExitTest : public support::EndedRuntimeTest,
                        public testing::WithParamInterface<WayOut> {
 protected:
    ProcessExitTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

// A stream that stands in a host function, one that is held, kernels, copies, a capture and a
// thread that waits for it all.
void Busy() {
    alarm(60);
    ASSERT_TRUE(IsOk(aclInit(nullptr)));
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    static support::Signal entered;
    aclrtStream streams[4] = {};
    for (aclrtStream& stream : streams) {
        ASSERT_TRUE(IsOk(aclrtCreateStream(&stream)));
    }
    ASSERT_TRUE(IsOk(aclrtLaunchHostFunc(
        streams[0],
        [](void*) {
            entered.Set();
            for (;;) {
                pause();
            }
        },
        nullptr)));
    ASSERT_TRUE(entered.Wait());
    uint64_t hold = 0;
    ASSERT_TRUE(IsOk(advstepHoldStream(streams[1], &hold)));
    static auto* const batch = new support::AdvanceStepBatch(support::MakeBatch(4, 3, 4, 5, 1));
    for (int i = 0; i < 100; ++i) {
        for (const aclrtStream stream : {streams[0], streams[1], streams[2]}) {
            ASSERT_TRUE(IsOk(batch->Plan()));
            ASSERT_TRUE(IsOk(batch->Launch(stream)));
        }
    }
    ASSERT_TRUE(IsOk(aclmdlRICaptureBegin(streams[3], ACL_MODEL_RI_CAPTURE_MODE_RELAXED)));
    aclrtContext context = nullptr;
    ASSERT_TRUE(IsOk(aclrtGetCurrentContext(&context)));
    std::thread([context, stream = streams[1]] {
        (void)aclrtSetCurrentContext(context);
        (void)aclrtSynchronizeStream(stream);
    }).detach();
}

TEST_P(ProcessExitTest, EndsWithItsStatus) {
    EXPECT_EXIT(
        {
            Busy();
            GetParam().leave();
        },
        testing::ExitedWithCode(GetParam().status), "");
}

// Work that is through by then: the library can be ended after main().
void EndAfterMain() {
    (void)std::atexit([] {
        (void)advstepClearFaults();
        aclrtStream stream = nullptr;
        const bool works = aclrtCreateStream(&stream) == 0 && aclrtDestroyStream(stream) == 0;
        _exit(works ? 6 : 66);
    });
    std::exit(0);
}

void ExitInATask() {
    aclrtStream stream = nullptr;
    (void)aclrtCreateStream(&stream);
    (void)aclrtLaunchHostFunc(
        stream, [](void*) { std::exit(7); }, nullptr);
    (void)aclrtSynchronizeStream(stream);
}

void ExitInAWorker() {
    aclrtStream stream = nullptr;
    (void)aclrtCreateStream(&stream);
    (void)aclrtLaunchHostFunc(
        stream, [](void*) { std::exit(8); }, nullptr);
    for (;;) {
        pause();
    }
}

INSTANTIATE_TEST_SUITE_P(
    Ways, ProcessExitTest,
    testing::Values(WayOut{"Exit", [] { std::exit(3); }, 3},  // as a return from main
                    WayOut{"QuickExit", [] { std::quick_exit(4); }, 4},
                    WayOut{"ExitOfAThread", [] { std::thread([] { std::exit(5); }).join(); }, 5},
                    WayOut{"CallsAfterMain", &EndAfterMain, 6},
                    WayOut{"ExitInATask", &ExitInATask, 7},
                    WayOut{"ExitInAWorker", &ExitInAWorker, 8}),
    support::CaseName());

}  // namespace
