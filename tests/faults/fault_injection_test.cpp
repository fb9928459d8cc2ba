// SPDX-License-Identifier: Apache-2.0
// advance_step/fault_injection.h: what each fault does, and that the next call works.
#include "advance_step/fault_injection.h"

#include <chrono>
#include <thread>
#include <vector>

#include "advance_step/counters.h"
#include "support/advance_step_batch.h"
#include "support/batches.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "support/stream_status.h"

namespace {

using namespace support;

class FaultInjectionTest : public support::DeviceTest {
 protected:
    void TearDown() override { EXPECT_TRUE(IsOk(advstepClearFaults())); }

    static aclError Malloc(void** address) {
        return aclrtMalloc(address, 64, ACL_MEM_MALLOC_HUGE_FIRST);
    }
    static AdvStepFaultCounts Counts() {
        AdvStepFaultCounts counts{};
        EXPECT_TRUE(IsOk(advstepReadFaultCounts(&counts)));
        return counts;
    }
    static uint64_t Launches() {
        AdvStepCounters counters{};
        EXPECT_TRUE(IsOk(advstepReadCounters(0, &counters)));
        return counters.launches;
    }
};

TEST_F(FaultInjectionTest, TheNthMemoryFails) {
    void* blocks[4] = {};
    ASSERT_TRUE(IsOk(advstepFailAllocations(ADVSTEP_ALLOCATION_MEMORY, 2, 2)));
    EXPECT_TRUE(IsOk(Malloc(&blocks[0])));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_MEMORY_ALLOCATION, Malloc(&blocks[1]), {"aclrtMalloc: "}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMallocHost(&blocks[2], 64),
                        {"aclrtMallocHost: "}));
    EXPECT_EQ(blocks[1], nullptr);
    EXPECT_TRUE(IsOk(Malloc(&blocks[3])));
    EXPECT_EQ(Counts().allocations, 4U);
    EXPECT_EQ(Counts().failedAllocations, 2U);
    EXPECT_TRUE(IsOk(aclrtFree(blocks[0])));
    EXPECT_TRUE(IsOk(aclrtFree(blocks[3])));
}

TEST_F(FaultInjectionTest, FailedMemoryIsNotCharged) {
    size_t before = 0;
    size_t after = 0;
    size_t total = 0;
    void* block = nullptr;
    ASSERT_TRUE(IsOk(aclrtGetMemInfo(ACL_HBM_MEM, &before, &total)));
    ASSERT_TRUE(IsOk(advstepFailAllocations(ADVSTEP_ALLOCATION_MEMORY, 1, UINT64_MAX)));
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(Malloc(&block), ACL_ERROR_RT_MEMORY_ALLOCATION);
    }
    ASSERT_TRUE(IsOk(aclrtGetMemInfo(ACL_HBM_MEM, &after, &total)));
    EXPECT_EQ(after, before);
}

TEST_F(FaultInjectionTest, InternalAllocationsAreNotTheCallersMemory) {
    void* block = nullptr;
    ASSERT_TRUE(IsOk(advstepFailAllocations(ADVSTEP_ALLOCATION_INTERNAL, 1, UINT64_MAX)));
    EXPECT_TRUE(IsError(ACL_ERROR_BAD_ALLOC, Malloc(&block), {"the host is out of memory"}));
    ASSERT_TRUE(IsOk(advstepClearFaults()));
    EXPECT_TRUE(IsOk(Malloc(&block)));
    EXPECT_TRUE(IsOk(aclrtFree(block)));
}

// The allocations of calls that the sanitizer takes notes of.
std::vector<uint64_t> CountsOfWatchedCalls() {
    std::vector<uint64_t> counts;
    const auto count = [&](aclError code) {
        AdvStepFaultCounts read{};
        EXPECT_TRUE(IsOk(code));
        EXPECT_TRUE(IsOk(advstepReadFaultCounts(&read)));
        counts.push_back(read.allocations);
        EXPECT_TRUE(IsOk(advstepFailAllocations(ADVSTEP_ALLOCATION_INTERNAL, 0, 0)));
    };
    aclrtStream stream = nullptr;
    aclrtEvent event = nullptr;
    void* pinned = nullptr;
    AdvanceStepBatch batch(MakeBatch(4, 3, 4, 5, 1));
    EXPECT_TRUE(IsOk(batch.Plan()));
    EXPECT_TRUE(IsOk(advstepFailAllocations(ADVSTEP_ALLOCATION_INTERNAL, 0, 0)));
    count(aclrtCreateStream(&stream));
    count(aclrtCreateEvent(&event));
    count(aclrtMallocHost(&pinned, 64));
    count(aclrtRecordEvent(event, stream));
    count(batch.Launch(stream));
    count(aclrtSynchronizeStream(stream));
    count(aclrtFreeHost(pinned));
    count(aclrtDestroyEvent(event));  // the sanitizer tells that nobody waited for it
    count(aclrtDestroyStream(stream));
    EXPECT_TRUE(IsOk(advstepClearFaults()));
    return counts;
}

TEST_F(FaultInjectionTest, AllocationsOfTheSanitizerAreNotMet) {
    (void)CountsOfWatchedCalls();  // what is made once is there afterwards
    Restart({});
    const std::vector<uint64_t> without = CountsOfWatchedCalls();
    Restart({{"ADVANCE_STEP_SANITIZE", "memory,sync,limits"}});
    EXPECT_EQ(CountsOfWatchedCalls(), without);
}

TEST_F(FaultInjectionTest, OtherThreadsAreNotMet) {
    ASSERT_TRUE(IsOk(advstepFailAllocations(ADVSTEP_ALLOCATION_ANY, 1, UINT64_MAX)));
    std::thread([] {
        void* block = nullptr;
        EXPECT_TRUE(IsOk(aclrtSetDevice(0)));
        EXPECT_TRUE(IsOk(Malloc(&block)));
        EXPECT_TRUE(IsOk(aclrtFree(block)));
        EXPECT_TRUE(IsOk(aclrtResetDevice(0)));
        EXPECT_EQ(Counts().allocations, 0U);
    }).join();
    EXPECT_EQ(Counts().allocations, 0U);
}

TEST_F(FaultInjectionTest, TheNthLaunchIsRefused) {
    const Stream stream = MakeStream();
    AdvanceStepBatch batch(MakeBatch(4, 3, 4, 5, 1));
    ASSERT_TRUE(IsOk(advstepFailLaunch(2, ACL_ERROR_RT_STREAM_ABORT, ADVSTEP_FAULT_AT_CALL)));
    EXPECT_TRUE(IsOk(batch.Run(stream.Get())));
    const auto expected = Advanced(batch.Data());
    ASSERT_TRUE(IsOk(batch.Plan()));
    EXPECT_TRUE(IsError(ACLNN_ERR_RUNTIME_ERROR, batch.Launch(stream.Get()),
                        {"aclnnAdvanceStep: ", "runtime code 107023", "advstepFailLaunch"}));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_TRUE(batch.Holds(expected));
    EXPECT_TRUE(IsOk(batch.Run(stream.Get())));
    EXPECT_TRUE(batch.Holds(Advanced(expected)));
    EXPECT_EQ(Counts().launches, 3U);
    EXPECT_EQ(Counts().failedLaunches, 1U);
}

TEST_F(FaultInjectionTest, TheNthLaunchFailsInItsStream) {
    const Stream stream = MakeStream();
    AdvanceStepBatch batch(MakeBatch(4, 3, 4, 5, 1));
    ASSERT_TRUE(
        IsOk(advstepFailLaunch(1, ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, ADVSTEP_FAULT_IN_STREAM)));
    const uint64_t launches = Launches();
    ASSERT_TRUE(IsOk(batch.Plan()));
    EXPECT_TRUE(IsOk(batch.Launch(stream.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, aclrtSynchronizeStream(stream.Get()),
                        {"aclrtSynchronizeStream: aclnnAdvanceStep: ", "advstepFailLaunch"}));
    EXPECT_TRUE(batch.IsUntouched());
    EXPECT_EQ(Launches(), launches);
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get()))) << "told once";
    EXPECT_TRUE(IsOk(batch.Run(stream.Get())));
    EXPECT_TRUE(batch.Holds(Advanced(batch.Data())));
    EXPECT_EQ(Launches(), launches + 1);
}

TEST_F(FaultInjectionTest, AnAsynchronousErrorIsToldBySynchronisation) {
    const Stream stream = MakeStream();
    const support::Recorder ran;
    EXPECT_TRUE(IsOk(advstepFailStream(stream.Get(), ACL_ERROR_RT_WAIT_TIMEOUT)));
    EXPECT_TRUE(IsOk(ran.Mark(stream.Get(), 1)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_WAIT_TIMEOUT, aclrtSynchronizeStream(stream.Get()),
                        {"aclrtSynchronizeStream: ", "advstepFailStream"}));
    EXPECT_EQ(ran.Values(), std::vector<int>{1});
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
}

TEST_F(FaultInjectionTest, AnAsynchronousErrorStopsTheStreamInThatMode) {
    const Stream stream = MakeStream();
    const support::Recorder ran;
    ASSERT_TRUE(IsOk(aclrtSetStreamFailureMode(stream.Get(), ACL_STOP_ON_FAILURE)));
    uint64_t hold = 0;
    ASSERT_TRUE(IsOk(advstepHoldStream(stream.Get(), &hold)));
    EXPECT_TRUE(IsOk(advstepFailStream(stream.Get(), ACL_ERROR_RT_WAIT_TIMEOUT)));
    EXPECT_TRUE(IsOk(ran.Mark(stream.Get(), 1)));
    EXPECT_TRUE(IsOk(advstepReleaseHold(hold)));
    EXPECT_EQ(aclrtSynchronizeStream(stream.Get()), ACL_ERROR_RT_WAIT_TIMEOUT);
    EXPECT_TRUE(ran.Values().empty());
}

TEST_F(FaultInjectionTest, AHoldKeepsLaterWorkUntilReleased) {
    const Stream stream = MakeStream();
    const support::Recorder ran;
    EXPECT_TRUE(IsOk(ran.Mark(stream.Get(), 1)));
    uint64_t hold = 0;
    ASSERT_TRUE(IsOk(advstepHoldStream(stream.Get(), &hold)));
    EXPECT_TRUE(IsOk(ran.Mark(stream.Get(), 2)));
    ASSERT_TRUE(ran.WaitFor(1));
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream.Get(), 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    EXPECT_EQ(ran.Values(), std::vector<int>{1});
    EXPECT_EQ(QueryStream(stream.Get()), ACL_STREAM_STATUS_NOT_READY);
    std::thread([&] { EXPECT_TRUE(IsOk(advstepReleaseHold(hold))); }).join();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(ran.Values(), (std::vector<int>{1, 2}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, advstepReleaseHold(hold), {"hold is "}));
}

TEST_F(FaultInjectionTest, AHeldStreamCanBeAbortedAndDestroyed) {
    uint64_t hold = 0;
    Stream stream = MakeStream();
    ASSERT_TRUE(IsOk(advstepHoldStream(stream.Get(), &hold)));
    EXPECT_TRUE(IsOk(aclrtStreamAbort(stream.Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_TRUE(IsOk(advstepReleaseHold(hold)));
    ASSERT_TRUE(IsOk(advstepHoldStream(stream.Get(), &hold)));
    EXPECT_TRUE(IsOk(aclrtDestroyStreamForce(stream.Release())));
    EXPECT_TRUE(IsOk(advstepReleaseHold(hold)));
}

TEST_F(FaultInjectionTest, ClearReleasesEveryHold) {
    const Stream streams[] = {MakeStream(), MakeStream()};
    uint64_t hold = 0;
    for (const Stream& stream : streams) {
        ASSERT_TRUE(IsOk(advstepHoldStream(stream.Get(), &hold)));
        ASSERT_TRUE(IsOk(advstepHoldStream(stream.Get(), &hold)));
    }
    EXPECT_TRUE(IsOk(advstepClearFaults()));
    for (const Stream& stream : streams) {
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    }
    EXPECT_EQ(advstepReleaseHold(hold), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(FaultInjectionTest, ADelayTakesAtLeastItsTime) {
    const Stream stream = MakeStream();
    uint64_t hold = 0;
    ASSERT_TRUE(IsOk(advstepHoldStream(stream.Get(), &hold)));
    ASSERT_TRUE(IsOk(advstepDelayStream(stream.Get(), 20000))) << "it does not wait for the stream";
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_TRUE(IsOk(advstepReleaseHold(hold)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(20));
}

TEST_F(FaultInjectionTest, ACaptureTakesNoHold) {
    const Stream stream = MakeStream();
    ASSERT_TRUE(IsOk(aclmdlRICaptureBegin(stream.Get(), ACL_MODEL_RI_CAPTURE_MODE_RELAXED)));
    uint64_t hold = 77;
    EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, advstepHoldStream(stream.Get(), &hold),
                        {"hold", "captured"}));
    EXPECT_EQ(hold, 77U);
    EXPECT_TRUE(IsOk(advstepFailStream(stream.Get(), ACL_ERROR_RT_WAIT_TIMEOUT)));
    aclmdlRI model = nullptr;
    ASSERT_TRUE(IsOk(aclmdlRICaptureEnd(stream.Get(), &model)));
    for (int replay = 0; replay < 2; ++replay) {
        EXPECT_TRUE(IsOk(aclmdlRIExecuteAsync(model, stream.Get())));
        EXPECT_EQ(aclrtSynchronizeStream(stream.Get()), ACL_ERROR_RT_WAIT_TIMEOUT);
    }
    EXPECT_TRUE(IsOk(aclmdlRIDestroy(model)));
}

TEST_F(FaultInjectionTest, ACapturedLaunchFailsInEveryReplay) {
    const Stream stream = MakeStream();
    AdvanceStepBatch batch(MakeBatch(4, 3, 4, 5, 1));
    ASSERT_TRUE(IsOk(batch.Plan()));
    ASSERT_TRUE(IsOk(aclmdlRICaptureBegin(stream.Get(), ACL_MODEL_RI_CAPTURE_MODE_RELAXED)));
    ASSERT_TRUE(IsOk(advstepFailLaunch(1, ACL_ERROR_RT_WAIT_TIMEOUT, ADVSTEP_FAULT_IN_STREAM)));
    EXPECT_TRUE(IsOk(batch.Launch(stream.Get())));
    aclmdlRI model = nullptr;
    ASSERT_TRUE(IsOk(aclmdlRICaptureEnd(stream.Get(), &model)));
    for (int replay = 0; replay < 2; ++replay) {
        EXPECT_EQ(aclmdlRIExecute(model, -1), ACL_ERROR_RT_WAIT_TIMEOUT);
    }
    EXPECT_TRUE(batch.IsUntouched());
    EXPECT_TRUE(IsOk(aclmdlRIDestroy(model)));
}

// The event, which other processes may have, has room for 120 records that are under way.
TEST_F(FaultInjectionTest, ARefusedRecordOfAnIpcEventTakesNoPlace) {
    aclrtEvent event = nullptr;
    ASSERT_TRUE(IsOk(aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC)));
    constexpr int kRecords = 130;
    int refused = 0;
    std::vector<Stream> streams;  // the first work of nearly each needs memory
    for (int record = 0; record < kRecords; ++record) {
        streams.push_back(MakeStream());
        ASSERT_TRUE(IsOk(advstepFailAllocations(ADVSTEP_ALLOCATION_INTERNAL, 1, 1)));
        const aclError code = aclrtRecordEvent(event, streams.back().Get());
        ASSERT_TRUE(IsOk(advstepClearFaults()));
        ASSERT_TRUE(code == ACL_SUCCESS || code == ACL_ERROR_BAD_ALLOC) << code;
        refused += code == ACL_SUCCESS ? 0 : 1;
    }
    EXPECT_GT(refused, 120);
    EXPECT_TRUE(IsOk(aclrtRecordEvent(event, streams.back().Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeEvent(event)));
    EXPECT_TRUE(IsOk(aclrtDestroyEvent(event)));
}

TEST_F(FaultInjectionTest, BadArguments) {
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, advstepFailAllocations(0, 1, 1), {"kinds is"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, advstepFailAllocations(4, 1, 1), {"kinds is"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, advstepFailLaunch(1, 0, ADVSTEP_FAULT_AT_CALL),
                        {"code is 0"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                        advstepFailLaunch(1, 5, static_cast<AdvStepFaultPlace>(7)),
                        {"place is 7"}));
    EXPECT_TRUE(IsOk(advstepFailLaunch(0, 0, ADVSTEP_FAULT_AT_CALL)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, advstepFailStream(nullptr, 0), {"code is 0"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, advstepHoldStream(nullptr, nullptr), {"hold"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, advstepReadFaultCounts(nullptr), {"counts"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, advstepReleaseHold(12345), {"hold is 12345"}));
    uint64_t hold = 0;
    int other = 0;
    EXPECT_EQ(advstepFailStream(&other, 5), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT_EQ(advstepDelayStream(&other, 5), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT_EQ(advstepHoldStream(&other, &hold), ACL_ERROR_RT_INVALID_HANDLE);
}

}  // namespace
