// SPDX-License-Identifier: Apache-2.0
// Failed tasks: who reports them, what runs after them, and host functions that wait for
// themselves.
#include <gtest/gtest.h>

#include "acl/acl.h"
#include "support/advance_step_batch.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "support/threads.h"

namespace {

using namespace support;

// A batch whose query 1 has a negative position.
reference::AdvanceStepData BadBatch() {
    reference::AdvanceStepData data;
    data.numSeqs = 3;
    data.numQueries = 2;
    data.blockSize = 4;
    data.maxBlocks = 2;
    data.inputTokens = {1, 2, 3};
    data.sampledTokenIds = {4, 5};
    data.inputPositions = {6, 7, 8};
    data.seqLens = {3, -9, 1};
    data.slotMapping = {11, 12, 13};
    data.blockTables = {0, 1, 2, 3, 4, 5};
    return data;
}

class FailureTest : public support::DeviceTest {
 protected:
    static aclError PlanAndLaunch(support::AdvanceStepBatch* batch, const Stream& stream) {
        const aclError planned = batch->Plan();
        return planned != ACL_SUCCESS ? planned : batch->Launch(stream.Get());
    }
    static aclError SetMode(aclrtStream stream, uint64_t mode) {
        return aclrtSetStreamFailureMode(stream, mode);
    }
};

TEST_F(FailureTest, ThrowingHostFunctionFails) {
    const Stream stream = MakeStream();
    ASSERT_TRUE(IsOk(EnqueueFailure(stream.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(stream.Get())));
}

TEST_F(FailureTest, IsReportedOnce) {
    const Stream stream = MakeStream();
    ASSERT_TRUE(IsOk(EnqueueFailure(stream.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(stream.Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
}

TEST_F(FailureTest, TheFirstOfSeveralIsReported) {
    const Stream stream = MakeStream();
    support::AdvanceStepBatch batch(BadBatch());
    ASSERT_TRUE(IsOk(PlanAndLaunch(&batch, stream)));
    ASSERT_TRUE(IsOk(EnqueueFailure(stream.Get())));
    EXPECT_TRUE(IsDataError(aclrtSynchronizeStream(stream.Get()), 1, {-9}));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    ASSERT_TRUE(IsOk(EnqueueFailure(stream.Get())));
    ASSERT_TRUE(IsOk(PlanAndLaunch(&batch, stream)));
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(stream.Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
}

TEST_F(FailureTest, MessageIsOfTheThreadThatSynchronises) {
    const Stream stream = MakeStream();
    support::AdvanceStepBatch batch(BadBatch());
    ASSERT_TRUE(IsOk(PlanAndLaunch(&batch, stream)));
    support::OnAnotherThread(
        [&] { EXPECT_TRUE(IsDataError(aclrtSynchronizeStream(stream.Get()), 1, {-9})); });
    EXPECT_EQ(support::TakeMessage(), "");
    EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
}

TEST_F(FailureTest, BelongsToItsStream) {
    const Stream stream = MakeStream();
    const Stream other = MakeStream();
    ASSERT_TRUE(IsOk(EnqueueFailure(stream.Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(other.Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(stream.Get())));
}

TEST_F(FailureTest, LaterWorkRunsByDefault) {
    const Stream stream = MakeStream();
    const Recorder recorder;
    ASSERT_TRUE(IsOk(EnqueueFailure(stream.Get())));
    ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 1)));
    ASSERT_TRUE(recorder.WaitFor(1));
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(stream.Get())));
}

TEST_F(FailureTest, ModeContinueIsTheDefault) {
    const Stream stream = MakeStream();
    const Recorder recorder;
    ASSERT_TRUE(IsOk(SetMode(stream.Get(), ACL_CONTINUE_ON_FAILURE)));
    ASSERT_TRUE(IsOk(EnqueueFailure(stream.Get())));
    ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 1)));
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(recorder.Values(), std::vector<int>{1});
}

TEST_F(FailureTest, ModeStopSkipsLaterWork) {
    const Stream stream = MakeStream();
    const Recorder recorder;
    ASSERT_TRUE(IsOk(SetMode(stream.Get(), ACL_STOP_ON_FAILURE)));
    {
        const HostGate gate(stream.Get());
        ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 1)));
        ASSERT_TRUE(IsOk(EnqueueFailure(stream.Get())));
        ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 2)));
    }
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(recorder.Values(), std::vector<int>{1});
    ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 3)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(recorder.Values(), (std::vector<int>{1, 3}));
}

TEST_F(FailureTest, ModeStopRefusesNewWorkUntilReported) {
    const Stream stream = MakeStream();
    const Recorder recorder;
    const support::DeviceBuffer device(64);
    const support::Event event = support::MakeEvent();
    ASSERT_TRUE(IsOk(SetMode(stream.Get(), ACL_STOP_ON_FAILURE)));
    ASSERT_TRUE(IsOk(EnqueueFailure(stream.Get())));
    ASSERT_TRUE(
        support::Eventually([&] { return recorder.Mark(stream.Get(), 1) == ACL_ERROR_FAILURE; }));
    EXPECT_TRUE(
        IsError(ACL_ERROR_FAILURE, recorder.Mark(stream.Get(), 1), {"aclrtLaunchHostFunc: "}));
    EXPECT_TRUE(
        IsError(ACL_ERROR_FAILURE, aclrtMemsetAsync(device.Get(), 64, 0, 64, stream.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtRecordEvent(event.Get(), stream.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(recorder.Values(), std::vector<int>{});
    ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 2)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(recorder.Values(), std::vector<int>{2});
}

// A pageable copy waits for its turn, so it is told that it was skipped.
TEST_F(FailureTest, ModeStopTellsASkippedCopy) {
    const Stream stream = MakeStream();
    const support::DeviceBuffer device(std::vector<char>(64, 'd'));
    std::vector<char> host(64, 'h');
    ASSERT_TRUE(IsOk(SetMode(stream.Get(), ACL_STOP_ON_FAILURE)));
    ASSERT_TRUE(IsOk(EnqueueFailure(stream.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE,
                        aclrtMemcpyAsync(host.data(), 64, device.Get(), 64,
                                         ACL_MEMCPY_DEVICE_TO_HOST, stream.Get()),
                        {"aclrtMemcpyAsync: "}));
    EXPECT_EQ(host, std::vector<char>(64, 'h'));
    aclrtSynchronizeStream(stream.Get());
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
}

TEST_F(FailureTest, ModeHoldsForTheContext) {
    const Stream stream = MakeStream();
    const Stream other = MakeStream();
    const Recorder recorder;
    ASSERT_TRUE(IsOk(SetMode(stream.Get(), ACL_STOP_ON_FAILURE)));
    {
        const HostGate gate(other.Get());
        ASSERT_TRUE(IsOk(EnqueueFailure(other.Get())));
        ASSERT_TRUE(IsOk(recorder.Mark(other.Get(), 1)));
    }
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(other.Get())));
    EXPECT_TRUE(recorder.Values().empty());
}

TEST_F(FailureTest, ModeStopHoldsTheFailedStreamOnly) {
    const Stream stream = MakeStream();
    const Stream other = MakeStream();
    const Recorder recorder;
    ASSERT_TRUE(IsOk(SetMode(stream.Get(), ACL_STOP_ON_FAILURE)));
    ASSERT_TRUE(IsOk(EnqueueFailure(stream.Get())));
    ASSERT_TRUE(
        support::Eventually([&] { return recorder.Mark(stream.Get(), 1) == ACL_ERROR_FAILURE; }));
    ASSERT_TRUE(IsOk(recorder.Mark(other.Get(), 2)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(other.Get())));
    EXPECT_EQ(recorder.Values(), std::vector<int>{2});
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(stream.Get())));
}

TEST_F(FailureTest, ModeIsSetOnce) {
    const Stream stream = MakeStream();
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, SetMode(stream.Get(), 2),
                        {"aclrtSetStreamFailureMode: ", "mode", "2"}));
    EXPECT_TRUE(IsOk(SetMode(stream.Get(), ACL_STOP_ON_FAILURE))) << "a refused call sets nothing";
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, SetMode(stream.Get(), ACL_STOP_ON_FAILURE)));
    EXPECT_TRUE(
        IsError(ACL_ERROR_RT_PARAM_INVALID, SetMode(stream.Get(), ACL_CONTINUE_ON_FAILURE)));
}

}  // namespace
