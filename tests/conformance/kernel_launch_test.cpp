// SPDX-License-Identifier: Apache-2.0
// Launches of a program's kernels: order, arguments, failures, and machines of each kind.
#include <array>
#include <string>
#include <thread>
#include <vector>

#include "advance_step/counters.h"
#include "advance_step/fault_injection.h"
#include "conformance/kernel_launch_fixture.h"
#include "support/table.h"

namespace conformance {
namespace {

TEST_F(KernelLaunchTest, RunsInStreamOrder) {
    const Values values({1, 2, 3});
    const Stream stream = MakeStream();
    std::vector<int64_t> expected = {1, 2, 3};
    for (int64_t number = 0; number < 20; ++number) {
        ASSERT_TRUE(
            IsOk(LaunchWith(Function("double_and_add"), 2, values.With(number), stream.Get())));
        for (int64_t& value : expected) {
            value = value * 2 + number;
        }
    }
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(values.Read(), expected);
}

TEST_F(KernelLaunchTest, ReturnsBeforeTheKernelHasRun) {
    const Values values({1});
    const Stream stream = MakeStream();
    const KernelGate gate(binary_, stream.Get());
    ASSERT_TRUE(gate.WaitEntered());
    RowArguments arguments = values.With(5);
    ASSERT_TRUE(IsOk(LaunchWith(Function("c_add"), 1, arguments, stream.Get())));
    arguments = {nullptr, 1, 0};  // the launch has a copy
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    EXPECT_TRUE(IsOk(aclrtStreamQuery(stream.Get(), &status)));
    EXPECT_EQ(status, ACL_STREAM_STATUS_NOT_READY);
    gate.Open();
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(values.Read()[0], 6);
}

TEST_F(KernelLaunchTest, DeviceArgumentsAreReadWhenTheKernelRuns) {
    const Values values({1, 2});
    const Stream stream = MakeStream();
    const DeviceBuffer arguments(sizeof(RowArguments));
    const PinnedArray<RowArguments> host(1, values.With(10));
    ASSERT_TRUE(
        IsOk(aclrtMemcpyAsync(arguments.Get(), sizeof(RowArguments), host.Get(),
                              sizeof(RowArguments), ACL_MEMCPY_HOST_TO_DEVICE, stream.Get())));
    ASSERT_TRUE(IsOk(aclrtLaunchKernel(Function("add_rows"), 2, arguments.Get(),
                                       sizeof(RowArguments), stream.Get())));
    ASSERT_TRUE(IsOk(aclrtLaunchKernelV2(Function("c_add"), 2, arguments.Get(),
                                         sizeof(RowArguments), nullptr, stream.Get())));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(values.Read(), (std::vector<int64_t>{21, 22}));
}

TEST_F(KernelLaunchTest, WrongArguments) {
    const aclrtFuncHandle function = Function("add_rows");
    const Values values({1});
    RowArguments host = values.With(1);
    const DeviceBuffer device(sizeof(RowArguments));
    const auto launch = [&](uint32_t blocks, const void* args, size_t size) {
        return aclrtLaunchKernel(function, blocks, args, size, nullptr);
    };
    EXPECT_TRUE(IsError(kInvalid, launch(0, device.Get(), 8), {"numBlocks is 0"}, {65535}));
    EXPECT_TRUE(IsError(kInvalid, launch(65536, device.Get(), 8), {"numBlocks is 65536"}));
    EXPECT_TRUE(IsError(kInvalid, launch(1, device.Get(), 0), {"argsSize is 0"}));
    EXPECT_TRUE(IsError(kInvalid, launch(1, &host, 8), {"argsData", "no allocation"}));
    EXPECT_TRUE(IsError(kInvalid, launch(1, device.Get(), 1 << 20), {"argsSize is 1048576"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, launch(1, nullptr, 8), {"argsData"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, LaunchWith(binary_, 1, host, nullptr),
                        {"funcHandle"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, LaunchWith(nullptr, 1, host, nullptr)));
    const auto withPlace = [&](aclrtPlaceHolderInfo place) {
        return aclrtLaunchKernelWithHostArgs(function, 1, nullptr, nullptr, &host, sizeof(host),
                                             &place, 1);
    };
    EXPECT_TRUE(IsError(kInvalid, withPlace({17, 0}), {"addrOffset 17"}));
    EXPECT_TRUE(IsError(kInvalid, withPlace({0, 24}), {"dataOffset 24"}));
    EXPECT_TRUE(IsError(kInvalid, withPlace({0xFFFFFFFF, 0}), {"addrOffset"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                        aclrtLaunchKernelWithHostArgs(function, 1, nullptr, nullptr, &host,
                                                      sizeof(host), nullptr, 1)));
    std::vector<char> large(65537);
    EXPECT_TRUE(IsError(kInvalid,
                        aclrtLaunchKernelWithHostArgs(function, 1, nullptr, nullptr, large.data(),
                                                      large.size(), nullptr, 0),
                        {"argsSize is 65537"}));
    EXPECT_EQ(values.Read()[0], 1);
}

TEST_F(KernelLaunchTest, WrongAttributes) {
    const Values values({1});
    const auto with = [&](std::vector<aclrtLaunchKernelAttr> attributes, uint32_t blocks = 1) {
        aclrtLaunchKernelCfg config{attributes.data(), attributes.size()};
        return LaunchWith(Function("add_rows"), blocks, values.With(1), nullptr, &config);
    };
    for (const int id : {1, 5, 6, 9}) {  // schemMode and the switches
        aclrtLaunchKernelAttr attribute = Attribute(id);
        attribute.value.schemMode = 2;
        EXPECT_TRUE(IsError(kInvalid, with({attribute}), {"expected 0 or 1"})) << id;
    }
    aclrtLaunchKernelAttr atOnce = Attribute(ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE);
    atOnce.value.schemMode = 1;
    EXPECT_TRUE(IsError(kInvalid, with({atOnce}, 41), {"schemMode is 1"}, {41, 40}));
    aclrtLaunchKernelAttr engine = Attribute(ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE);
    engine.value.engineType = static_cast<aclrtEngineType>(2);
    EXPECT_TRUE(IsError(kInvalid, with({engine}), {"engineType 2"}));
    EXPECT_TRUE(IsError(kInvalid, with({Attribute(7), Attribute(8)}), {"TIMEOUT_US"}));
    aclrtLaunchKernelCfg none{nullptr, 1};
    EXPECT_TRUE(
        IsError(kInvalid, LaunchWith(Function("add_rows"), 1, values.With(1), nullptr, &none)));
    EXPECT_EQ(values.Read()[0], 1);
    EXPECT_TRUE(IsOk(with({atOnce, Attribute(99)}, 40)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(values.Read()[0], 2);
}

// Kernels that fail: codes, exceptions, ends of threads, counters, failures on purpose.

TEST_F(KernelLaunchTest, CodesByEngine) {
    const Values values{std::vector<int64_t>(2)};
    aclrtLaunchKernelAttr engine = Attribute(ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE);
    aclrtLaunchKernelAttr limit = Attribute(ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US);
    engine.value.engineType = ACL_RT_ENGINE_TYPE_AIC;
    limit.value.timeoutUs = {1, 0};
    aclrtLaunchKernelAttr attributes[] = {limit, engine};
    aclrtLaunchKernelCfg config{attributes, 2};
    ASSERT_TRUE(IsOk(LaunchWith(Function("same_row"), 1, values.With(4), nullptr, &config)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_AICORE_EXCEPTION, aclrtSynchronizeStream(nullptr), {"row 4"}));
    for (const size_t count : {2, 1}) {
        config.numAttrs = count;
        ASSERT_TRUE(
            IsOk(LaunchWith(Function("most_at_a_time"), 300, values.With(0), nullptr, &config)));
        EXPECT_TRUE(
            IsError(count == 2 ? ACL_ERROR_RT_AICORE_TIMEOUT : ACL_ERROR_RT_VECTOR_CORE_TIMEOUT,
                    aclrtSynchronizeStream(nullptr), {"most_at_a_time: took ", "at most 1 us"}));
    }
}

TEST_F(KernelLaunchTest, AnExceptionIsAFailure) {
    EXPECT_TRUE(IsError(kFault, LaunchAndWait("throws", 3, {nullptr, 0, 0}),
                        {"throws: block 0 of 3 threw an exception"}));
}

TEST_F(KernelLaunchTest, AnEndOfItsThreadIsAFailureAndTheThreadGoesOn) {
    for (const uint32_t blocks : {1U, 3U, 1000U}) {  // those of many blocks on several threads
        EXPECT_TRUE(IsError(kFault, LaunchAndWait("exits", blocks, {nullptr, 0, 0}),
                            {"exits: block 0 of ", "threw an exception"}));
    }
    const Values values({-1});
    EXPECT_TRUE(IsOk(LaunchAndWait("add_rows", 1, values.With(0))));
}

TEST_F(KernelLaunchTest, IsCountedAndFailsOnPurpose) {
    const Values values({-1});
    AdvStepCounters counters{};
    ASSERT_TRUE(IsOk(LaunchAndWait("add_rows", 1, values.With(0))));
    ASSERT_TRUE(IsError(kFault, LaunchAndWait("check_rows", 1, values.With(0))));
    ASSERT_TRUE(IsOk(advstepReadCounters(0, &counters)));
    EXPECT_EQ(counters.launches, 2U);
    EXPECT_EQ(counters.dataErrors, 1U);
    ASSERT_TRUE(IsOk(advstepFailLaunch(1, 507899, ADVSTEP_FAULT_IN_STREAM)));
    EXPECT_TRUE(
        IsError(507899, LaunchAndWait("add_rows", 1, values.With(1)), {"add_rows: made to"}));
    ASSERT_TRUE(IsOk(advstepFailLaunch(1, 507899, ADVSTEP_FAULT_AT_CALL)));
    EXPECT_TRUE(IsError(507899, LaunchAndWait("add_rows", 1, values.With(1)), {"made to"}));
    EXPECT_TRUE(IsOk(advstepClearFaults()));
    EXPECT_EQ(values.Read()[0], -1);
}

// Blocks of a launch on machines of each kind, and on the threads that run them.

struct MachineCase {
    std::string name;
    const char* threads;
    const char* coreOrder;
    uint32_t cores;  // limit
};

class KernelMachineTest : public KernelLaunchTest, public testing::WithParamInterface<MachineCase> {
 protected:
    void SetUp() override {
        ASSERT_NO_FATAL_FAILURE(RestartWith({{"ADVANCE_STEP_THREADS", GetParam().threads},
                                             {"ADVANCE_STEP_CORE_ORDER", GetParam().coreOrder}}));
        ASSERT_TRUE(IsOk(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, GetParam().cores)));
    }
};

TEST_P(KernelMachineTest, EveryBlockRunsOnce) {
    for (const uint32_t blocks : {1U, 2U, 7U, 40U, 41U, 257U, 1000U, 65535U}) {
        const Values values{std::vector<int64_t>(blocks)};
        ASSERT_TRUE(IsOk(LaunchAndWait("count_blocks", blocks, values.With(0))));
        EXPECT_EQ(values.Read(), std::vector<int64_t>(blocks, blocks));
    }
}

TEST_P(KernelMachineTest, NoMoreBlocksAtATimeThanCores) {
    const Values values{std::vector<int64_t>(2)};
    ASSERT_TRUE(IsOk(LaunchAndWait("most_at_a_time", 300, values.With(0))));
    EXPECT_GE(values.Read()[1], 1);
    EXPECT_LE(values.Read()[1], GetParam().cores);
}

TEST_P(KernelMachineTest, TheLowestRowsFaultIsTold) {
    const Values values({5, 5, -7, 5, -9, 5});
    for (const uint32_t blocks : {1U, 3U, 6U}) {
        EXPECT_TRUE(IsError(kFault, LaunchAndWait("check_rows", blocks, values.With(11)),
                            {"check_rows: row 2 has a fault of kind 3 with -7, 11, which block " +
                             std::to_string(2 % blocks) + " of " + std::to_string(blocks)}));
    }
}

// Several blocks report the same row: that of the lowest block is told, whichever ran first.
TEST_P(KernelMachineTest, OfOneRowTheLowestBlocksFirstFaultIsTold) {
    const Values values{std::vector<int64_t>(1)};
    for (int repeat = 0; repeat < 20; ++repeat) {
        ASSERT_TRUE(IsError(kFault, LaunchAndWait("same_row", 200, values.With(12)),
                            {"same_row: row 12 has a fault of kind 0 with 1, 2, 3, 4, which block "
                             "0 of 200 reports"}));
        ASSERT_TRUE(IsError(kFault, LaunchAndWait("same_row", 200, values.With(-5)),
                            {"same_row: the data has a fault of kind 0"}));
    }
}

INSTANTIATE_TEST_SUITE_P(Table, KernelMachineTest,
                         testing::Values(MachineCase{"OneThread", "1", "ascending", 40},
                                         MachineCase{"TwoThreads", "2", "ascending", 40},
                                         MachineCase{"FourThreads", "4", "ascending", 40},
                                         MachineCase{"Shuffled", "3", "7", 40},
                                         MachineCase{"OneCore", "4", "ascending", 1},
                                         MachineCase{"ThreeCores", "4", "3", 3}),
                         support::CaseName());

// A call that may wait for the kernel itself is refused on every thread that runs a block: on that
// of the stream's tasks and on one that helps.
TEST_F(KernelLaunchTest, CallsThatWaitAreRefusedOnEveryThread) {
    ASSERT_NO_FATAL_FAILURE(RestartWith({{"ADVANCE_STEP_THREADS", "2"}}));
    struct Seen {
        std::array<aclError, 2> created;
        std::array<aclError, 2> destroyed;
        std::array<aclrtContext, 2> contexts;
        std::array<std::thread::id, 2> threads;
    };
    Seen seen{};
    const PinnedArray<int64_t> entered(1);
    const CallArguments arguments{
        entered.Get(),
        [](void* argument, uint32_t block) {
            auto* const mine = static_cast<Seen*>(argument);
            mine->created[block] = aclrtCreateContext(&mine->contexts[block], 0);
            mine->destroyed[block] = aclrtDestroyContext(mine->contexts[block]);
            mine->threads[block] = std::this_thread::get_id();
        },
        &seen};
    const Stream stream = MakeStream();
    ASSERT_TRUE(IsOk(LaunchWith(Function("calls_together"), 2, arguments, stream.Get())));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_NE(seen.threads[0], seen.threads[1]);
    for (size_t block = 0; block < 2; ++block) {
        EXPECT_EQ(seen.created[block], ACL_SUCCESS);
        EXPECT_EQ(seen.destroyed[block], ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
        EXPECT_TRUE(IsOk(aclrtDestroyContext(seen.contexts[block])));
    }
}

}  // namespace
}  // namespace conformance
