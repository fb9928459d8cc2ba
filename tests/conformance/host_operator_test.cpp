// SPDX-License-Identifier: Apache-2.0
// Host operators: order, failures, graphs, and the release of their arguments, exactly once.
#include "advance_step/host_operator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "advance_step/fault_injection.h"
#include "conformance/replay_fixture.h"

namespace {

using conformance::Capture;
using conformance::Model;
using namespace support;

using LaunchFunction = aclError (*)(aclrtStream stream, const AdvStepHostOperator* operation);

class HostOperatorTest : public conformance::ReplayTest,
                         public testing::WithParamInterface<LaunchFunction> {
 protected:
    static aclError Launch(aclrtStream stream, const AdvStepHostOperator* operation) {
        return GetParam()(stream, operation);
    }
    struct Counts {
        std::atomic<int> runs{0};
        std::atomic<int> releases{0};
        int32_t code = 0;
    };

    static AdvStepHostOperator Counting(Counts* counts) {
        AdvStepHostOperator operation{};
        operation.name = "counting";
        operation.run = [](void* args, char* message, size_t size) -> int32_t {
            auto& seen = *static_cast<Counts*>(args);
            EXPECT_EQ(seen.releases, 0);
            ++seen.runs;
            (void)std::snprintf(message, size, "run %d", seen.runs.load());
            return seen.code;
        };
        operation.release = [](void* args) { ++static_cast<Counts*>(args)->releases; };
        operation.args = counts;
        return operation;
    }
    static void ExpectCounts(const Counts& counts, int runs, int releases) {
        EXPECT_EQ(counts.runs, runs);
        EXPECT_EQ(counts.releases, releases);
    }
};

TEST_P(HostOperatorTest, RunsInOrderAndReleasesItsArguments) {
    const Stream stream = MakeStream();
    Counts counts;
    const AdvStepHostOperator operation = Counting(&counts);
    Mark(stream, 1);
    ASSERT_TRUE(IsOk(Launch(stream.Get(), &operation)));
    Mark(stream, 2);
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(recorder_.Values(), (std::vector<int>{1, 2}));
    ExpectCounts(counts, 1, 1);
}

TEST_P(HostOperatorTest, AFailureHasItsNameAndMessage) {
    const Stream stream = MakeStream();
    Counts counts;
    counts.code = ACL_ERROR_RT_AICPU_EXCEPTION;
    const AdvStepHostOperator operation = Counting(&counts);
    ASSERT_TRUE(IsOk(Launch(stream.Get(), &operation)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_AICPU_EXCEPTION, aclrtSynchronizeStream(stream.Get()),
                        {"counting: run 1"}));
    ExpectCounts(counts, 1, 1);
}

TEST_P(HostOperatorTest, OneThatIsSkippedIsReleased) {
    const Stream stream = MakeStream();
    Counts counts;
    const AdvStepHostOperator operation = Counting(&counts);
    {
        const support::HostGate gate(stream.Get());
        ASSERT_TRUE(IsOk(Launch(stream.Get(), &operation)));
        ASSERT_TRUE(IsOk(aclrtStreamAbort(stream.Get())));
    }
    (void)aclrtSynchronizeStream(stream.Get());
    ExpectCounts(counts, 0, 1);
}

TEST_P(HostOperatorTest, AModelOwnsItsArguments) {
    const Stream stream = MakeStream();
    Counts counts;
    const AdvStepHostOperator operation = Counting(&counts);
    {
        const Model model =
            Capture(stream.Get(), [&] { ASSERT_TRUE(IsOk(Launch(stream.Get(), &operation))); });
        ExpectCounts(counts, 0, 0);
        for (int replay = 0; replay < 3; ++replay) {
            ASSERT_TRUE(IsOk(Queue(model, stream)));
        }
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
        ExpectCounts(counts, 3, 0);
    }
    ExpectCounts(counts, 3, 1);
}

TEST_P(HostOperatorTest, AReplayChecksTheMemory) {
    const Stream stream = MakeStream();
    Counts counts;
    AdvStepHostOperator operation = Counting(&counts);
    Model model;
    {
        const DeviceBuffer buffer(512);
        const AdvStepMemoryRange range{buffer.Get(), 512};
        operation.ranges = &range;
        operation.rangeCount = 1;
        model = Capture(stream.Get(), [&] { ASSERT_TRUE(IsOk(Launch(stream.Get(), &operation))); });
        ASSERT_TRUE(IsOk(Queue(model, stream)));
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    }
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, Queue(model, stream), {"counting"}));
    EXPECT_EQ(counts.runs, 1);
}

TEST_P(HostOperatorTest, ARefusedOneIsReleased) {
    const Stream stream = MakeStream();
    Counts counts;
    AdvStepHostOperator operation = Counting(&counts);
    operation.run = nullptr;
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, Launch(stream.Get(), &operation),
                        {"operation->run is null; expected a function"}));
    EXPECT_EQ(counts.releases, 1);
    operation = Counting(&counts);
    operation.rangeCount = 1;
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, Launch(stream.Get(), &operation),
                        {"operation->ranges is null"}));
    EXPECT_EQ(counts.releases, 2);
    EXPECT_TRUE(
        IsError(ACL_ERROR_INVALID_PARAM, Launch(stream.Get(), nullptr), {"operation is null"}));
}

// A worker comes for it, though it is not woken.
TEST_P(HostOperatorTest, RunsIfNoThreadWaits) {
    const Stream stream = MakeStream();
    for (int run = 0; run < 20; ++run) {
        Counts counts;
        const AdvStepHostOperator operation = Counting(&counts);
        ASSERT_TRUE(IsOk(Launch(stream.Get(), &operation)));
        while (counts.releases == 0) {
            std::this_thread::yield();
        }
        ExpectCounts(counts, 1, 1);
    }
}

// The release may take a lock, such as Python's, that another thread holds in a call of the stream.
TEST_P(HostOperatorTest, ALackOfMemoryReleasesItOutsideOfAllLocks) {
    struct Argument {
        aclrtContext context;
        aclrtStream stream;
        int releases;
    };
    const Stream stream = MakeStream();
    Argument argument{support::CurrentContext(), stream.Get(), 0};
    AdvStepHostOperator operation{};
    operation.name = "asking";
    operation.run = [](void*, char*, size_t) -> int32_t { return 0; };
    operation.release = [](void* args) {
        auto& asked = *static_cast<Argument*>(args);
        std::thread([&] {
            EXPECT_TRUE(IsOk(aclrtSetCurrentContext(asked.context)));
            aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
            aclmdlRI model = nullptr;
            EXPECT_TRUE(IsOk(aclmdlRICaptureGetInfo(asked.stream, &status, &model)));
        }).join();
        ++asked.releases;
    };
    operation.args = &argument;
    uint64_t failing = 1;
    const auto fails = [&] {
        EXPECT_TRUE(IsOk(advstepFailAllocations(ADVSTEP_ALLOCATION_INTERNAL, failing, 1)));
        const aclError code = Launch(stream.Get(), &operation);
        AdvStepFaultCounts counts{};
        EXPECT_TRUE(IsOk(advstepReadFaultCounts(&counts)));
        EXPECT_TRUE(IsOk(advstepClearFaults()));
        EXPECT_EQ(code, counts.failedAllocations == 0 ? ACL_SUCCESS : ACL_ERROR_BAD_ALLOC);
        return counts.failedAllocations != 0;
    };
    const Model model = Capture(stream.Get(), [&] {
        for (; fails(); ++failing) {
            EXPECT_EQ(argument.releases, static_cast<int>(failing));
        }
    });
    EXPECT_GE(failing, 4U) << "the operator, its record, its owner and its place";
    EXPECT_EQ(argument.releases, static_cast<int>(failing) - 1);
}

// Clears the range of an AdvStepMemoryRange.
int32_t RunClear(void* args, char*, size_t) {
    const auto& range = *static_cast<const AdvStepMemoryRange*>(args);
    return advstepZeroMemory(const_cast<void*>(range.address), range.bytes);
}

TEST_P(HostOperatorTest, ClearsMemoryOfEachKind) {
    constexpr size_t kBytes = size_t{65} << 20;
    constexpr size_t kEdge = 100;
    const Stream stream = MakeStream();
    void* device = nullptr;
    void* pinned = nullptr;
    ASSERT_TRUE(IsOk(aclrtMalloc(&device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST)));
    ASSERT_TRUE(IsOk(aclrtMallocHost(&pinned, kBytes)));
    std::vector<char> own(kBytes);
    for (char* const memory :
         {static_cast<char*>(device), static_cast<char*>(pinned), own.data()}) {
        std::memset(memory, 3, kBytes);
        AdvStepMemoryRange range{memory + kEdge, kBytes - 2 * kEdge};
        const AdvStepHostOperator clear{"clear", &RunClear, nullptr, &range, nullptr, 0};
        ASSERT_TRUE(IsOk(Launch(stream.Get(), &clear)));
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
        EXPECT_EQ(std::count(memory, memory + kBytes, 3), static_cast<ptrdiff_t>(2 * kEdge));
        EXPECT_EQ(std::count(memory + kEdge, memory + kBytes - kEdge, 0),
                  static_cast<ptrdiff_t>(kBytes - 2 * kEdge));
    }
    EXPECT_TRUE(IsOk(aclrtFree(device)));
    EXPECT_TRUE(IsOk(aclrtFreeHost(pinned)));
}

TEST(ZeroMemory, NullIsRefused) {
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, advstepZeroMemory(nullptr, 1), {"address"}));
    EXPECT_TRUE(IsOk(advstepZeroMemory(nullptr, 0)));
}

INSTANTIATE_TEST_SUITE_P(Launches, HostOperatorTest,
                         testing::Values(&advstepLaunchHostOperator,
                                         &advstepLaunchShortHostOperator),
                         [](const auto& launch) { return launch.index == 0 ? "Usual" : "Short"; });

}  // namespace
