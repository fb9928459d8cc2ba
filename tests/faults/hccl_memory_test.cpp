// SPDX-License-Identifier: Apache-2.0
// Calls of HCCL while memory is short: each has its effect, or none and the code that says so.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "faults/counted_allocations.h"
#include "hccl/hccl.h"
#include "support/runtime_test.h"

namespace {

class HcclMemory : public support::DeviceTest {
 protected:
    void SetUp() override {
        ASSERT_NO_FATAL_FAILURE(DeviceTest::SetUp());
        int32_t device = 0;
        ASSERT_EQ(HcclCommInitAll(1, &device, &comm_), HCCL_SUCCESS);
        ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
        ASSERT_EQ(aclrtMalloc(&data_, 4096, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
    }
    void TearDown() override {
        (void)aclrtSynchronizeStream(stream_);
        (void)aclrtDestroyStream(stream_);
        (void)aclrtFree(data_);
        (void)HcclCommDestroy(comm_);
    }

    // Every allocation of the calling thread fails in turn, alone and with all after it.
    void Walk(const std::function<HcclResult()>& call) {
        for (const uint64_t count : {uint64_t{1}, UINT64_MAX}) {
            uint64_t struck = 1;
            for (uint64_t n = 1; struck != 0 && !HasFailure(); ++n) {
                SCOPED_TRACE(n);
                faults::FailAllocationsOfThread(n, count);
                const HcclResult code = call();
                struck = faults::FailedAllocationsOfThread();
                faults::FailAllocationsOfThread(0, 0);
                EXPECT_TRUE(code == HCCL_SUCCESS || code == HCCL_E_MEMORY ||
                            code == HCCL_E_RUNTIME || code == HCCL_E_SYSCALL)
                    << code << ": " << aclGetRecentErrMsg();
                ASSERT_TRUE(struck != 0 || code == HCCL_SUCCESS) << code;
                ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS) << aclGetRecentErrMsg();
                HcclResult error = HCCL_E_INTERNAL;
                ASSERT_EQ(HcclGetCommAsyncError(comm_, &error), HCCL_SUCCESS);
                ASSERT_EQ(error, HCCL_SUCCESS) << aclGetRecentErrMsg();
            }
        }
    }

    HcclComm comm_ = nullptr;
    aclrtStream stream_ = nullptr;
    void* data_ = nullptr;
};

TEST_F(HcclMemory, OperatorsAreQueuedOrNot) {
    const uint64_t counts[] = {16};
    const uint64_t begins[] = {0};
    auto* const out = static_cast<char*>(data_) + 2048;
    Walk([&] {
        return HcclAllReduce(data_, out, 16, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm_, stream_);
    });
    Walk([&] {
        return HcclAllGatherV(data_, 16, out, counts, begins, HCCL_DATA_TYPE_FP32, comm_, stream_);
    });
    Walk([&] {
        HcclSendRecvItem items[] = {{HCCL_SEND, data_, 16, HCCL_DATA_TYPE_FP32, 0},
                                    {HCCL_RECV, out, 16, HCCL_DATA_TYPE_FP32, 0}};
        return HcclBatchSendRecv(items, 2, comm_, stream_);
    });
    Walk([&] { return HcclBarrier(comm_, stream_); });
}

TEST_F(HcclMemory, CommunicatorsAreWholeOrNotThere) {
    Walk([&] {
        int32_t device = 0;
        HcclComm comm = nullptr;
        const HcclResult code = HcclCommInitAll(1, &device, &comm);
        EXPECT_EQ(code == HCCL_SUCCESS, comm != nullptr);
        return comm == nullptr ? code : HcclCommDestroy(comm);
    });
    Walk([&] {
        uint32_t rank = 0;
        HcclComm comm = nullptr;
        const HcclResult code = HcclCreateSubCommConfig(&comm_, 1, &rank, 7, 0, nullptr, &comm);
        EXPECT_EQ(code == HCCL_SUCCESS, comm != nullptr);
        return comm == nullptr ? code : HcclCommDestroy(comm);
    });
}

TEST_F(HcclMemory, PropertiesAndFailures) {
    Walk([&] {
        char name[COMM_NAME_MAX_LENGTH];
        const HcclResult code = HcclGetCommName(comm_, name);
        HcclComm found = nullptr;
        return code != HCCL_SUCCESS ? code : HcclCommGetHandleWithName(name, &found);
    });
    Walk([&] {
        const HcclResult code = HcclSend(data_, 16, HCCL_DATA_TYPE_FP32, 0, comm_, stream_);
        EXPECT_TRUE(code == HCCL_E_PARA || code == HCCL_E_MEMORY);
        return HCCL_SUCCESS;
    });
}

}  // namespace
