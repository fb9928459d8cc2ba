// SPDX-License-Identifier: Apache-2.0
// The launches of task groups in the trace.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "conformance/traced_runtime.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/own_table.h"
#include "support/tensor.h"

namespace {

using conformance::DeviceTrace;
using conformance::TraceTest;
using support::IsOk;

support::Signal launchEntered;
support::Signal launchOpened;

// The launch that adds 1 stays until the test lets it go.
void HoldOwn(const advance_step::op::CoreContext& /*core*/, const void* payload) {
    if (static_cast<const support::OwnPayload*>(payload)->add == 1) {
        launchEntered.Set();
        EXPECT_TRUE(launchOpened.Wait());
    }
}

const advance_step::op::KernelProgram kHeldProgram = advance_step::op::MakeKernelProgram(
    support::kOwnTable.call, nullptr, {&HoldOwn, &support::CommitOwn});

TEST_F(TraceTest, ALaunchThatIsReplacedWhileItRunsIsDescribedItself) {
    launchEntered = support::Signal();
    launchOpened = support::Signal();
    const support::Stream stream = support::MakeStream();
    const support::Stream updates = support::MakeStream();
    const std::string track = TrackOf(stream.Get());
    const support::DeviceBuffer inMemory(std::vector<int64_t>(4, 10));
    const support::DeviceBuffer outMemory(std::vector<int64_t>(4, 0));
    const support::Tensor in(support::TensorSpec{{4}, inMemory.Get(), ACL_INT64});
    const support::Tensor out(support::TensorSpec{{4}, outMemory.Get(), ACL_INT64});
    support::OwnCall captured(in.Get(), nullptr, out.Get(), 1, 4);
    support::OwnCall update(in.Get(), nullptr, out.Get(), 2, 4);
    captured.plan.rows = 5;
    update.plan.rows = 7;
    for (support::OwnCall* const call : {&captured, &update}) {
        call->plan.program = &kHeldProgram;
        ASSERT_TRUE(IsOk(call->Plan()));
    }
    ASSERT_TRUE(IsOk(aclmdlRICaptureBegin(stream.Get(), ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL)));
    ASSERT_TRUE(IsOk(aclmdlRICaptureTaskGrpBegin(stream.Get())));
    ASSERT_TRUE(IsOk(captured.Run(stream.Get())));
    aclrtTaskGrp group = nullptr;
    ASSERT_TRUE(IsOk(aclmdlRICaptureTaskGrpEnd(stream.Get(), &group)));
    aclmdlRI model = nullptr;
    ASSERT_TRUE(IsOk(aclmdlRICaptureEnd(stream.Get(), &model)));
    ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model, stream.Get())));
    ASSERT_TRUE(launchEntered.Wait());
    ASSERT_TRUE(IsOk(aclmdlRICaptureTaskUpdateBegin(updates.Get(), group)));
    ASSERT_TRUE(IsOk(update.Run(updates.Get())));
    ASSERT_TRUE(IsOk(aclmdlRICaptureTaskUpdateEnd(updates.Get())));
    launchOpened.Set();
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(outMemory.Download<int64_t>(), std::vector<int64_t>(4, 11));
    ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model, stream.Get())));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(outMemory.Download<int64_t>(), std::vector<int64_t>(4, 12));
    ASSERT_TRUE(IsOk(aclmdlRIDestroy(model)));
    const DeviceTrace trace = Finish();
    const std::vector<DeviceTrace::Slice> launches = trace.Named(support::kOwnTable.call, track);
    ASSERT_EQ(launches.size(), 2U);
    EXPECT_EQ(launches[0].Arg("rows"), 5);
    EXPECT_EQ(launches[1].Arg("rows"), 7);
}

}  // namespace
