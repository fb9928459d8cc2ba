// SPDX-License-Identifier: Apache-2.0
// Operators of one's own that take long, whatever their number of rows: calls with a timeout return
// in time, and other streams go on. The kernels wait until the test has seen that.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "conformance/task_group_fixture.h"
#include "support/own_table.h"
#include "support/tensor.h"
#include "support/waits.h"

namespace conformance {
namespace {

struct LongGate {
    Signal entered;
    Signal opened;
};
// The gate of the launch that is queued or runs. A launch ends before the next test sets it.
LongGate longGate;

void WaitAtLongGate(const advance_step::op::CoreContext& core, const void* payload) {
    if (core.index == 0) {
        longGate.entered.Set();
        EXPECT_TRUE(longGate.opened.Wait()) << "the call under test has not returned";
        const auto& p = *static_cast<const support::OwnPayload*>(payload);
        p.out[0] = p.add;
    }
}

const advance_step::op::KernelProgram kLongProgram =
    advance_step::op::MakeKernelProgram("aclnnOwn", nullptr, {&WaitAtLongGate});

// A program that says that it is short.
const advance_step::op::KernelProgram kEvenProgram = [] {
    advance_step::op::KernelProgram program = advance_step::op::MakeKernelProgram(
        "aclnnOwn", nullptr, {[](const advance_step::op::CoreContext&, const void*) {}});
    program.evenRows = true;
    return program;
}();

// The ways by which a launch of the operator comes to a stream.
enum class Way { kCall, kReplay, kUpdatedReplay };

class OwnLongTest : public TaskGroupTest {
 protected:
    void SetUp() override {
        TaskGroupTest::SetUp();
        longGate = {};
        in_ = DeviceBuffer(std::vector<int64_t>{1});
        out_ = DeviceBuffer(std::vector<int64_t>{0});
    }
    void TearDown() override {
        longGate.opened.Set();
        EXPECT_TRUE(IsOk(aclrtSynchronizeDevice()));
        TaskGroupTest::TearDown();
    }

    void LaunchLong(const Stream& stream) { LaunchProgram(kLongProgram, stream); }
    void LaunchProgram(const advance_step::op::KernelProgram& program, const Stream& stream) {
        static int64_t add = 9000;  // so that no earlier plan is found
        const support::Tensor in(support::TensorSpec{{1}, in_.Get(), ACL_INT64});
        const support::Tensor out(support::TensorSpec{{1}, out_.Get(), ACL_INT64});
        support::OwnCall call(in.Get(), nullptr, out.Get(), ++add, 1);
        call.plan.program = &program;
        ASSERT_TRUE(IsOk(call.Plan()));
        ASSERT_EQ(call.isPlanned, 0);
        ASSERT_TRUE(IsOk(call.Run(stream.Get())));
        expected_ = add;
    }
    Model CaptureLong() {
        const Stream stream = MakeStream();
        return Capture(stream.Get(), [&] { LaunchLong(stream); });
    }
    // Captures a short launch, which an update replaces.
    Model CaptureUpdated() {
        const Stream stream = MakeStream();
        Begin(stream.Get());
        GroupBegin(stream);
        LaunchProgram(kEvenProgram, stream);
        const aclrtTaskGrp group = GroupEnd(stream);
        Model model = End(stream.Get());
        UpdateBegin(stream, group);
        LaunchLong(stream);
        UpdateEnd(stream);
        return model;
    }
    void EndLong(const Stream& stream) const {
        longGate.opened.Set();
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
        EXPECT_EQ(out_.Download<int64_t>(), std::vector<int64_t>{expected_});
        longGate = {};
    }
    // Queues the launch in one of the ways, calls `check` and lets the launch end.
    void With(Way way, const std::function<void(const Stream&)>& check) {
        SCOPED_TRACE(static_cast<int>(way));
        if (HasFailure()) {
            return;  // each failure takes as long as a test waits
        }
        const Stream stream = MakeStream();
        if (way == Way::kCall) {
            LaunchLong(stream);
            check(stream);
            EndLong(stream);
            return;
        }
        const Model model = way == Way::kReplay ? CaptureLong() : CaptureUpdated();
        ASSERT_TRUE(IsOk(Queue(model, stream)));
        check(stream);
        EndLong(stream);
    }

    DeviceBuffer in_;
    DeviceBuffer out_;
    int64_t expected_ = 0;
};

TEST_F(OwnLongTest, SynchronisationsWithATimeoutReturnBeforeItEnds) {
    for (const Way way : {Way::kCall, Way::kReplay, Way::kUpdatedReplay}) {
        With(way, [](const Stream& stream) {
            EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                                aclrtSynchronizeStreamWithTimeout(stream.Get(), support::kShort)));
        });
        With(way, [](const Stream&) {
            EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                                aclrtSynchronizeDeviceWithTimeout(support::kShort)));
        });
        With(way, [](const Stream& stream) {
            const Event event = support::MakeEvent();
            EXPECT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
            EXPECT_TRUE(IsError(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT,
                                aclrtSynchronizeEventWithTimeout(event.Get(), support::kShort)));
        });
    }
}

TEST_F(OwnLongTest, ReplaysWithATimeoutReturnBeforeItEnds) {
    const Stream stream = MakeStream();
    for (const bool updated : {false, true}) {
        const Model model = updated ? CaptureUpdated() : CaptureLong();
        EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                            aclmdlRIExecute(model.Get(), support::kShort)));
        longGate.opened.Set();
        EXPECT_TRUE(IsOk(aclrtSynchronizeDevice()));
        EndLong(stream);
    }
}

TEST_F(OwnLongTest, OtherStreamsGoOnMeanwhile) {
    for (const Way way : {Way::kCall, Way::kReplay, Way::kUpdatedReplay}) {
        With(way, [this](const Stream&) {
            ASSERT_TRUE(longGate.entered.Wait());  // on the thread that looks at all streams
            const Stream other = MakeStream();
            ASSERT_TRUE(IsOk(aclrtMemsetAsync(in_.Get(), 8, 1, 8, other.Get())));
            EXPECT_TRUE(support::Eventually([&] {
                aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
                EXPECT_TRUE(IsOk(aclrtStreamQuery(other.Get(), &status)));
                return status == ACL_STREAM_STATUS_COMPLETE;
            }));
        });
    }
}

}  // namespace
}  // namespace conformance
