// SPDX-License-Identifier: Apache-2.0
// Tests of phase two against the layer below: the planned launch, and nothing after an error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_advance_step.h"
#include "op_host/advance_step/advance_step.h"
#include "op_kernel/common/kernel.h"
#include "op_kernel/step/step_kernels.h"
#include "reference/step_data.h"
#include "src/runtime/commands/launcher.h"
#include "src/runtime/stream/stream.h"
#include "support/step_batch.h"

namespace advstep {
namespace {

using testing::_;
using testing::StrictMock;

constexpr int64_t kNumSeqs = 100;
constexpr int64_t kNumQueries = 77;
constexpr int64_t kBlockSize = 16;
constexpr int64_t kMaxBlocks = 9;
constexpr int32_t kVectorCores = 40;  // Ascend910B3, the default

class MockLauncher : public Launcher {
 public:
    MOCK_METHOD(Status, CheckStream, (const StreamRef& stream), (override));
    MOCK_METHOD(Status, Launch,
                (const StreamRef& stream, const PlannedLaunch& launch, const void* payload,
                 const Work& work),
                (override));
};

class PhaseTwoLaunchTest : public testing::Test {
 protected:
    void SetUp() override {
        ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
        ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
        const int64_t elements[] = {kNumSeqs, kNumQueries, kNumSeqs,
                                    kNumSeqs, kNumSeqs,    kNumSeqs * kMaxBlocks};
        const std::vector<int64_t> shapes[] = {{kNumSeqs}, {kNumQueries, 1},
                                               {kNumSeqs}, {kNumSeqs},
                                               {kNumSeqs}, {kNumSeqs, kMaxBlocks}};
        for (size_t index = 0; index < 6; ++index) {
            void* memory = nullptr;
            ASSERT_EQ(aclrtMalloc(&memory, static_cast<size_t>(elements[index]) * sizeof(int64_t),
                                  ACL_MEM_MALLOC_HUGE_FIRST),
                      ACL_SUCCESS);
            addresses_.push_back(memory);
            const std::vector<int64_t>& shape = shapes[index];
            tensors_.push_back(aclCreateTensor(shape.data(), shape.size(), ACL_INT64, nullptr, 0,
                                               ACL_FORMAT_ND, shape.data(), shape.size(), memory));
        }
        before_ = ExchangeLauncher(&launcher_);
    }

    void TearDown() override {
        ExchangeLauncher(before_);
        for (const aclTensor* tensor : tensors_) {
            EXPECT_EQ(aclDestroyTensor(tensor), ACLNN_SUCCESS);
        }
        EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    }

    aclOpExecutor* PhaseOne() {
        uint64_t workspaceSize = 0;
        aclOpExecutor* executor = nullptr;
        EXPECT_EQ(aclnnAdvanceStepGetWorkspaceSize(
                      tensors_[0], tensors_[1], tensors_[2], tensors_[3], tensors_[4], tensors_[5],
                      kNumSeqs, kNumQueries, kBlockSize, &workspaceSize, &executor),
                  ACLNN_SUCCESS);
        return executor;
    }

    // Planned by hand: ceil(100 / 40) = 3 rows a core, ceil(100 / 3) = 34 cores.
    static void ExpectPlannedTiling(const AdvanceStepTiling& tiling) {
        EXPECT_EQ(tiling.coreCount, 34);
        EXPECT_EQ(tiling.rowsPerCore, 3);
        EXPECT_EQ(tiling.exactCores, kVectorCores);
        EXPECT_EQ(tiling.numSeqs, kNumSeqs);
        EXPECT_EQ(tiling.numQueries, kNumQueries);
        EXPECT_EQ(tiling.blockSize, kBlockSize);
        EXPECT_EQ(tiling.maxBlocks, kMaxBlocks);
        EXPECT_EQ(tiling.blockTableStride, kMaxBlocks);
    }

    StrictMock<MockLauncher> launcher_;
    Launcher* before_ = nullptr;
    aclrtStream stream_ = nullptr;
    std::vector<void*> addresses_;
    std::vector<aclTensor*> tensors_;
};

TEST_F(PhaseTwoLaunchTest, LaunchesThePlannedTilingOnTheGivenStream) {
    const auto onOurStream = testing::Field(&StreamRef::handle, ToHandle(stream_));
    EXPECT_CALL(launcher_, Launch(onOurStream, _, _, _))
        .WillOnce(
            [&](const StreamRef&, const PlannedLaunch& launch, const void* bytes, const Work&) {
                EXPECT_STREQ(launch.program->call, "aclnnAdvanceStep");
                EXPECT_EQ(launch.coreCount, 34);
                EXPECT_EQ(launch.rows, kNumSeqs);
                EXPECT_EQ(launch.length, TaskLength::kBrief);
                EXPECT_EQ(launch.payloadBytes, sizeof(AdvanceStepPayload));
                AdvanceStepPayload payload;
                std::memcpy(&payload, bytes, sizeof(payload));
                ExpectPlannedTiling(payload.tiling);
                EXPECT_EQ(payload.args.inputTokens, addresses_[0]);
                EXPECT_EQ(payload.args.sampledTokenIds, addresses_[1]);
                EXPECT_EQ(payload.args.inputPositions, addresses_[2]);
                EXPECT_EQ(payload.args.seqLens, addresses_[3]);
                EXPECT_EQ(payload.args.slotMapping, addresses_[4]);
                EXPECT_EQ(payload.args.blockTables, addresses_[5]);
                return Status();
            });
    EXPECT_EQ(aclnnAdvanceStep(nullptr, 0, PhaseOne(), stream_), ACLNN_SUCCESS);
}

TEST_F(PhaseTwoLaunchTest, NullStreamIsTheDefaultStreamOfTheContext) {
    const auto onAnother = testing::Field(&StreamRef::handle, testing::Ne(ToHandle(stream_)));
    EXPECT_CALL(launcher_, Launch(onAnother, _, _, _)).WillOnce([] { return Status(); });
    EXPECT_EQ(aclnnAdvanceStep(nullptr, 0, PhaseOne(), nullptr), ACLNN_SUCCESS);
}

TEST_F(PhaseTwoLaunchTest, RepeatableExecutorLaunchesEveryTimeAlike) {
    aclOpExecutor* const executor = PhaseOne();
    ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), ACLNN_SUCCESS);
    EXPECT_CALL(launcher_, Launch)
        .Times(3)
        .WillRepeatedly([](const StreamRef&, const PlannedLaunch&, const void* bytes, const Work&) {
            ExpectPlannedTiling(static_cast<const AdvanceStepPayload*>(bytes)->tiling);
            return Status();
        });
    for (int run = 0; run < 3; ++run) {
        EXPECT_EQ(aclnnAdvanceStep(nullptr, 0, executor, stream_), ACLNN_SUCCESS);
    }
    EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACLNN_SUCCESS);
}

// A limit set after phase one does not reach its plan; the SoC's cores stay what exact depends on.
TEST_F(PhaseTwoLaunchTest, ResourceLimitsCutTheTiling) {
    ASSERT_EQ(aclrtSetStreamResLimit(stream_, ACL_RT_DEV_RES_VECTOR_CORE, 7), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, 10), ACL_SUCCESS);
    aclOpExecutor* const ofDevice = PhaseOne();
    ASSERT_EQ(aclrtUseStreamResInCurrentThread(stream_), ACL_SUCCESS);
    aclOpExecutor* const ofStream = PhaseOne();
    ASSERT_EQ(aclrtUnuseStreamResInCurrentThread(stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtResetDeviceResLimit(0), ACL_SUCCESS);
    std::vector<int32_t> coreCounts;
    EXPECT_CALL(launcher_, Launch)
        .Times(2)
        .WillRepeatedly(
            [&](const StreamRef&, const PlannedLaunch& launch, const void* bytes, const Work&) {
                const auto& tiling = static_cast<const AdvanceStepPayload*>(bytes)->tiling;
                EXPECT_EQ(tiling.coreCount, launch.coreCount);
                EXPECT_EQ(tiling.exactCores, kVectorCores);
                coreCounts.push_back(launch.coreCount);
                return Status();
            });
    EXPECT_EQ(aclnnAdvanceStep(nullptr, 0, ofDevice, stream_), ACLNN_SUCCESS);
    EXPECT_EQ(aclnnAdvanceStep(nullptr, 0, ofStream, stream_), ACLNN_SUCCESS);
    EXPECT_EQ(coreCounts, (std::vector<int32_t>{10, 7}));  // 10 and ceil(100 / 7) = 15 rows a core
}

// StrictMock: any call below after one of these errors fails the test.
TEST_F(PhaseTwoLaunchTest, NothingIsLaunchedAfterAnArgumentError) {
    uint64_t byte = 0;
    EXPECT_EQ(aclnnAdvanceStep(nullptr, 0, nullptr, stream_), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT_EQ(aclnnAdvanceStep(nullptr, 8, PhaseOne(), stream_), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT_EQ(aclnnAdvanceStep(nullptr, 0, PhaseOne(), &byte), ACLNN_ERR_RUNTIME_ERROR);
    ASSERT_EQ(aclSetRawTensorAddr(tensors_[3], nullptr), ACLNN_SUCCESS);
    EXPECT_EQ(aclnnAdvanceStep(nullptr, 0, PhaseOne(), stream_), ACLNN_ERR_PARAM_NULLPTR);
}

TEST_F(PhaseTwoLaunchTest, ABadStreamIsToldBeforeABadTensor) {
    std::vector<int64_t> host(kNumSeqs);
    ASSERT_EQ(aclSetRawTensorAddr(tensors_[4], host.data()), ACLNN_SUCCESS);
    EXPECT_CALL(launcher_, CheckStream).WillOnce([] {
        return Status(ACL_ERROR_RT_INVALID_HANDLE, "refused");
    });
    EXPECT_EQ(aclnnAdvanceStep(nullptr, 0, PhaseOne(), stream_), ACLNN_ERR_RUNTIME_ERROR);
    EXPECT_STREQ(aclGetRecentErrMsg(), "aclnnAdvanceStep: runtime code 107017: refused");
}

TEST_F(PhaseTwoLaunchTest, NothingIsLaunchedWithATensorOutsideDeviceMemory) {
    std::vector<int64_t> host(kNumSeqs);
    ASSERT_EQ(aclSetRawTensorAddr(tensors_[4], host.data()), ACLNN_SUCCESS);
    EXPECT_CALL(launcher_, CheckStream).WillOnce([] { return Status(); });
    EXPECT_EQ(aclnnAdvanceStep(nullptr, 0, PhaseOne(), stream_), ACLNN_ERR_RUNTIME_ERROR);
}

TEST_F(PhaseTwoLaunchTest, AFailedLaunchSpendsTheExecutor) {
    aclOpExecutor* const executor = PhaseOne();
    EXPECT_CALL(launcher_, Launch).WillOnce([] {
        return Status(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, "stopped");
    });
    EXPECT_EQ(aclnnAdvanceStep(nullptr, 0, executor, stream_), ACLNN_ERR_RUNTIME_ERROR);
    EXPECT_EQ(aclnnAdvanceStep(nullptr, 0, executor, stream_), ACLNN_ERR_PARAM_INVALID);
}

// A plan that is found again must be that of the call, whatever has changed since it was made.
TEST_F(PhaseTwoLaunchTest, PlansFollowEveryChangeOfTheCall) {
    AdvanceStepPayload launched;
    EXPECT_CALL(launcher_, Launch)
        .WillRepeatedly(
            [&](const StreamRef&, const PlannedLaunch&, const void* bytes, const Work&) {
                std::memcpy(&launched, bytes, sizeof(launched));
                return Status();
            });
    const auto run = [&] {
        EXPECT_EQ(aclnnAdvanceStep(nullptr, 0, PhaseOne(), stream_), ACLNN_SUCCESS);
        return launched;
    };
    const auto address = [&](size_t index) { return static_cast<int64_t*>(addresses_[index]); };
    EXPECT_EQ(run().args.inputTokens, address(0));
    EXPECT_EQ(run().args.inputTokens, address(0));

    ASSERT_EQ(aclSetRawTensorAddr(tensors_[0], address(2)), ACLNN_SUCCESS);
    ASSERT_EQ(aclSetRawTensorAddr(tensors_[2], address(0)), ACLNN_SUCCESS);
    EXPECT_EQ(run().args.inputTokens, address(2));
    EXPECT_EQ(launched.args.inputPositions, address(0));

    // Created again as another one that was destroyed, and as itself.
    const int64_t shape[] = {kNumSeqs};
    for (void* const memory : {addresses_[0], addresses_[2]}) {
        ASSERT_EQ(aclDestroyTensor(tensors_[0]), ACLNN_SUCCESS);
        ASSERT_EQ(aclDestroyTensor(tensors_[2]), ACLNN_SUCCESS);
        void* const other = memory == addresses_[0] ? addresses_[2] : addresses_[0];
        tensors_[0] =
            aclCreateTensor(shape, 1, ACL_INT64, nullptr, 0, ACL_FORMAT_ND, shape, 1, memory);
        tensors_[2] =
            aclCreateTensor(shape, 1, ACL_INT64, nullptr, 0, ACL_FORMAT_ND, shape, 1, other);
        EXPECT_EQ(run().args.inputTokens, memory);
        EXPECT_EQ(launched.args.inputPositions, other);
    }

    // An executor whose address was changed is no plan of this call any more.
    aclOpExecutor* const changed = PhaseOne();
    ASSERT_EQ(aclSetTensorAddr(changed, 3, tensors_[3], address(3) + 1), ACLNN_SUCCESS);
    ASSERT_EQ(aclDestroyAclOpExecutor(changed), ACLNN_SUCCESS);
    EXPECT_EQ(run().args.seqLens, address(3));

    ASSERT_EQ(aclrtFree(addresses_[4]), ACL_SUCCESS);
    EXPECT_CALL(launcher_, CheckStream).WillOnce([] { return Status(); });
    EXPECT_EQ(aclnnAdvanceStep(nullptr, 0, PhaseOne(), stream_), ACLNN_ERR_RUNTIME_ERROR);
}

TEST_F(PhaseTwoLaunchTest, ADestroyedTensorHasNoPlan) {
    EXPECT_CALL(launcher_, Launch).WillOnce([] { return Status(); });
    EXPECT_EQ(aclnnAdvanceStep(nullptr, 0, PhaseOne(), stream_), ACLNN_SUCCESS);
    ASSERT_EQ(aclDestroyTensor(tensors_.back()), ACLNN_SUCCESS);
    uint64_t workspaceSize = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT_EQ(aclnnAdvanceStepGetWorkspaceSize(tensors_[0], tensors_[1], tensors_[2], tensors_[3],
                                               tensors_[4], tensors_[5], kNumSeqs, kNumQueries,
                                               kBlockSize, &workspaceSize, &executor),
              ACLNN_ERR_PARAM_INVALID);
    EXPECT_EQ(executor, nullptr);
    tensors_.pop_back();
}

// Only the data tell how much a step moves, whatever its number of cores.
TEST_F(PhaseTwoLaunchTest, ItsDataTellWhetherAStepIsBrief) {
    for (const int64_t batch : {0, 5, 2048}) {
        reference::StepDims dims;
        dims.batch = batch;
        dims.slots = batch + 1;
        support::StepBatch step(reference::IdleStepData(dims));
        ASSERT_EQ(step.Plan(), ACLNN_SUCCESS);
        EXPECT_CALL(launcher_, Launch)
            .WillOnce([&](const StreamRef&, const PlannedLaunch& launch, auto&&...) {
                EXPECT_EQ(launch.length, TaskLength::kByData);
                EXPECT_EQ(launch.program->isBrief, &IsBriefStep);
                return Status();
            });
        EXPECT_EQ(step.Launch(stream_), ACLNN_SUCCESS) << batch;
    }
}

}  // namespace
}  // namespace advstep
