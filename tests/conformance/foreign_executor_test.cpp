// SPDX-License-Identifier: Apache-2.0
// An executor of another library, which clients pass through, is refused by each call and not read.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <functional>
#include <vector>

#include "aclnnop/aclnn_advance_step.h"
#include "conformance/host_call_fixture.h"
#include "support/own_table.h"

namespace {

using namespace conformance;

class ForeignExecutorTest : public HostCallTest {
 protected:
    // Every call that takes an executor.
    std::vector<std::function<aclnnStatus(aclOpExecutor*)>> Calls() {
        aclTensor* const any = tensor_.Get();
        auto* const list = reinterpret_cast<aclTensorList*>(any);
        void* const to = one_.Get();
        using Set = aclnnStatus (*)(aclOpExecutor*, size_t, aclTensor*, void*);
        using SetMember = aclnnStatus (*)(aclOpExecutor*, size_t, size_t, aclTensorList*, void*);
        std::vector<std::function<aclnnStatus(aclOpExecutor*)>> calls{
            &aclSetAclOpExecutorRepeatable, &aclDestroyAclOpExecutor,
            [](aclOpExecutor* executor) { return Run(executor); },
            [](aclOpExecutor* executor) { return aclnnAdvanceStep(nullptr, 0, executor, nullptr); },
            [](aclOpExecutor* executor) {
                return advstepRunOperator(support::OwnOperator(), nullptr, 0, executor, nullptr);
            }};
        for (const Set set : {&aclSetTensorAddr, &aclSetInputTensorAddr, &aclSetOutputTensorAddr,
                              &AclSetTensorAddr, &AclSetInputTensorAddr, &AclSetOutputTensorAddr}) {
            calls.emplace_back([=](aclOpExecutor* executor) { return set(executor, 0, any, to); });
        }
        for (const SetMember set :
             {&aclSetDynamicTensorAddr, &aclSetDynamicInputTensorAddr,
              &aclSetDynamicOutputTensorAddr, &AclSetDynamicTensorAddr,
              &AclSetDynamicInputTensorAddr, &AclSetDynamicOutputTensorAddr}) {
            calls.emplace_back(
                [=](aclOpExecutor* executor) { return set(executor, 0, 0, list, to); });
        }
        return calls;
    }
    void ExpectRefusedByAll(void* executor) {
        for (const auto& call : Calls()) {
            EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID,
                                call(static_cast<aclOpExecutor*>(executor)),
                                {"executor", "is none of this library"}));
        }
    }

    const Tensor tensor_{TensorSpec{{kCount}, nullptr}};
};

TEST_F(ForeignExecutorTest, AnotherLibrarysObjectIsRefused) {
    std::vector<uint64_t> opaque(1024, 1);  // as an executor's state, 1 would be a live one
    ExpectRefusedByAll(opaque.data());
    EXPECT_EQ(opaque, std::vector<uint64_t>(1024, 1));
    ExpectRefusedByAll(tensor_.Get());
}

TEST_F(ForeignExecutorTest, MemoryThatCannotBeReadIsRefused) {
    void* const page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(page, MAP_FAILED);
    ExpectRefusedByAll(page);
    (void)munmap(page, 4096);
    ExpectRefusedByAll(reinterpret_cast<void*>(uintptr_t{8}));
}

TEST_F(ForeignExecutorTest, AnAddressInsideAnExecutorIsRefused) {
    aclOpExecutor* const executor = Sum(0, {&one_}, one_);
    ExpectRefusedByAll(reinterpret_cast<char*>(executor) + 8);
    EXPECT_TRUE(IsOk(Run(executor)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
}

// Many executors lie in many chunks of memory; each thread remembers only the last.
TEST_F(ForeignExecutorTest, ManyExecutorsOfTwoThreadsAreKnown) {
    std::vector<aclOpExecutor*> executors;
    for (int i = 0; i < 200; ++i) {
        executors.push_back(Sum(0, {&one_}, one_));
    }
    support::OnAnotherThread([&] {
        for (size_t i = 0; i < executors.size(); i += 2) {
            ASSERT_TRUE(IsOk(aclDestroyAclOpExecutor(executors[i])));
        }
    });
    for (size_t i = 1; i < executors.size(); i += 2) {
        ASSERT_TRUE(IsOk(aclDestroyAclOpExecutor(executors[i])));
    }
    EXPECT_EQ(released_, 200);
}

}  // namespace
