// SPDX-License-Identifier: Apache-2.0
// Tests of executor calls: repeatable executors and changed addresses.

#include <gtest/gtest.h>

#include "aclnn/acl_meta.h"
#include "src/aclnn/executor.h"
#include "support/status.h"
#include "support/tensor.h"
#include "unit/aclnn/plan_bench.h"
#include "unit/status_check.h"

namespace advstep {
namespace {

using support::IsError;
using support::IsOk;
using State = aclOpExecutor::State;
using SetAddressCall = aclnnStatus (*)(aclOpExecutor*, size_t, aclTensor*, void*);
using SetDynamicCall = aclnnStatus (*)(aclOpExecutor*, size_t, size_t, aclTensorList*, void*);

constexpr SetAddressCall kSetAny[] = {&aclSetTensorAddr, &aclSetInputTensorAddr, &AclSetTensorAddr,
                                      &AclSetInputTensorAddr};
constexpr SetAddressCall kSetWritten[] = {&aclSetOutputTensorAddr, &AclSetOutputTensorAddr};
constexpr SetDynamicCall kSetDynamic[] = {
    &aclSetDynamicTensorAddr, &aclSetDynamicInputTensorAddr, &aclSetDynamicOutputTensorAddr,
    &AclSetDynamicTensorAddr, &AclSetDynamicInputTensorAddr, &AclSetDynamicOutputTensorAddr};

// Tensors out (written), in, table, extra (written), at 0, 8, 16 and 32.
class MetaApiTest : public testing::Test {
 protected:
    MetaApiTest() {
        bench_.Place(memory_, memory_ + 8, memory_ + 16, memory_ + 32);
        EXPECT_TRUE(unit::Succeeds(bench_.Make(&executor_)));
    }
    ~MetaApiTest() override {
        if (executor_->state != State::kFree) {
            EXPECT_TRUE(IsOk(aclDestroyAclOpExecutor(executor_)));
        }
    }

    int64_t PlaceOf(int32_t index) const {
        return reinterpret_cast<int64_t*>(executor_->tensors[index].address) - memory_;
    }

    int64_t memory_[128] = {};
    unit::PlanBench bench_{nullptr};
    aclOpExecutor* executor_ = nullptr;
    const support::Tensor tensor_{support::TensorSpec{{4}}};
};

TEST_F(MetaApiTest, RepeatableIsAState) {
    EXPECT_TRUE(IsOk(aclSetAclOpExecutorRepeatable(executor_)));
    EXPECT_EQ(executor_->state.load(), State::kRepeatable);
    EXPECT_TRUE(IsOk(aclSetAclOpExecutorRepeatable(executor_)));
    EXPECT_TRUE(IsOk(aclDestroyAclOpExecutor(executor_)));
    EXPECT_EQ(executor_->state.load(), State::kFree);
}

TEST_F(MetaApiTest, DestroyedExecutorIsRefusedByEveryCall) {
    EXPECT_TRUE(IsOk(aclDestroyAclOpExecutor(executor_)));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, aclDestroyAclOpExecutor(executor_),
                        {"aclDestroyAclOpExecutor", "used or destroyed"}));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, aclSetAclOpExecutorRepeatable(executor_)));
    for (const SetAddressCall set : kSetAny) {
        EXPECT_TRUE(
            IsError(ACLNN_ERR_PARAM_INVALID, set(executor_, 0, tensor_.Get(), memory_ + 64)));
    }
    EXPECT_EQ(executor_->state.load(), State::kFree);
}

TEST_F(MetaApiTest, NullsAreRefused) {
    EXPECT_TRUE(IsError(ACLNN_ERR_INNER_NULLPTR, aclSetAclOpExecutorRepeatable(nullptr)));
    EXPECT_TRUE(IsError(ACLNN_ERR_INNER_NULLPTR, aclDestroyAclOpExecutor(nullptr)));
    for (const auto& calls : {std::vector<SetAddressCall>(std::begin(kSetAny), std::end(kSetAny)),
                              {std::begin(kSetWritten), std::end(kSetWritten)}}) {
        for (const SetAddressCall set : calls) {
            EXPECT_TRUE(IsError(ACLNN_ERR_INNER_NULLPTR, set(nullptr, 0, tensor_.Get(), memory_),
                                {"executor is null"}));
            EXPECT_TRUE(IsError(ACLNN_ERR_INNER_NULLPTR, set(executor_, 0, nullptr, memory_),
                                {"tensor is null"}));
        }
    }
    EXPECT_EQ(PlaceOf(0), 0);
}

TEST_F(MetaApiTest, IndexCountsAllTensors) {
    for (const SetAddressCall set : kSetAny) {
        for (const int32_t index : {0, 1, 2, 3}) {
            const int64_t before = PlaceOf(index);
            EXPECT_TRUE(
                IsOk(set(executor_, static_cast<size_t>(index), tensor_.Get(), memory_ + 64)));
            EXPECT_EQ(PlaceOf(index), 64);
            EXPECT_TRUE(
                IsOk(set(executor_, static_cast<size_t>(index), tensor_.Get(), memory_ + before)));
        }
        EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, set(executor_, 4, tensor_.Get(), memory_ + 64),
                            {"index is 4"}));
        EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID,
                            set(executor_, ~size_t{0}, tensor_.Get(), memory_ + 64)));
    }
}

TEST_F(MetaApiTest, OutputIndexCountsWrittenTensors) {
    for (const SetAddressCall set : kSetWritten) {
        EXPECT_TRUE(IsOk(set(executor_, 1, tensor_.Get(), memory_ + 64)));
        EXPECT_EQ(PlaceOf(3), 64);
        EXPECT_TRUE(IsOk(set(executor_, 0, tensor_.Get(), memory_ + 72)));
        EXPECT_EQ(PlaceOf(0), 72);
        EXPECT_EQ(PlaceOf(1), 8);
        EXPECT_EQ(PlaceOf(2), 16);
        EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, set(executor_, 2, tensor_.Get(), memory_ + 80),
                            {"index is 2"}));
        EXPECT_TRUE(IsOk(set(executor_, 1, tensor_.Get(), memory_ + 32)));
        EXPECT_TRUE(IsOk(set(executor_, 0, tensor_.Get(), memory_)));
    }
}

TEST_F(MetaApiTest, PlannedOffsetIsAdded) {
    EXPECT_TRUE(IsOk(aclDestroyAclOpExecutor(executor_)));
    bench_.In().offset = 2;
    ASSERT_TRUE(unit::Succeeds(bench_.Make(&executor_)));
    EXPECT_EQ(PlaceOf(1), 10);
    EXPECT_TRUE(IsOk(aclSetTensorAddr(executor_, 1, tensor_.Get(), memory_ + 64)));
    EXPECT_EQ(PlaceOf(1), 66);
    EXPECT_TRUE(IsOk(aclSetTensorAddr(executor_, 1, tensor_.Get(), nullptr)));
    EXPECT_EQ(executor_->tensors[1].address, nullptr);
}

TEST_F(MetaApiTest, OverlapIsRefusedAndChangesNothing) {
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID,
                        aclSetTensorAddr(executor_, 0, tensor_.Get(), memory_ + 6),
                        {"out", "overlaps in"}));
    EXPECT_EQ(PlaceOf(0), 0);
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID,
                        aclSetTensorAddr(executor_, 1, tensor_.Get(), memory_ + 33),
                        {"extra", "overlaps in"}));
    EXPECT_EQ(PlaceOf(1), 8);
    EXPECT_TRUE(IsOk(aclSetTensorAddr(executor_, 1, tensor_.Get(), memory_ + 16)));  // both read
}

TEST_F(MetaApiTest, NewAddressIsCheckedAgainAtTheNextRun) {
    executor_->checkedEpoch = 5;
    EXPECT_TRUE(IsOk(aclSetTensorAddr(executor_, 1, tensor_.Get(), memory_ + 64)));
    EXPECT_EQ(executor_->checkedEpoch, 0U);
}

TEST_F(MetaApiTest, NoOperatorTakesAList) {
    const aclTensor* const member = support::Tensor(support::TensorSpec{{4}}).Release();
    aclTensorList* const list = aclCreateTensorList(&member, 1);
    ASSERT_NE(list, nullptr);
    for (const SetDynamicCall set : kSetDynamic) {
        EXPECT_TRUE(IsError(ACLNN_ERR_INNER_NULLPTR, set(nullptr, 0, 0, list, memory_)));
        EXPECT_TRUE(IsError(ACLNN_ERR_INNER_NULLPTR, set(executor_, 0, 0, nullptr, memory_)));
        EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, set(executor_, 0, 0, list, memory_),
                            {"TensorAddr: executor has no tensor list"}));
    }
    EXPECT_TRUE(IsOk(aclDestroyTensorList(list)));
}

}  // namespace
}  // namespace advstep
