// SPDX-License-Identifier: Apache-2.0
// Executors of acl_meta.h: runs, ends, and the calls that change a tensor's address.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "aclnnop/aclnn_advance_step.h"
#include "conformance/one_query.h"
#include "support/advance_step_batch.h"
#include "support/batches.h"
#include "support/host_work.h"
#include "support/page_vector.h"
#include "support/runtime_test.h"
#include "support/table.h"
#include "support/threads.h"

namespace {

using namespace support;

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
    const support::PageVector<int64_t> unchanged(query.begin(), query.end());
    support::PageVector<int64_t> values = unchanged;
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
    conformance::ExpectAdvanced({values.begin(), values.end()});
    ASSERT_NO_FATAL_FAILURE(Restart({}));
    std::copy(query.begin(), query.end(), values.begin());
    EXPECT_TRUE(IsError(ACLNN_ERR_RUNTIME_ERROR, run(), {"aclnnAdvanceStep: "}, {107000}));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(values, unchanged);
    ASSERT_TRUE(IsOk(enroll()));
    ASSERT_TRUE(IsOk(run()));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    conformance::ExpectAdvanced({values.begin(), values.end()});
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

// A call that takes an executor: null, one that is spent, and one that was destroyed.
using ExecutorCall = aclnnStatus (*)(aclOpExecutor*);
void ExpectNullOrSpentRefused(const std::string& name, ExecutorCall call, AdvanceStepBatch spent,
                              AdvanceStepBatch destroyed) {
    EXPECT_TRUE(IsError(ACLNN_ERR_INNER_NULLPTR, call(nullptr), {name + ": ", "executor"}));
    ASSERT_TRUE(IsOk(spent.Launch(nullptr)));
    EXPECT_TRUE(
        IsError(ACLNN_ERR_PARAM_INVALID, call(spent.Executor()), {name + ": ", "executor"}));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    ASSERT_TRUE(IsOk(aclDestroyAclOpExecutor(destroyed.Executor())));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, call(destroyed.Executor())));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, destroyed.Launch(nullptr)));
}

TEST_F(ExecutorTest, RepeatableIsRefusedForNullOrSpent) {
    ExpectNullOrSpentRefused("aclSetAclOpExecutorRepeatable", &aclSetAclOpExecutorRepeatable,
                             Planned(), Planned());
}

TEST_F(ExecutorTest, DestroyIsRefusedForNullOrSpent) {
    ExpectNullOrSpentRefused("aclDestroyAclOpExecutor", &aclDestroyAclOpExecutor, Planned(),
                             Planned());
}

// The calls that change a tensor's address.

using SetCall = aclnnStatus (*)(aclOpExecutor*, const size_t, aclTensor*, void*);

struct SetCase {
    const char* name;
    SetCall call;
    std::vector<size_t> tensors;  // by index of the call, their place in the signature
};

class SetAddressTest : public support::DeviceTest, public testing::WithParamInterface<SetCase> {
 protected:
    static AdvanceStepBatch Make(uint64_t seed) {
        support::OpLayout layout;
        layout.viewOffset = 3;
        return AdvanceStepBatch(MakeBatch(9, 6, 4, 5, seed), layout);
    }
    static AdvanceStepBatch MakeRepeatable(uint64_t seed) {
        AdvanceStepBatch plan = Make(seed);
        EXPECT_TRUE(IsOk(plan.Plan()));
        EXPECT_TRUE(IsOk(aclSetAclOpExecutorRepeatable(plan.Executor())));
        return plan;
    }
    static aclnnStatus Set(const AdvanceStepBatch& plan, size_t index, void* address) {
        return GetParam().call(plan.Executor(), index, plan.TensorAt(0), address);
    }
    static std::string Prefix() { return std::string(GetParam().name) + ": "; }
};

TEST_P(SetAddressTest, MovesOneTensor) {
    for (size_t index = 0; index < GetParam().tensors.size(); ++index) {
        const size_t moved = GetParam().tensors[index];
        SCOPED_TRACE(support::kTensorNames[moved]);
        AdvanceStepBatch plan = Make(1);
        const AdvanceStepBatch other = Make(2);
        reference::AdvanceStepData expected = plan.Data();
        *expected.Tensors()[moved] = *other.Data().Tensors()[moved];
        expected = Advanced(expected);
        ASSERT_TRUE(IsOk(plan.Plan()));
        ASSERT_TRUE(IsOk(
            GetParam().call(plan.Executor(), index, plan.TensorAt(moved), other.Address(moved))));
        ASSERT_TRUE(IsOk(plan.Launch(nullptr)));
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
        for (size_t i = 0; i < 6; ++i) {
            EXPECT_TRUE(plan.HoldsAt(i, i == moved ? plan.Data() : expected));
            EXPECT_TRUE(other.HoldsAt(i, i == moved ? expected : other.Data()));
        }
    }
}

TEST_P(SetAddressTest, RefusesOtherIndexes) {
    AdvanceStepBatch plan = Make(1);
    ASSERT_TRUE(IsOk(plan.Plan()));
    const support::DeviceBuffer elsewhere(4096);
    const size_t count = GetParam().tensors.size();
    for (const size_t index : {count, count + 1, size_t{100}, SIZE_MAX}) {
        EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, Set(plan, index, elsewhere.Get()),
                            {Prefix(), "index"}));
    }
    ASSERT_TRUE(IsOk(plan.Launch(nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_TRUE(plan.Holds(Advanced(plan.Data()))) << "the executor is unchanged";
}

TEST_P(SetAddressTest, RefusesNull) {
    AdvanceStepBatch plan = Make(1);
    ASSERT_TRUE(IsOk(plan.Plan()));
    EXPECT_TRUE(IsError(ACLNN_ERR_INNER_NULLPTR,
                        GetParam().call(nullptr, 0, plan.TensorAt(0), plan.Address(0)),
                        {Prefix(), "executor"}));
    EXPECT_TRUE(IsError(ACLNN_ERR_INNER_NULLPTR,
                        GetParam().call(plan.Executor(), 0, nullptr, plan.Address(0)),
                        {Prefix(), "tensor"}));
    EXPECT_TRUE(IsOk(aclDestroyAclOpExecutor(plan.Executor())));
}

TEST_P(SetAddressTest, RefusesASpentExecutor) {
    AdvanceStepBatch plan = Make(1);
    ASSERT_TRUE(IsOk(plan.Plan()));
    ASSERT_TRUE(IsOk(plan.Launch(nullptr)));
    EXPECT_TRUE(
        IsError(ACLNN_ERR_PARAM_INVALID, Set(plan, 0, plan.Address(0)), {Prefix(), "executor"}));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
}

TEST_P(SetAddressTest, RefusesAnOverlap) {
    for (size_t index = 0; index < GetParam().tensors.size(); ++index) {
        const size_t moved = GetParam().tensors[index];
        if (moved == support::kSampledTokenIds || moved == support::kBlockTables) {
            continue;  // only in/out tensors must not overlap
        }
        AdvanceStepBatch plan = Make(1);
        ASSERT_TRUE(IsOk(plan.Plan()));
        for (size_t i = 0; i < 6; ++i) {
            if (i == moved) {
                continue;
            }
            SCOPED_TRACE(testing::Message()
                         << support::kTensorNames[moved] << " onto " << support::kTensorNames[i]);
            char* const onto = static_cast<char*>(plan.Address(i));
            EXPECT_TRUE(
                IsError(ACLNN_ERR_PARAM_INVALID, Set(plan, index, onto), {Prefix(), "overlap"}));
            EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, Set(plan, index, onto + 8)));
        }
        ASSERT_TRUE(IsOk(plan.Launch(nullptr)));
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
        EXPECT_TRUE(plan.Holds(Advanced(plan.Data()))) << "the executor is unchanged";
    }
}

TEST_P(SetAddressTest, QueuedRunKeepsItsAddresses) {
    const Stream stream = MakeStream();
    AdvanceStepBatch plan = MakeRepeatable(1);
    const AdvanceStepBatch other = Make(2);
    const size_t moved = GetParam().tensors[0];
    {
        const support::HostGate gate(stream.Get());
        ASSERT_TRUE(gate.WaitEntered());
        ASSERT_TRUE(IsOk(plan.Launch(stream.Get())));
        ASSERT_TRUE(IsOk(Set(plan, 0, other.Address(moved))));
    }
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_TRUE(plan.Holds(Advanced(plan.Data())));
    EXPECT_TRUE(other.IsUntouched());
    EXPECT_TRUE(IsOk(aclDestroyAclOpExecutor(plan.Executor())));
}

TEST_P(SetAddressTest, LaterRunsOfARepeatableOneGoElsewhere) {
    const Stream stream = MakeStream();
    AdvanceStepBatch plan = MakeRepeatable(1);
    const AdvanceStepBatch other = Make(1);
    const size_t moved = GetParam().tensors[0];
    ASSERT_TRUE(IsOk(plan.Launch(stream.Get())));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    plan.Upload();
    for (int run = 0; run < 2; ++run) {
        ASSERT_TRUE(IsOk(Set(plan, 0, run == 0 ? other.Address(moved) : plan.Address(moved))));
        plan.Upload();
        other.Upload();
        ASSERT_TRUE(IsOk(plan.Launch(stream.Get())));
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
        const AdvanceStepBatch& holder = run == 0 ? other : plan;
        EXPECT_TRUE(holder.HoldsAt(moved, Advanced(plan.Data())));
    }
    EXPECT_TRUE(IsOk(aclDestroyAclOpExecutor(plan.Executor())));
}

const std::vector<size_t> kSignature{0, 1, 2, 3, 4, 5};
const std::vector<size_t> kOutputs{support::kInputTokens, support::kInputPositions,
                                   support::kSeqLens, support::kSlotMapping};

INSTANTIATE_TEST_SUITE_P(
    Table, SetAddressTest,
    testing::Values(SetCase{"aclSetTensorAddr", aclSetTensorAddr, kSignature},
                    SetCase{"aclSetInputTensorAddr", aclSetInputTensorAddr, kSignature},
                    SetCase{"aclSetOutputTensorAddr", aclSetOutputTensorAddr, kOutputs},
                    SetCase{"AclSetTensorAddr", AclSetTensorAddr, kSignature},
                    SetCase{"AclSetInputTensorAddr", AclSetInputTensorAddr, kSignature},
                    SetCase{"AclSetOutputTensorAddr", AclSetOutputTensorAddr, kOutputs}),
    support::CaseName());

class AddressTest : public support::DeviceTest {};

TEST_F(AddressTest, InputsMayOverlapEachOther) {
    AdvanceStepBatch plan(MakeBatch(9, 6, 4, 5, 1));
    reference::AdvanceStepData expected = plan.Data();
    for (size_t i = 0; i < 6; ++i) {
        expected.sampledTokenIds[i] = expected.blockTables[i];
    }
    expected = Advanced(expected);
    expected.sampledTokenIds = plan.Data().sampledTokenIds;
    ASSERT_TRUE(IsOk(plan.Plan()));
    ASSERT_TRUE(IsOk(aclSetTensorAddr(plan.Executor(), support::kSampledTokenIds,
                                      plan.TensorAt(support::kSampledTokenIds),
                                      plan.Address(support::kBlockTables))));
    ASSERT_TRUE(IsOk(plan.Launch(nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_TRUE(plan.Holds(expected));
}

TEST_F(AddressTest, NullAtPhaseOneMayBeSetLater) {
    AdvanceStepBatch plan(MakeBatch(9, 6, 4, 5, 1));
    for (size_t i = 0; i < 6; ++i) {
        ASSERT_TRUE(IsOk(aclSetRawTensorAddr(plan.TensorAt(i), nullptr)));
    }
    ASSERT_TRUE(IsOk(plan.Plan()));
    for (size_t i = 0; i < 6; ++i) {
        ASSERT_TRUE(IsOk(aclSetTensorAddr(plan.Executor(), i, plan.TensorAt(i), plan.Address(i))));
    }
    ASSERT_TRUE(IsOk(plan.Launch(nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_TRUE(plan.Holds(Advanced(plan.Data())));
}

using DynamicCall = aclnnStatus (*)(aclOpExecutor*, size_t, const size_t, aclTensorList*, void*);

struct DynamicCase {
    const char* name;
    DynamicCall call;
};

class DynamicTest : public support::DeviceTest, public testing::WithParamInterface<DynamicCase> {};

TEST_P(DynamicTest, NoOperatorTakesAList) {
    AdvanceStepBatch plan(MakeBatch(9, 6, 4, 5, 1));
    ASSERT_TRUE(IsOk(plan.Plan()));
    const aclTensor* member = support::Tensor({{9}}).Release();
    aclTensorList* list = aclCreateTensorList(&member, 1);
    const std::string prefix = std::string(GetParam().name) + ": ";
    for (const size_t index : {0, 1, 6}) {
        EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID,
                            GetParam().call(plan.Executor(), index, 0, list, plan.Address(0)),
                            {prefix}));
    }
    EXPECT_TRUE(IsError(ACLNN_ERR_INNER_NULLPTR,
                        GetParam().call(nullptr, 0, 0, list, plan.Address(0)),
                        {prefix, "executor"}));
    EXPECT_TRUE(IsError(ACLNN_ERR_INNER_NULLPTR,
                        GetParam().call(plan.Executor(), 0, 0, nullptr, plan.Address(0)),
                        {prefix, "tensors"}));
    ASSERT_TRUE(IsOk(plan.Launch(nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_TRUE(plan.Holds(Advanced(plan.Data())));
    EXPECT_TRUE(IsOk(aclDestroyTensorList(list)));
}

INSTANTIATE_TEST_SUITE_P(
    Table, DynamicTest,
    testing::Values(DynamicCase{"aclSetDynamicTensorAddr", aclSetDynamicTensorAddr},
                    DynamicCase{"aclSetDynamicInputTensorAddr", aclSetDynamicInputTensorAddr},
                    DynamicCase{"aclSetDynamicOutputTensorAddr", aclSetDynamicOutputTensorAddr},
                    DynamicCase{"AclSetDynamicTensorAddr", AclSetDynamicTensorAddr},
                    DynamicCase{"AclSetDynamicInputTensorAddr", AclSetDynamicInputTensorAddr},
                    DynamicCase{"AclSetDynamicOutputTensorAddr", AclSetDynamicOutputTensorAddr}),
    support::CaseName());

}  // namespace
