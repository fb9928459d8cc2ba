// SPDX-License-Identifier: Apache-2.0
// Executors of acl_meta.h: one run, many runs, and when they may go.
#include <gtest/gtest.h>

#include <algorithm>

#include "aclnnop/aclnn_advance_step.h"
#include "conformance/one_query.h"
#include "support/advance_step_batch.h"
#include "support/batches.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "support/threads.h"

namespace {

using support::Advanced;
using support::AdvanceStepBatch;
using support::IsError;
using support::IsOk;
using support::MakeBatch;
using support::MakeStream;
using support::Stream;

class ExecutorTest : public support::DeviceTest {
 protected:
    static AdvanceStepBatch Planned(uint64_t seed = 1) {
        AdvanceStepBatch batch(MakeBatch(9, 6, 4, 5, seed));
        EXPECT_TRUE(IsOk(batch.Plan()));
        EXPECT_NE(batch.Executor(), nullptr);
        return batch;
    }
};

TEST_F(ExecutorTest, RunsOnce) {
    const Stream stream = MakeStream();
    AdvanceStepBatch batch = Planned();
    ASSERT_TRUE(IsOk(batch.Launch(stream.Get())));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, batch.Launch(stream.Get()),
                        {"aclnnAdvanceStep: ", "executor"}));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, batch.Launch(stream.Get())));
    EXPECT_TRUE(batch.Holds(Advanced(batch.Data())));
}

TEST_F(ExecutorTest, PlanningTouchesNoData) {
    AdvanceStepBatch batch = Planned();
    EXPECT_TRUE(batch.IsUntouched());
    EXPECT_TRUE(IsOk(aclDestroyAclOpExecutor(batch.Executor())));
}

TEST_F(ExecutorTest, ManyMayBePlanned) {
    std::vector<AdvanceStepBatch> batches;
    for (uint64_t i = 0; i < 200; ++i) {
        batches.push_back(Planned(i));
    }
    for (size_t i = batches.size(); i-- > 0;) {
        ASSERT_TRUE(IsOk(batches[i].Launch(nullptr)));
    }
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    for (const AdvanceStepBatch& batch : batches) {
        ASSERT_TRUE(batch.Holds(Advanced(batch.Data())));
    }
}

TEST_F(ExecutorTest, PhasesMayRunOnDifferentThreads) {
    const Stream stream = MakeStream();
    AdvanceStepBatch batch(MakeBatch(9, 6, 4, 5, 1));
    support::OnAnotherThread([&] { ASSERT_TRUE(IsOk(batch.Plan())); });
    support::OnAnotherThread([&] { ASSERT_TRUE(IsOk(batch.Launch(stream.Get()))); });
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_TRUE(batch.Holds(Advanced(batch.Data())));
}

TEST_F(ExecutorTest, TensorsMayGoAfterPhaseOne) {
    AdvanceStepBatch batch = Planned();
    batch.DestroyTensors();
    ASSERT_TRUE(IsOk(batch.Launch(nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_TRUE(batch.Holds(Advanced(batch.Data())));
}

TEST_F(ExecutorTest, LaterChangesOfATensorDoNotReachThePlan) {
    AdvanceStepBatch batch = Planned();
    for (size_t i = 0; i < 6; ++i) {
        ASSERT_TRUE(IsOk(aclSetRawTensorAddr(batch.TensorAt(i), nullptr)));
    }
    ASSERT_TRUE(IsOk(batch.Launch(nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_TRUE(batch.Holds(Advanced(batch.Data())));
}

TEST_F(ExecutorTest, RepeatableRunsAgain) {
    const Stream stream = MakeStream();
    reference::AdvanceStepData expected = MakeBatch(9, 6, 4, 5, 1);
    expected.seqLens = {0, 1, 2, 3, 4, 5, 6, 7, 8};  // room for ten tokens in each
    AdvanceStepBatch roomy(expected);
    ASSERT_TRUE(IsOk(roomy.Plan()));
    ASSERT_TRUE(IsOk(aclSetAclOpExecutorRepeatable(roomy.Executor())));
    for (int run = 0; run < 10; ++run) {
        ASSERT_TRUE(IsOk(roomy.Launch(stream.Get()))) << run;
        expected = Advanced(expected);
    }
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_TRUE(roomy.Holds(expected));
    EXPECT_TRUE(IsOk(aclDestroyAclOpExecutor(roomy.Executor())));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, roomy.Launch(stream.Get())));
}

TEST_F(ExecutorTest, RepeatableSurvivesARefusedRun) {
    AdvanceStepBatch batch = Planned();
    ASSERT_TRUE(IsOk(aclSetAclOpExecutorRepeatable(batch.Executor())));
    EXPECT_TRUE(
        IsError(ACLNN_ERR_PARAM_NULLPTR, aclnnAdvanceStep(nullptr, 64, batch.Executor(), nullptr)));
    EXPECT_TRUE(IsOk(batch.Launch(nullptr)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_TRUE(batch.Holds(Advanced(batch.Data())));
    EXPECT_TRUE(IsOk(aclDestroyAclOpExecutor(batch.Executor())));
}

// A registration is all that ends here. The device and the addresses are the same afterwards.
TEST_F(ExecutorTest, RepeatableNoticesThatTheRuntimeHasEnded) {
    const std::vector<int64_t> query = conformance::OneQuery();
    std::vector<int64_t> values = query;
    const auto enroll = [&] {
        void* onDevice = nullptr;
        return aclrtHostRegister(values.data(), values.size() * sizeof(int64_t),
                                 ACL_HOST_REGISTER_MAPPED, &onDevice);
    };
    ASSERT_TRUE(IsOk(enroll()));
    aclOpExecutor* const executor =
        conformance::PlanOneQuery(reinterpret_cast<char*>(values.data()));
    ASSERT_TRUE(IsOk(aclSetAclOpExecutorRepeatable(executor)));
    const auto run = [&] { return aclnnAdvanceStep(nullptr, 0, executor, nullptr); };
    ASSERT_TRUE(IsOk(run()));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    conformance::ExpectAdvanced(values);
    ASSERT_NO_FATAL_FAILURE(Restart({}));
    std::copy(query.begin(), query.end(), values.begin());
    EXPECT_TRUE(IsError(ACLNN_ERR_RUNTIME_ERROR, run(), {"aclnnAdvanceStep: "}, {107000}));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(values, query);
    ASSERT_TRUE(IsOk(enroll()));
    ASSERT_TRUE(IsOk(run()));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    conformance::ExpectAdvanced(values);
    EXPECT_TRUE(IsOk(aclDestroyAclOpExecutor(executor)));
    EXPECT_TRUE(IsOk(aclrtHostUnregister(values.data())));
}

// The plans for device 1 get the records of plans that have run on device 0, in turn. Each has the
// addresses that its record has already.
TEST_F(ExecutorTest, MemoryIsCheckedForEachDevice) {
    std::vector<support::DeviceBuffer> buffers;
    for (int i = 0; i < 4; ++i) {  // as many as phase one chooses from
        buffers.emplace_back(conformance::OneQuery());
    }
    for (const support::DeviceBuffer& buffer : buffers) {
        ASSERT_TRUE(IsOk(conformance::AdvanceOneQuery(buffer.At(0))));
    }
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    for (const support::DeviceBuffer& buffer : buffers) {
        EXPECT_TRUE(IsError(ACLNN_ERR_RUNTIME_ERROR, conformance::AdvanceOneQuery(buffer.At(0)),
                            {"aclnnAdvanceStep: ", "device 1"}, {107000}));
    }
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    for (const support::DeviceBuffer& buffer : buffers) {
        conformance::ExpectAdvanced(buffer.Download<int64_t>());
    }
}

TEST_F(ExecutorTest, RepeatableMayGoWhileARunIsQueued) {
    const Stream stream = MakeStream();
    AdvanceStepBatch batch = Planned();
    ASSERT_TRUE(IsOk(aclSetAclOpExecutorRepeatable(batch.Executor())));
    {
        const support::HostGate gate(stream.Get());
        ASSERT_TRUE(IsOk(batch.Launch(stream.Get())));
        ASSERT_TRUE(IsOk(aclDestroyAclOpExecutor(batch.Executor())));
        for (uint64_t i = 0; i < 20; ++i) {  // these may take the record's place
            AdvanceStepBatch other = Planned(100 + i);
            ASSERT_TRUE(IsOk(aclDestroyAclOpExecutor(other.Executor())));
        }
    }
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_TRUE(batch.Holds(Advanced(batch.Data())));
}

TEST_F(ExecutorTest, RepeatableIsRefusedForNullOrSpent) {
    EXPECT_TRUE(IsError(ACLNN_ERR_INNER_NULLPTR, aclSetAclOpExecutorRepeatable(nullptr),
                        {"aclSetAclOpExecutorRepeatable: ", "executor"}));
    AdvanceStepBatch spent = Planned();
    ASSERT_TRUE(IsOk(spent.Launch(nullptr)));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, aclSetAclOpExecutorRepeatable(spent.Executor()),
                        {"aclSetAclOpExecutorRepeatable: ", "executor"}));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    AdvanceStepBatch destroyed = Planned();
    ASSERT_TRUE(IsOk(aclDestroyAclOpExecutor(destroyed.Executor())));
    EXPECT_TRUE(
        IsError(ACLNN_ERR_PARAM_INVALID, aclSetAclOpExecutorRepeatable(destroyed.Executor())));
}

TEST_F(ExecutorTest, DestroyIsRefusedForNullOrSpent) {
    EXPECT_TRUE(IsError(ACLNN_ERR_INNER_NULLPTR, aclDestroyAclOpExecutor(nullptr),
                        {"aclDestroyAclOpExecutor: ", "executor"}));
    AdvanceStepBatch spent = Planned();
    ASSERT_TRUE(IsOk(spent.Launch(nullptr)));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, aclDestroyAclOpExecutor(spent.Executor()),
                        {"aclDestroyAclOpExecutor: ", "executor"}));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    AdvanceStepBatch destroyed = Planned();
    ASSERT_TRUE(IsOk(aclDestroyAclOpExecutor(destroyed.Executor())));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, aclDestroyAclOpExecutor(destroyed.Executor())));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, destroyed.Launch(nullptr)));
}

}  // namespace
