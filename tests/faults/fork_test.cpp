// SPDX-License-Identifier: Apache-2.0
// fork: the parent goes on, the child can leave, and can begin anew, whatever the parent's threads
// were in the middle of.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "aclnn/acl_meta.h"
#include "advance_step/fault_injection.h"
#include "support/advance_step_batch.h"
#include "support/batches.h"
#include "support/fork.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "support/sanitizers.h"
#include "support/settings.h"

namespace {

using namespace support;

// A child that hangs is killed by its alarm.
template <class Body>
int ExitOfChild(Body&& body) {
    std::fflush(nullptr);
    const pid_t child = support::Fork();
    if (child == 0) {
        alarm(60);
        body();
        support::EndChild(99);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// Uses the library from its start to its end; the exit status that says where it went wrong.
int UseAnew() {
    if (aclInit(nullptr) != 0) {
        return 10;
    }
    if (aclrtSetDevice(0) != 0) {
        return 11;
    }
    aclrtStream stream = nullptr;
    if (aclrtCreateStream(&stream) != 0) {
        return 12;
    }
    {
        AdvanceStepBatch batch(MakeBatch(400, 300, 4, 5, 7));
        if (batch.Run(stream) != 0) {
            return 13;
        }
        if (!batch.Holds(support::Advanced(batch.Data()))) {
            return 14;
        }
    }
    const support::Signal ran;
    if (support::Enqueue(stream, [ran] { ran.Set(); }) != 0 || !ran.Wait()) {
        return 15;  // work goes on without a synchronisation
    }
    return aclrtDestroyStream(stream) == 0 && aclFinalize() == 0 ? 0 : 16;
}

class ForkTest : public support::DeviceTest {};

TEST_F(ForkTest, TheChildCanLeave) {
    const Stream stream = support::MakeStream();
    const support::HostGate gate(stream.Get());
    ASSERT_TRUE(gate.WaitEntered());
    EXPECT_EQ(ExitOfChild([] { support::EndChild(3); }), 3);
    EXPECT_EQ(ExitOfChild([] { std::exit(4); }), 4);
    EXPECT_EQ(ExitOfChild([] { std::quick_exit(5); }), 5);
}

TEST_F(ForkTest, TheChildCanBeginAnew) {
    const Stream stream = support::MakeStream();
    const support::HostGate gate(stream.Get());
    ASSERT_TRUE(gate.WaitEntered());
    EXPECT_EQ(ExitOfChild([] { std::exit(UseAnew()); }), 0);
    EXPECT_EQ(ExitOfChild([] {
                  const int first = UseAnew();
                  std::exit(first != 0 ? first : ExitOfChild([] { std::exit(UseAnew()); }));
              }),
              0)
        << "a child's child";
}

TEST_F(ForkTest, TheChildHasNoneOfTheParents) {
    const Stream stream = support::MakeStream();
    const support::DeviceBuffer memory(64);
    const aclrtContext context = support::CurrentContext();
    EXPECT_EQ(
        ExitOfChild([&] {
            if (aclrtSynchronizeStream(stream.Get()) != ACL_ERROR_RT_CONTEXT_NULL) {
                support::EndChild(1);
            }
            if (aclrtSetCurrentContext(context) == 0 || aclFinalize() == 0) {
                support::EndChild(2);
            }
            if (aclrtSetDevice(0) != 0 || aclrtFree(memory.Get()) != ACL_ERROR_RT_PARAM_INVALID) {
                support::EndChild(3);
            }
            static_cast<char*>(memory.Get())[0] = 'x';  // but its bytes are there
            support::EndChild(0);
        }),
        0);
}

// Those of the parent's file do not count in the child either.
TEST_F(ForkTest, TheChildHasTheOptionsOfALoad) {
    const support::TempFile file(R"({"advance_step": {"ADVANCE_STEP_LEAKS": "fail"}})");
    ASSERT_TRUE(IsOk(aclFinalize()));
    ASSERT_TRUE(IsOk(aclInit(file.Path())));
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    ASSERT_TRUE(IsOk(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1)));
    ASSERT_TRUE(IsOk(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_SATURATION)));
    ASSERT_TRUE(IsOk(aclrtSetOpWaitTimeout(1)));
    ASSERT_TRUE(IsOk(aclmdlInitDump()));
    EXPECT_EQ(ExitOfChild([] {
                  int64_t value = -1;
                  aclrtFloatOverflowMode mode = ACL_RT_OVERFLOW_MODE_UNDEF;
                  const bool defaults = aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value) == 0 &&
                                        value == 0 && aclrtGetDeviceSatMode(&mode) == 0 &&
                                        mode == ACL_RT_OVERFLOW_MODE_INFNAN;
                  if (!defaults || aclmdlInitDump() != 0) {
                      support::EndChild(1);
                  }
                  // Longer than the parent's timeout.
                  aclrtStream stream = nullptr;
                  if (aclrtSetDevice(0) != 0 || aclrtCreateStream(&stream) != 0) {
                      support::EndChild(2);
                  }
                  {
                      const Stream other = support::MakeStream();
                      const support::Event event = support::MakeEvent();
                      if (advstepDelayStream(other.Get(), 1500000) != 0 ||
                          aclrtRecordEvent(event.Get(), other.Get()) != 0 ||
                          aclrtStreamWaitEvent(stream, event.Get()) != 0 ||
                          aclrtSynchronizeStream(stream) != 0) {
                          support::EndChild(3);
                      }
                  }
                  std::exit(0);  // with a stream that is not destroyed
              }),
              0);
    ASSERT_TRUE(IsOk(aclFinalize()));
    ASSERT_NO_FATAL_FAILURE(Restart({}));
}

TEST_F(ForkTest, TheParentGoesOn) {
    const Stream stream = support::MakeStream();
    const support::Recorder ran;
    {
        const support::HostGate gate(stream.Get());
        ASSERT_TRUE(gate.WaitEntered());
        EXPECT_TRUE(IsOk(ran.Mark(stream.Get(), 1)));
        EXPECT_EQ(ExitOfChild([] { std::exit(UseAnew()); }), 0);
        EXPECT_TRUE(ran.Values().empty());
    }
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(ran.Values(), std::vector<int>{1});
}

TEST_F(ForkTest, InAHostFunction) {
    const Stream stream = support::MakeStream();
    std::atomic<int> status{-1};
    ASSERT_TRUE(IsOk(support::Enqueue(
        stream.Get(), [&status] { status = ExitOfChild([] { support::EndChild(UseAnew()); }); })));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(status, 0);
}

// A thread that has asked for failing allocations still forks: the child's own start is no call.
TEST_F(ForkTest, FaultsDoNotStrikeTheStartOfTheChild) {
    const Stream stream = support::MakeStream();
    ASSERT_TRUE(IsOk(advstepFailAllocations(ADVSTEP_ALLOCATION_INTERNAL, 1, UINT64_MAX)));
    const int left = ExitOfChild([] {
        AdvStepFaultCounts counts{};
        if (advstepReadFaultCounts(&counts) != 0 || counts.allocations != 0) {
            support::EndChild(1);
        }
        support::EndChild(aclrtSetDevice(0) == ACL_ERROR_BAD_ALLOC ? 0 : 2);
    });
    EXPECT_TRUE(IsOk(advstepClearFaults()));
    EXPECT_EQ(left, 0);
}

// The locks of the library are held here and there while the forks happen.
void StayBusy(int seed, const std::atomic<bool>& over) {
    EXPECT_TRUE(IsOk(aclrtSetDevice(0)));
    {
        const support::DeviceBuffer memory(64);
        AdvanceStepBatch batch(MakeBatch(4, 3, 4, 5, static_cast<uint64_t>(seed)));
        const support::Event event = support::MakeEventExWithFlag(ACL_EVENT_SYNC);
        while (!over) {
            const Stream stream = support::MakeStream();
            EXPECT_TRUE(IsOk(aclrtMemsetAsync(memory.Get(), 64, 1, 64, stream.Get())));
            EXPECT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
            EXPECT_TRUE(IsOk(aclrtStreamWaitEvent(nullptr, event.Get())));
            size_t free = 0;
            size_t total = 0;
            EXPECT_TRUE(IsOk(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total)));
            EXPECT_TRUE(IsOk(batch.Run(stream.Get())));
            // Back to the begin of the tables.
            EXPECT_TRUE(IsOk(aclrtMemset(batch.Address(support::kSeqLens), 32, 0, 32)));
        }
    }
    EXPECT_TRUE(IsOk(aclrtResetDevice(0)));
}

TEST_F(ForkTest, WhileOtherThreadsAreBusy) {
    if (support::kAddressSanitizer) {
        GTEST_SKIP() << "the sanitizer's allocator does not live through a fork among busy threads";
    }
    constexpr int kForks = 40;
    std::atomic<bool> over{false};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&over, t] { StayBusy(t, over); });
    }
    for (int i = 0; i < kForks; ++i) {
        EXPECT_EQ(ExitOfChild([i] {
                      if (i % 2 == 0) {
                          support::EndChild(
                              UseAnew());  // a leak check in the middle of anything may hang
                      }
                      support::EndChild(0);
                  }),
                  0)
            << i;
    }
    over = true;
    for (std::thread& thread : threads) {
        thread.join();
    }
}

}  // namespace
