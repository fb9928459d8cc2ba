// SPDX-License-Identifier: Apache-2.0
// Tests of phase two: spending executors, workspace, memory, errors.

#include "src/aclnn/run.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "acl/acl_rt.h"
#include "src/aclnn/plan_key.h"
#include "src/runtime/stream/current.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "unit/aclnn/plan_bench.h"
#include "unit/status_check.h"

namespace advstep {
namespace {

using support::IsOk;
using unit::FailsWith;
using unit::PlanBench;
using unit::Succeeds;

class RunTest : public support::DeviceTest {
 protected:
    void SetUp() override {
        support::DeviceTest::SetUp();
        const Device* device = nullptr;
        ASSERT_TRUE(Succeeds(PlanningDevice(&device)));
        bench_ = std::make_unique<PlanBench>(device);
        for (support::DeviceBuffer* buffer : {&out_, &in_, &table_, &extra_}) {
            *buffer = support::DeviceBuffer(std::vector<int64_t>{1, 2, 3, 4, 5, 6});
        }
        bench_->Place(out_.Get(), in_.Get(), table_.Get(), extra_.Get());
    }
    void TearDown() override {
        for (support::DeviceBuffer* buffer : {&out_, &in_, &table_, &extra_}) {
            *buffer = support::DeviceBuffer();
        }
    }

    aclOpExecutor* Plan() {
        aclOpExecutor* executor = nullptr;
        EXPECT_TRUE(Succeeds(bench_->Make(&executor)));
        return executor;
    }
    static Status Run(aclOpExecutor* executor, aclrtStream stream = nullptr,
                      void* workspace = nullptr, uint64_t workspaceSize = 0) {
        return RunExecutor(unit::kAddCall, nullptr, workspace, workspaceSize, executor, stream);
    }
    // How often out has been added to.
    int64_t Runs() {
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
        return out_.Download<int64_t>()[1] / 2 - 1;
    }

    std::unique_ptr<PlanBench> bench_;
    support::DeviceBuffer out_, in_, table_, extra_;
};

TEST_F(RunTest, QueuesThePlan) {
    EXPECT_TRUE(Succeeds(Run(Plan())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(out_.Download<int64_t>(), (std::vector<int64_t>{2, 4, 6, 8, 5, 6}));
    EXPECT_EQ(in_.Download<int64_t>(), (std::vector<int64_t>{1, 2, 3, 4, 5, 6}));
}

TEST_F(RunTest, RunsInStreamOrder) {
    const support::Stream stream = support::MakeStream();
    {
        const support::HostGate gate(stream.Get());
        EXPECT_TRUE(Succeeds(Run(Plan(), stream.Get())));
        EXPECT_TRUE(gate.WaitEntered());
        EXPECT_EQ(out_.Download<int64_t>()[0], 1);  // copies now, in no order with the stream
    }
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(out_.Download<int64_t>()[0], 2);
}

TEST_F(RunTest, NullExecutorIsRefused) {
    EXPECT_TRUE(FailsWith(ACLNN_ERR_PARAM_NULLPTR, Run(nullptr), {"executor is null"}));
}

TEST_F(RunTest, ExecutorIsSpentByItsUse) {
    aclOpExecutor* const executor = Plan();
    EXPECT_TRUE(Succeeds(Run(executor)));
    EXPECT_TRUE(FailsWith(ACLNN_ERR_PARAM_INVALID, Run(executor), {"used or destroyed"}));
    EXPECT_EQ(Runs(), 1);
}

TEST_F(RunTest, ExecutorIsSpentByAFailureToo) {
    bench_->WorkspaceBytes() = 64;
    aclOpExecutor* const executor = Plan();
    EXPECT_TRUE(FailsWith(ACLNN_ERR_PARAM_INVALID, Run(executor), {"workspaceSize is 0", "64"}));
    EXPECT_TRUE(FailsWith(ACLNN_ERR_PARAM_INVALID, Run(executor), {"used or destroyed"}));
    EXPECT_EQ(Runs(), 0);
}

TEST_F(RunTest, OnlyOneOfManyThreadsSpendsAnExecutor) {
    aclrtContext context = support::CurrentContext();
    for (int round = 0; round < 50; ++round) {
        aclOpExecutor* const executor = Plan();
        std::atomic<int> succeeded{0};
        std::vector<std::thread> threads;
        for (int thread = 0; thread < 3; ++thread) {
            threads.emplace_back([&] {
                EXPECT_TRUE(IsOk(aclrtSetCurrentContext(context)));
                succeeded += Run(executor).ok() ? 1 : 0;
            });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
        EXPECT_EQ(succeeded, 1);
    }
    EXPECT_EQ(Runs(), 50);
}

TEST_F(RunTest, WorkspaceIsHeldAgainstThePlan) {
    bench_->WorkspaceBytes() = 64;
    EXPECT_TRUE(FailsWith(ACLNN_ERR_PARAM_NULLPTR, Run(Plan(), nullptr, nullptr, 64),
                          {"workspace is null"}));
    EXPECT_TRUE(FailsWith(ACLNN_ERR_PARAM_INVALID, Run(Plan(), nullptr, table_.Get(), 63),
                          {"workspaceSize is 63; expected at least 64"}));
    EXPECT_TRUE(Succeeds(Run(Plan(), nullptr, table_.Get(), 64)));
    EXPECT_TRUE(Succeeds(Run(Plan(), nullptr, table_.At(1), 65)));
    EXPECT_EQ(Runs(), 2);
}

TEST_F(RunTest, KernelFindsTheWorkspaceAligned) {
    bench_->UseWorkspace();
    const support::DeviceBuffer memory(std::vector<char>(256, 1));
    aclOpExecutor* const executor = Plan();
    const uint64_t bytes = executor->workspaceBytes;
    EXPECT_TRUE(Succeeds(Run(executor, nullptr, memory.At(3), bytes)));
    EXPECT_EQ(Runs(), 1);
    const std::vector<char> values = memory.Download<char>();
    for (size_t byte = 0; byte < values.size(); ++byte) {
        EXPECT_EQ(values[byte], byte >= 64 && byte < 128 ? 0x5A : 1) << byte;
    }
}

TEST_F(RunTest, WorkspaceMustLieInMemoryOfTheDevice) {
    bench_->UseWorkspace();
    const support::DeviceBuffer memory(256);
    std::vector<char> local(256);
    aclOpExecutor* executor = Plan();
    const uint64_t bytes = executor->workspaceBytes;
    EXPECT_TRUE(FailsWith(ACLNN_ERR_RUNTIME_ERROR, Run(executor, nullptr, local.data(), bytes),
                          {"workspace is at", "no allocation of device 0"}));
    EXPECT_TRUE(FailsWith(ACLNN_ERR_RUNTIME_ERROR,
                          Run(Plan(), nullptr, memory.At(256 - bytes + 1), bytes),
                          {"workspace takes " + std::to_string(bytes)}));
    EXPECT_TRUE(Succeeds(Run(Plan(), nullptr, memory.At(256 - bytes), bytes)));
    EXPECT_EQ(Runs(), 1);
}

TEST_F(RunTest, ExecutorOfAnotherOperatorIsRefused) {
    EXPECT_TRUE(FailsWith(ACLNN_ERR_PARAM_INVALID,
                          RunExecutor("aclnnSubtract", this, nullptr, 0, Plan(), nullptr),
                          {"aclnnAdd", "aclnnSubtract"}));
    EXPECT_TRUE(FailsWith(ACLNN_ERR_PARAM_INVALID,
                          RunExecutor(unit::kAddCall, this, nullptr, 0, Plan(), nullptr),
                          {"the aclnnAdd of another library"}));
    EXPECT_EQ(Runs(), 0);
}

TEST_F(RunTest, UnknownAddressIsRefusedByName) {
    bench_->Place(out_.Get(), in_.Get(), nullptr, extra_.Get());
    EXPECT_TRUE(FailsWith(ACLNN_ERR_PARAM_NULLPTR, Run(Plan()), {"table has a null address"}));
    EXPECT_EQ(Runs(), 0);
}

TEST_F(RunTest, RuntimeProblemsKeepTheirCode) {
    const auto expectCode = [&](int code, aclrtStream stream) {
        EXPECT_TRUE(FailsWith(ACLNN_ERR_RUNTIME_ERROR, Run(Plan(), stream),
                              {"runtime code " + std::to_string(code)}));
    };
    support::Stream destroyed = support::MakeStream();
    EXPECT_TRUE(IsOk(aclrtDestroyStream(destroyed.Get())));
    expectCode(ACL_ERROR_RT_INVALID_HANDLE, destroyed.Release());
    expectCode(ACL_ERROR_RT_INVALID_HANDLE, &destroyed);
    aclrtContext mine = support::CurrentContext();
    aclrtContext made = nullptr;
    const support::Stream stream = support::MakeStream();
    ASSERT_TRUE(IsOk(aclrtCreateContext(&made, 0)));
    expectCode(ACL_ERROR_RT_STREAM_CONTEXT, stream.Get());
    EXPECT_TRUE(IsOk(aclrtDestroyContext(made)));
    expectCode(ACL_ERROR_RT_CONTEXT_NULL, nullptr);
    const Device* device = nullptr;
    EXPECT_TRUE(FailsWith(ACLNN_ERR_RUNTIME_ERROR, PlanningDevice(&device), {"107002"}));
    EXPECT_EQ(device, nullptr);
    EXPECT_TRUE(IsOk(aclrtSetCurrentContext(mine)));
    EXPECT_EQ(Runs(), 0);
}

TEST_F(RunTest, PlanOfAnotherDeviceIsRefused) {
    aclOpExecutor* const executor = Plan();
    aclrtContext mine = support::CurrentContext();
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    EXPECT_TRUE(FailsWith(ACLNN_ERR_RUNTIME_ERROR, Run(executor), {"device 0", "device 1"}));
    EXPECT_TRUE(IsOk(aclrtSetCurrentContext(mine)));
    EXPECT_EQ(Runs(), 0);
}

TEST_F(RunTest, KeysOfPlansKnowTheCallTheAttributesTheCoresAndTheDevice) {
    const auto key = [](const char* call, int64_t attribute) {
        return PlanKey(call, nullptr, 0, &attribute, 1, 0);
    };
    static const char kOtherCall[] = "aclnnOther";
    const PlanKey mine = key(unit::kAddCall, 1);
    EXPECT_TRUE(mine == key(unit::kAddCall, 1));
    EXPECT_FALSE(mine == key(kOtherCall, 1));
    EXPECT_FALSE(mine == key(unit::kAddCall, 2));
    EXPECT_FALSE(PlanKey() == PlanKey());
    ASSERT_TRUE(IsOk(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, 3)));
    EXPECT_FALSE(mine == key(unit::kAddCall, 1));
    ASSERT_TRUE(IsOk(aclrtResetDeviceResLimit(0)));
    EXPECT_TRUE(mine == key(unit::kAddCall, 1));
    const aclrtContext context = support::CurrentContext();
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    EXPECT_FALSE(mine == key(unit::kAddCall, 1));
    EXPECT_TRUE(IsOk(aclrtSetCurrentContext(context)));
}

TEST_F(RunTest, TensorsMustLieInMemoryOfTheDevice) {
    const auto expectRefused = [&](void* in, const char* part) {
        bench_->Place(out_.Get(), in, table_.Get(), extra_.Get());
        EXPECT_TRUE(
            FailsWith(ACLNN_ERR_RUNTIME_ERROR, Run(Plan()), {"runtime code 107000", "in ", part}));
    };
    int64_t local[4] = {};
    expectRefused(local, "no allocation of device 0");
    const support::PinnedArray<int64_t> pinned(4);
    expectRefused(pinned.Get(), "no allocation of device 0");
    expectRefused(in_.At(24), "takes 32 bytes");
    aclrtContext mine = support::CurrentContext();
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    const support::DeviceBuffer others(64);
    ASSERT_TRUE(IsOk(aclrtSetCurrentContext(mine)));
    expectRefused(others.Get(), "no allocation of device 0");
    EXPECT_EQ(Runs(), 0);
}

TEST_F(RunTest, TableMayEndWithItsAllocation) {
    // Two rows of 2 elements, 4 apart: 6 elements, as many as there are.
    EXPECT_TRUE(Succeeds(Run(Plan())));
    bench_->Place(out_.Get(), in_.Get(), table_.At(8), extra_.Get());
    EXPECT_TRUE(FailsWith(ACLNN_ERR_RUNTIME_ERROR, Run(Plan()), {"table takes 48 bytes"}));
    EXPECT_EQ(Runs(), 1);
}

TEST_F(RunTest, RepeatableExecutorNoticesFreedMemory) {
    aclOpExecutor* const executor = Plan();
    ASSERT_TRUE(IsOk(aclSetAclOpExecutorRepeatable(executor)));
    for (int run = 0; run < 3; ++run) {
        EXPECT_TRUE(Succeeds(Run(executor)));
    }
    EXPECT_EQ(Runs(), 3);
    in_ = support::DeviceBuffer();
    EXPECT_TRUE(FailsWith(ACLNN_ERR_RUNTIME_ERROR, Run(executor), {"in is at"}));
    EXPECT_EQ(Runs(), 3);
    EXPECT_TRUE(IsOk(aclDestroyAclOpExecutor(executor)));
}

TEST_F(RunTest, QueuedRunKeepsItsAddresses) {
    aclOpExecutor* const executor = Plan();
    ASSERT_TRUE(IsOk(aclSetAclOpExecutorRepeatable(executor)));
    {
        const support::HostGate gate(nullptr);
        EXPECT_TRUE(Succeeds(Run(executor)));
        executor->SetAddress(0, static_cast<uint8_t*>(extra_.Get()));
        EXPECT_TRUE(IsOk(aclDestroyAclOpExecutor(executor)));
    }
    EXPECT_EQ(Runs(), 1);
    EXPECT_EQ(extra_.Download<int64_t>()[0], 1);
}

TEST_F(RunTest, FaultShowsAtTheSynchronisation) {
    in_.Upload(std::vector<int64_t>{-1, 2, 3, 4});
    EXPECT_TRUE(Succeeds(Run(Plan())));
    EXPECT_TRUE(
        support::IsError(unit::kAddFault, aclrtSynchronizeStream(nullptr), {"aclnnAdd: query 0"}));
    EXPECT_EQ(Runs(), 0);
}

}  // namespace
}  // namespace advstep
