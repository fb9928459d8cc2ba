// SPDX-License-Identifier: Apache-2.0
// Host operators in two calls, captured and replayed, and in task groups.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>

#include "advance_step/fault_injection.h"
#include "advance_step/host_call.h"
#include "conformance/host_call_fixture.h"

namespace {

using namespace conformance;

using HostCallCaptureTest = HostCallTest;

TEST_F(HostCallCaptureTest, AModelSharesItsArguments) {
    {
        const Model model = Capture(
            stream_.Get(), [&] { ASSERT_TRUE(IsOk(Run(Sum(7, {&one_}, out_), stream_.Get()))); });
        ExpectCounts(0, 0);
        for (int replay = 0; replay < 3; ++replay) {
            ASSERT_TRUE(IsOk(Queue(model, stream_)));
        }
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream_.Get())));
        EXPECT_EQ(out_.Download<int64_t>(), Values(17));
        ExpectCounts(3, 0);
    }
    ExpectCounts(3, 1);
}

TEST_F(HostCallCaptureTest, AModelKeepsItsAddresses) {
    aclOpExecutor* const executor = Sum(7, {&one_}, out_);
    ASSERT_TRUE(IsOk(aclSetAclOpExecutorRepeatable(executor)));
    const Model model =
        Capture(stream_.Get(), [&] { ASSERT_TRUE(IsOk(Run(executor, stream_.Get()))); });
    const DeviceBuffer other(Values(0));
    const Tensor any(TensorSpec{{kCount}, nullptr});
    ASSERT_TRUE(IsOk(aclSetOutputTensorAddr(executor, 0, any.Get(), other.Get())));
    ASSERT_TRUE(IsOk(Replay(model, stream_)));
    EXPECT_EQ(out_.Download<int64_t>(), Values(17));
    EXPECT_EQ(other.Download<int64_t>(), Values(0));
    ASSERT_TRUE(IsOk(Run(executor, stream_.Get())));
    ASSERT_TRUE(IsOk(aclDestroyAclOpExecutor(executor)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream_.Get())));
    EXPECT_EQ(other.Download<int64_t>(), Values(17));
    ExpectCounts(2, 0);
}

TEST_F(HostCallCaptureTest, AReplayChecksTheMemoryOfEachTensor) {
    Model model;
    {
        const DeviceBuffer freed(Values(0));
        model = Capture(stream_.Get(), [&] {
            ASSERT_TRUE(IsOk(Run(Sum(7, {&one_, &freed}, out_), stream_.Get())));
        });
        ASSERT_TRUE(IsOk(Replay(model, stream_)));
    }
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, Queue(model, stream_),
                        {"terms was captured", "32 bytes"}));
    EXPECT_EQ(runs_, 1);
}

TEST_F(HostCallCaptureTest, AnUpdateOfATaskGroupReplacesIt) {
    const DeviceBuffer other(Values(0));
    aclrtTaskGrp group = nullptr;
    {
        const Model model = Capture(stream_.Get(), [&] {
            ASSERT_TRUE(IsOk(aclmdlRICaptureTaskGrpBegin(stream_.Get())));
            ASSERT_TRUE(IsOk(Run(Sum(7, {&one_}, out_), stream_.Get())));
            ASSERT_TRUE(IsOk(aclmdlRICaptureTaskGrpEnd(stream_.Get(), &group)));
        });
        ASSERT_TRUE(IsOk(Replay(model, stream_)));
        const HostGate gate(stream_.Get());
        ASSERT_TRUE(IsOk(Queue(model, stream_)));  // the update comes before it is run
        const Stream updating = MakeStream();
        ASSERT_TRUE(IsOk(aclmdlRICaptureTaskUpdateBegin(updating.Get(), group)));
        ASSERT_TRUE(IsOk(Run(Sum(8, {&one_}, other), updating.Get())));
        ASSERT_TRUE(IsOk(aclmdlRICaptureTaskUpdateEnd(updating.Get())));
        ExpectCounts(1, 1);
        gate.Open();
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream_.Get())));
        EXPECT_EQ(out_.Download<int64_t>(), Values(17));
        EXPECT_EQ(other.Download<int64_t>(), Values(18));
        ExpectCounts(2, 1);
    }
    ExpectCounts(2, 2);
}

TEST_F(HostCallCaptureTest, AReplayThatIsSkippedReleasesNothing) {
    {
        const Model model = Capture(
            stream_.Get(), [&] { ASSERT_TRUE(IsOk(Run(Sum(7, {&one_}, out_), stream_.Get()))); });
        {
            const HostGate gate(stream_.Get());
            ASSERT_TRUE(IsOk(Queue(model, stream_)));
            ASSERT_TRUE(IsOk(aclrtStreamAbort(stream_.Get())));
        }
        (void)aclrtSynchronizeStream(stream_.Get());
        ExpectCounts(0, 0);
        ASSERT_TRUE(IsOk(Replay(model, stream_)));
        ExpectCounts(1, 0);
    }
    ExpectCounts(1, 1);
}

// The release may take a lock that another thread holds in a call of the stream.
TEST_F(HostCallCaptureTest, ALackOfMemoryReleasesTheArgumentsOnce) {
    uint64_t failing = 1;
    int launches = 0;
    const auto fails = [&] {
        aclOpExecutor* const executor = Sum(7, {&one_}, out_);
        EXPECT_TRUE(IsOk(advstepFailAllocations(ADVSTEP_ALLOCATION_INTERNAL, failing, 1)));
        const aclnnStatus code = Run(executor, stream_.Get());
        AdvStepFaultCounts counts{};
        EXPECT_TRUE(IsOk(advstepReadFaultCounts(&counts)));
        EXPECT_TRUE(IsOk(advstepClearFaults()));
        EXPECT_EQ(code, counts.failedAllocations == 0 ? ACL_SUCCESS : ACLNN_ERR_INNER);
        ++launches;
        return counts.failedAllocations != 0;
    };
    {
        const Model model = Capture(stream_.Get(), [&] {
            for (; fails(); ++failing) {
                EXPECT_EQ(released_, static_cast<int>(failing));
            }
        });
        EXPECT_GE(failing, 3U) << "the record, its uses and its owner";
        EXPECT_EQ(released_, launches - 1);
    }
    ExpectCounts(0, launches);
}

TEST_F(HostCallCaptureTest, AListingHasItsNameAndItsTensors) {
    const Model model = Capture(
        stream_.Get(), [&] { ASSERT_TRUE(IsOk(Run(Sum(7, {&one_}, out_), stream_.Get()))); });
    const std::string path = testing::TempDir() + "host_call_" + std::to_string(getpid()) + ".json";
    ASSERT_TRUE(IsOk(aclmdlRIDebugJsonPrint(model.Get(), path.c_str(), 1)));
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    (void)unlink(path.c_str());
    for (const char* const words : {"aclnnTestSum", "\"kernel\"", "terms", "out", "32 bytes"}) {
        EXPECT_NE(text.find(words), std::string::npos) << words << " in " << text;
    }
}

}  // namespace
