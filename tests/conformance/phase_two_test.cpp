// SPDX-License-Identifier: Apache-2.0
// Phase two: what it refuses, and that a refused run spends the executor too.
#include <gtest/gtest.h>

#include <cstdint>
#include <thread>

#include "aclnnop/aclnn_advance_step.h"
#include "aclnnop/aclnn_step.h"
#include "support/advance_step_batch.h"
#include "support/batches.h"
#include "support/host_work.h"
#include "support/runtime_test.h"

namespace {

using namespace support;

class PhaseTwoTest : public support::DeviceTest {
 protected:
    static AdvanceStepBatch Planned() {
        AdvanceStepBatch batch(MakeBatch(9, 6, 4, 5, 1));
        EXPECT_TRUE(IsOk(batch.Plan()));
        return batch;
    }
    static void ExpectSpent(AdvanceStepBatch& batch) {
        EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, batch.Launch(nullptr), {"executor"}));
        EXPECT_TRUE(IsOk(aclrtSynchronizeDevice()));
        EXPECT_TRUE(batch.IsUntouched());
    }
};

TEST_F(PhaseTwoTest, NullExecutor) {
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, aclnnAdvanceStep(nullptr, 0, nullptr, nullptr),
                        {"aclnnAdvanceStep: ", "executor"}));
}

TEST_F(PhaseTwoTest, NullWorkspaceWithASize) {
    AdvanceStepBatch batch = Planned();
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR,
                        aclnnAdvanceStep(nullptr, 4096, batch.Executor(), nullptr),
                        {"aclnnAdvanceStep: ", "workspace"}));
    ExpectSpent(batch);
}

TEST_F(PhaseTwoTest, LargerWorkspaceIsTaken) {
    AdvanceStepBatch batch = Planned();
    const uint64_t size = batch.WorkspaceSize() + 4096;
    const support::DeviceBuffer workspace(size);
    EXPECT_TRUE(IsOk(aclnnAdvanceStep(workspace.Get(), size, batch.Executor(), nullptr)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_TRUE(batch.Holds(Advanced(batch.Data())));
}

TEST_F(PhaseTwoTest, NullAddress) {
    for (size_t i = 0; i < 6; ++i) {
        AdvanceStepBatch batch(MakeBatch(9, 6, 4, 5, 1));
        ASSERT_TRUE(IsOk(aclSetRawTensorAddr(batch.TensorAt(i), nullptr)));
        ASSERT_TRUE(IsOk(batch.Plan())) << "phase one needs no address";
        EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, batch.Launch(nullptr),
                            {"aclnnAdvanceStep: ", support::kTensorNames[i]}));
        ExpectSpent(batch);
    }
}

// Whether a tensor that starts at address stays clear of the batch's memory, wherever that lies:
// then the overlap check of phase one has nothing to say about it.
bool IsClear(const AdvanceStepBatch& batch, void* address) {
    constexpr uintptr_t kLargest = 512;  // bytes of the largest tensor, and more
    const auto start = reinterpret_cast<uintptr_t>(address);
    for (size_t i = 0; i < 6; ++i) {
        const auto other = reinterpret_cast<uintptr_t>(batch.Address(i));
        if (start < other + kLargest && other < start + kLargest) {
            return false;
        }
    }
    return true;
}

TEST_F(PhaseTwoTest, AddressOutsideDeviceMemory) {
    std::vector<int64_t> host(100, 7);
    std::vector<support::DeviceBuffer> small;
    for (int i = 0; i < 200; ++i) {  // neighbours of the batch's memory may be among them
        small.emplace_back(std::vector<char>(24, 's'));
    }
    for (size_t i = 0; i < 6; ++i) {
        AdvanceStepBatch batch(MakeBatch(9, 6, 4, 5, 1));
        std::vector<void*> addresses{host.data()};
        for (const support::DeviceBuffer& buffer : small) {
            if (addresses.size() < 3 && IsClear(batch, buffer.Get())) {
                addresses.push_back(addresses.size() == 1 ? buffer.Get() : buffer.At(16));
            }
        }
        ASSERT_EQ(addresses.size(), 3U);
        for (void* const address : addresses) {
            ASSERT_TRUE(IsOk(aclSetRawTensorAddr(batch.TensorAt(i), address)));
            ASSERT_TRUE(IsOk(batch.Plan()));
            EXPECT_TRUE(IsError(ACLNN_ERR_RUNTIME_ERROR, batch.Launch(nullptr),
                                {"aclnnAdvanceStep: ", support::kTensorNames[i]}, {107000}));
            ExpectSpent(batch);
        }
    }
    EXPECT_EQ(host, std::vector<int64_t>(100, 7));
    for (const support::DeviceBuffer& buffer : small) {
        ASSERT_EQ(buffer.Download<char>(), std::vector<char>(24, 's'));
    }
}

TEST_F(PhaseTwoTest, BadStream) {
    const aclrtStream destroyed = MakeStream().Release();
    ASSERT_TRUE(IsOk(aclrtDestroyStream(destroyed)));
    const support::Event event = support::MakeEvent();
    int local = 0;
    for (void* const bad : {destroyed, event.Get(), static_cast<void*>(&local)}) {
        AdvanceStepBatch batch = Planned();
        EXPECT_TRUE(IsError(ACLNN_ERR_RUNTIME_ERROR, batch.Launch(bad),
                            {"aclnnAdvanceStep: ", "stream"}, {107017}));
        ExpectSpent(batch);
    }
}

TEST_F(PhaseTwoTest, StreamOfAnotherContext) {
    const aclrtContext primary = support::CurrentContext();
    aclrtContext context = nullptr;
    ASSERT_TRUE(IsOk(aclrtCreateContext(&context, 0)));
    const aclrtStream other = MakeStream().Release();
    ASSERT_TRUE(IsOk(aclrtSetCurrentContext(primary)));
    AdvanceStepBatch batch = Planned();
    EXPECT_TRUE(IsError(ACLNN_ERR_RUNTIME_ERROR, batch.Launch(other),
                        {"aclnnAdvanceStep: ", "stream"}, {107003}));
    ExpectSpent(batch);
    EXPECT_TRUE(IsOk(aclrtDestroyContext(context)));
}

TEST_F(PhaseTwoTest, AddressNotAlignedToItsElements) {
    for (size_t i = 0; i < 6; ++i) {
        for (const size_t byte : {1, 4, 7}) {
            AdvanceStepBatch batch(MakeBatch(9, 6, 4, 5, 1));
            const support::DeviceBuffer roomy(std::vector<char>(4096, 'r'));
            ASSERT_TRUE(IsOk(aclSetRawTensorAddr(batch.TensorAt(i), roomy.At(1024 + byte))));
            ASSERT_TRUE(IsOk(batch.Plan()));
            EXPECT_TRUE(IsError(ACLNN_ERR_RUNTIME_ERROR, batch.Launch(nullptr),
                                {"aclnnAdvanceStep: ", support::kTensorNames[i]}));
            ExpectSpent(batch);
            EXPECT_EQ(roomy.Download<char>(), std::vector<char>(4096, 'r'));
        }
    }
}

TEST_F(PhaseTwoTest, ContextOfAnotherDevice) {
    AdvanceStepBatch batch = Planned();
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    EXPECT_TRUE(IsError(ACLNN_ERR_RUNTIME_ERROR, batch.Launch(nullptr), {"aclnnAdvanceStep: "}));
    ExpectSpent(batch);
}

TEST_F(PhaseTwoTest, StreamThatStoppedOnAFailure) {
    const support::Stream stream = MakeStream();
    ASSERT_TRUE(IsOk(aclrtSetStreamFailureMode(stream.Get(), ACL_STOP_ON_FAILURE)));
    ASSERT_TRUE(IsOk(support::EnqueueFailure(stream.Get())));
    ASSERT_TRUE(support::Eventually(
        [&] { return support::Enqueue(stream.Get(), [] {}) == ACL_ERROR_FAILURE; }));
    AdvanceStepBatch batch = Planned();
    EXPECT_TRUE(IsError(ACLNN_ERR_RUNTIME_ERROR, batch.Launch(stream.Get()), {"aclnnAdvanceStep: "},
                        {ACL_ERROR_FAILURE}));
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(stream.Get())));
    ExpectSpent(batch);
}

// A plan of the other operator: one slot, one block.
aclOpExecutor* PlanStep() {
    constexpr aclDataType b = ACL_BOOL, i = ACL_INT32, l = ACL_INT64;
    const std::vector<aclDataType> dtypes{b, i, i, i, i, i, i, b, i, i, i,
                                          i, i, i, i, i, i, l, l, l, l, l};
    std::vector<support::Tensor> t;
    for (size_t k = 0; k < dtypes.size(); ++k) {
        const bool isTable = k == 5 || k == 17 || k == 18;  // blockTables, inputIds, preIds
        t.emplace_back(support::TensorSpec{
            isTable ? std::vector<int64_t>{1, 4} : std::vector<int64_t>{1}, nullptr, dtypes[k]});
    }
    uint64_t workspaceSize = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT_TRUE(IsOk(aclnnStepGetWorkspaceSize(
        t[0].Get(), t[1].Get(), t[2].Get(), t[3].Get(), t[4].Get(), t[5].Get(), t[6].Get(),
        t[7].Get(), t[8].Get(), t[9].Get(), t[10].Get(), t[11].Get(), t[12].Get(), t[13].Get(),
        t[14].Get(), t[15].Get(), t[16].Get(), t[17].Get(), t[18].Get(), t[19].Get(), t[20].Get(),
        t[21].Get(), 4, 0, &workspaceSize, &executor)));
    return executor;
}

TEST_F(PhaseTwoTest, ExecutorOfAnotherOperator) {
    const support::DeviceBuffer workspace(1 << 20);
    aclOpExecutor* const step = PlanStep();
    ASSERT_NE(step, nullptr);
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID,
                        aclnnAdvanceStep(workspace.Get(), workspace.Size(), step, nullptr),
                        {"aclnnAdvanceStep: ", "executor"}));
    AdvanceStepBatch batch = Planned();
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID,
                        aclnnStep(workspace.Get(), workspace.Size(), batch.Executor(), nullptr),
                        {"aclnnStep: ", "executor"}));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_TRUE(batch.IsUntouched());
}

TEST_F(PhaseTwoTest, NoContext) {
    AdvanceStepBatch batch = Planned();
    std::thread([&batch] {
        EXPECT_TRUE(IsError(ACLNN_ERR_RUNTIME_ERROR,
                            aclnnAdvanceStep(nullptr, 0, batch.Executor(), nullptr),
                            {"aclnnAdvanceStep: "}, {107002}));
    }).join();
    ExpectSpent(batch);
}

}  // namespace
