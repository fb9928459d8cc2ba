// SPDX-License-Identifier: Apache-2.0
// ADVANCE_STEP_QUEUE: how many tasks a stream may hold, and what becomes of one more.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "aclnn/aclnn_base.h"
#include "advance_step/fault_injection.h"
#include "conformance/captures.h"
#include "support/advance_step_batch.h"
#include "support/batches.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "support/table.h"

namespace {

using support::IsError;
using support::IsOk;

class QueueLimitTest : public support::DeviceTest {
 protected:
    // The stream stands at the gate and holds the limit.
    void RestartFull() {
        Restart({{"ADVANCE_STEP_QUEUE", "4"}});
        stream_ = std::make_unique<support::Stream>(support::MakeStream());
        gate_ = std::make_unique<support::HostGate>(stream_->Get());
        ASSERT_TRUE(gate_->WaitEntered());
        for (int value = 1; value <= 3; ++value) {
            ASSERT_TRUE(IsOk(ran_.Mark(stream_->Get(), value)));
        }
    }
    void TearDown() override {
        gate_.reset();
        stream_.reset();
    }
    aclrtStream stream() const { return stream_->Get(); }

    support::Recorder ran_;
    std::unique_ptr<support::Stream> stream_;
    std::unique_ptr<support::HostGate> gate_;
};

testing::AssertionResult IsFull(aclError code, aclrtStream stream) {
    return IsError(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, code,
                   {fmt::format("{}", fmt::ptr(stream)), "4", "ADVANCE_STEP_QUEUE"});
}

TEST_F(QueueLimitTest, OneMoreIsRefusedAndTheOthersRun) {
    ASSERT_NO_FATAL_FAILURE(RestartFull());
    EXPECT_TRUE(IsFull(ran_.Mark(stream(), 4), stream()));
    EXPECT_TRUE(IsFull(ran_.Mark(stream(), 5), stream()));
    gate_->Open();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream())));
    EXPECT_EQ(ran_.Values(), (std::vector<int>{1, 2, 3}));
    for (int value = 6; value < 10; ++value) {  // there is room again, as often as it takes
        EXPECT_TRUE(IsOk(ran_.Mark(stream(), value)));
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream())));
    }
    EXPECT_EQ(ran_.Values(), (std::vector<int>{1, 2, 3, 6, 7, 8, 9}));
}

TEST_F(QueueLimitTest, OtherStreamsHaveTheirOwn) {
    ASSERT_NO_FATAL_FAILURE(RestartFull());
    const support::Stream other = support::MakeStream();
    for (int value = 10; value < 14; ++value) {
        EXPECT_TRUE(IsOk(ran_.Mark(other.Get(), value)));
    }
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(other.Get())));
    EXPECT_TRUE(IsFull(ran_.Mark(stream(), 4), stream()));
}

TEST_F(QueueLimitTest, AnAbortMakesRoom) {
    ASSERT_NO_FATAL_FAILURE(RestartFull());
    EXPECT_TRUE(IsFull(ran_.Mark(stream(), 4), stream()));
    EXPECT_TRUE(IsOk(aclrtStreamAbort(stream())));
    gate_->Open();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream())));
    EXPECT_TRUE(IsOk(ran_.Mark(stream(), 5)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream())));
    EXPECT_EQ(ran_.Values(), std::vector<int>{5});
}

TEST_F(QueueLimitTest, AnEventKeepsItsRecord) {
    ASSERT_NO_FATAL_FAILURE(RestartFull());
    const support::Stream other = support::MakeStream();
    const support::Event event = support::MakeEventExWithFlag(ACL_EVENT_SYNC);
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), other.Get())));
    ASSERT_TRUE(IsOk(aclrtSynchronizeEvent(event.Get())));
    EXPECT_TRUE(IsFull(aclrtRecordEvent(event.Get(), stream()), stream()));
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    EXPECT_TRUE(IsOk(aclrtQueryEventStatus(event.Get(), &status)));
    EXPECT_EQ(status, ACL_EVENT_RECORDED_STATUS_COMPLETE);
}

TEST_F(QueueLimitTest, EveryKindOfWorkIsRefused) {
    ASSERT_NO_FATAL_FAILURE(RestartFull());
    const support::DeviceBuffer memory(64);
    const support::PinnedArray<char> host(64);
    const support::Event event = support::MakeEventExWithFlag(ACL_EVENT_SYNC);
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), nullptr)));
    aclrtNotify notify = nullptr;
    ASSERT_TRUE(IsOk(aclrtCreateNotify(&notify, 0)));
    support::AdvanceStepBatch batch(support::MakeBatch(4, 3, 4, 5, 7));
    ASSERT_TRUE(IsOk(batch.Plan()));
    ASSERT_TRUE(IsOk(aclrtSubscribeReport(pthread_self(), stream())));
    const std::vector<std::pair<const char*, std::function<aclError()>>> calls = {
        {"copy",
         [&] {
             return aclrtMemcpyAsync(memory.Get(), 64, host.Get(), 64, ACL_MEMCPY_HOST_TO_DEVICE,
                                     stream());
         }},
        {"fill", [&] { return aclrtMemsetAsync(memory.Get(), 64, 1, 64, stream()); }},
        {"event wait", [&] { return aclrtStreamWaitEvent(stream(), event.Get()); }},
        {"record", [&] { return aclrtRecordNotify(notify, stream()); }},
        {"wait", [&] { return aclrtWaitAndResetNotify(notify, stream(), 0); }},
        {"value write", [&] { return aclrtValueWrite(memory.Get(), 1, 0, stream()); }},
        {"value wait",
         [&] { return aclrtValueWait(memory.Get(), 1, ACL_STREAM_WAIT_VALUE_GEQ, stream()); }},
        {"callback",
         [&] {
             return aclrtLaunchCallback([](void*) {}, nullptr, ACL_CALLBACK_NO_BLOCK, stream());
         }},
        {"fault", [&] { return advstepFailStream(stream(), ACL_ERROR_RT_PARAM_INVALID); }},
        {"delay", [&] { return advstepDelayStream(stream(), 1); }},
    };
    for (const auto& [name, call] : calls) {
        EXPECT_TRUE(IsFull(call(), stream())) << name;
    }
    EXPECT_TRUE(IsError(ACLNN_ERR_RUNTIME_ERROR, batch.Launch(stream()),
                        {"aclnnAdvanceStep: ", "207005", "ADVANCE_STEP_QUEUE"}));
    gate_->Open();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream())));
    EXPECT_EQ(ran_.Values(), (std::vector<int>{1, 2, 3}));
    EXPECT_TRUE(IsOk(aclrtUnSubscribeReport(pthread_self(), stream())));
    EXPECT_TRUE(IsOk(aclrtDestroyNotify(notify)));
}

// A capture holds no queued tasks, and a replay is queued as a whole where there is room for one.
TEST_F(QueueLimitTest, ModelsMayBeLonger) {
    ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_QUEUE", "4"}}));
    {
        const support::Stream stream = support::MakeStream();
        const support::Stream side = support::MakeStream();
        const support::Event fork = support::MakeEventExWithFlag(ACL_EVENT_SYNC);
        const support::Event join = support::MakeEventExWithFlag(ACL_EVENT_SYNC);
        const conformance::Model model = conformance::Capture(stream.Get(), [&] {
            EXPECT_TRUE(IsOk(aclrtRecordEvent(fork.Get(), stream.Get())));
            EXPECT_TRUE(IsOk(aclrtStreamWaitEvent(side.Get(), fork.Get())));
            for (int value = 0; value < 10; ++value) {
                EXPECT_TRUE(IsOk(ran_.Mark(stream.Get(), 0)));
                EXPECT_TRUE(IsOk(ran_.Mark(side.Get(), 0)));
            }
            EXPECT_TRUE(IsOk(aclrtRecordEvent(join.Get(), side.Get())));
            EXPECT_TRUE(IsOk(aclrtStreamWaitEvent(stream.Get(), join.Get())));
        });
        const support::HostGate gate(stream.Get());
        ASSERT_TRUE(gate.WaitEntered());
        EXPECT_TRUE(IsOk(aclmdlRIExecuteAsync(model.Get(), stream.Get())));
        EXPECT_TRUE(IsFull(aclmdlRIExecuteAsync(model.Get(), stream.Get()), stream.Get()));
        EXPECT_TRUE(IsFull(ran_.Mark(stream.Get(), 1), stream.Get()));
        gate.Open();
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
        EXPECT_EQ(ran_.Values().size(), 20U);
        EXPECT_TRUE(IsOk(aclmdlRIExecute(model.Get(), -1)));
        EXPECT_EQ(ran_.Values().size(), 40U);
    }
}

struct LimitCase {
    const char* name;
    const char* setting;  // null: none
    int64_t most;         // tasks; 0: no limit
};

class QueueLimitSettingTest : public support::EndedRuntimeTest,
                              public testing::WithParamInterface<LimitCase> {};

TEST_P(QueueLimitSettingTest, IsTheNumberOfTasks) {
    support::Settings settings;
    if (GetParam().setting != nullptr) {
        settings["ADVANCE_STEP_QUEUE"] = GetParam().setting;
    }
    const support::SettingsGuard guard(settings);
    ASSERT_TRUE(IsOk(guard.Status()));
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    uint64_t hold = 0;
    ASSERT_TRUE(IsOk(advstepHoldStream(nullptr, &hold)));
    constexpr int64_t kMany = (int64_t{1} << 20) + 10;
    int64_t held = 1;
    aclError code = 0;
    while (held < kMany && code == 0) {
        code = aclrtLaunchHostFunc(
            nullptr, [](void*) {}, nullptr);
        held += code == 0 ? 1 : 0;
    }
    EXPECT_EQ(held, GetParam().most != 0 ? GetParam().most : kMany);
    EXPECT_EQ(code, GetParam().most != 0 ? ACL_ERROR_RT_RESOURCE_ALLOC_FAIL : 0);
    ASSERT_TRUE(IsOk(advstepReleaseHold(hold)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
}

INSTANTIATE_TEST_SUITE_P(Table, QueueLimitSettingTest,
                         testing::Values(LimitCase{"Default", nullptr, int64_t{1} << 20},
                                         LimitCase{"One", "1", 1}, LimitCase{"Hundred", "100", 100},
                                         LimitCase{"None", "0", 0}),
                         support::CaseName());

TEST(QueueLimitFileTest, IsReadFromTheFile) {
    const support::EnvironmentGuard environment{support::Settings{}};
    const support::TempFile file(R"({"advance_step": {"ADVANCE_STEP_QUEUE": 2}})");
    ASSERT_TRUE(IsOk(aclInit(file.Path())));
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    uint64_t hold = 0;
    ASSERT_TRUE(IsOk(advstepHoldStream(nullptr, &hold)));
    const support::Recorder ran;
    EXPECT_TRUE(IsOk(ran.Mark(nullptr, 1)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, ran.Mark(nullptr, 2),
                        {"aclrtLaunchHostFunc: ", "2 tasks"}));
    ASSERT_TRUE(IsOk(advstepReleaseHold(hold)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_TRUE(IsOk(aclFinalize()));
}

}  // namespace
