// SPDX-License-Identifier: Apache-2.0
// The abort of all work of a device: what it drops, whom it tells, and its callbacks.
#include <gtest/gtest.h>

#include <chrono>
#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "advance_step/fault_injection.h"
#include "conformance/one_query.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "support/threads.h"
#include "support/waits.h"

namespace {

using namespace support;

class TaskAbortTest : public support::DeviceTest {};

TEST_F(TaskAbortTest, DropsTheWorkOfAllStreamsOfTheDevice) {
    const Stream first = MakeStream();
    const Stream second = MakeStream();
    const Recorder recorder;
    uint64_t holds[3] = {};
    int i = 0;
    for (const aclrtStream stream : {first.Get(), second.Get(), aclrtStream{nullptr}}) {
        ASSERT_TRUE(IsOk(advstepHoldStream(stream, &holds[i++])));
        ASSERT_TRUE(IsOk(recorder.Mark(stream, i)));
    }
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    const Stream other = MakeStream();
    ASSERT_TRUE(IsOk(recorder.Mark(other.Get(), 7)));
    ASSERT_TRUE(IsOk(aclrtDeviceTaskAbort(0, 10000)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(other.Get())));
    EXPECT_EQ(recorder.Values(), std::vector<int>{7}) << "the other device goes on";
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    for (const aclrtStream stream : {first.Get(), second.Get(), aclrtStream{nullptr}}) {
        EXPECT_TRUE(IsOk(recorder.Mark(stream, 8)));
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream)));
    }
    EXPECT_EQ(recorder.Values(), (std::vector<int>{7, 8, 8, 8})) << "the device works again";
}

// The capture goes on: it takes what comes after, and nothing of it is under way.
TEST_F(TaskAbortTest, DropsWhatWasQueuedBeforeACapture) {
    const Stream stream = MakeStream();
    const Recorder recorder;
    aclmdlRI model = nullptr;
    uint64_t hold = 0;
    ASSERT_TRUE(IsOk(advstepHoldStream(stream.Get(), &hold)));
    ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 1)));
    ASSERT_TRUE(IsOk(aclmdlRICaptureBegin(stream.Get(), ACL_MODEL_RI_CAPTURE_MODE_RELAXED)));
    ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 2)));
    EXPECT_TRUE(IsOk(aclrtDeviceTaskAbort(0, 10000)));
    ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 3)));
    ASSERT_TRUE(IsOk(aclmdlRICaptureEnd(stream.Get(), &model)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(recorder.Values(), std::vector<int>{});
    ASSERT_TRUE(IsOk(aclmdlRIExecute(model, -1)));
    EXPECT_EQ(recorder.Values(), (std::vector<int>{2, 3}));
    EXPECT_TRUE(IsOk(aclmdlRIDestroy(model)));
}

TEST_F(TaskAbortTest, TellsWaitingSynchronisations) {
    const aclrtContext context = support::CurrentContext();
    const Stream stream = MakeStream();
    const auto until = std::chrono::steady_clock::now() + support::kPatience;
    int code = ACL_SUCCESS;
    // A synchronisation that comes too late finds nothing to wait for.
    while (code == ACL_SUCCESS && std::chrono::steady_clock::now() < until) {
        uint64_t hold = 0;
        ASSERT_TRUE(IsOk(advstepHoldStream(stream.Get(), &hold)));
        std::string message;
        std::thread waiter([&] {
            EXPECT_TRUE(IsOk(aclrtSetCurrentContext(context)));
            code = aclrtSynchronizeStream(stream.Get());
            message = support::TakeMessage();
        });
        std::this_thread::yield();
        EXPECT_TRUE(IsOk(aclrtDeviceTaskAbort(0, 0)));
        waiter.join();
        EXPECT_EQ(code == ACL_SUCCESS, message.empty());
    }
    EXPECT_EQ(code, ACL_ERROR_RT_DEVICE_TASK_ABORT);
}

struct Heard {
    std::vector<int> stages;
    int32_t result = 0;
    int launch = -1;
    char* query = nullptr;
    aclmdlRI model = nullptr;
    std::vector<int> replays;
};

int32_t Hear(int32_t deviceId, aclrtDeviceTaskAbortStage stage, uint32_t timeout, void* args) {
    auto* const heard = static_cast<Heard*>(args);
    EXPECT_EQ(deviceId, 0);
    EXPECT_EQ(timeout, 500U);
    heard->stages.push_back(stage);
    if (heard->query != nullptr && heard->launch == -1) {
        heard->launch = conformance::AdvanceOneQuery(heard->query);
    }
    if (heard->model != nullptr) {
        heard->replays.push_back(aclmdlRIExecuteAsync(heard->model, nullptr));
        heard->replays.push_back(aclmdlRIExecute(heard->model, -1));
        EXPECT_NE(support::TakeMessage().find("expected a replay after it"), std::string::npos);
    }
    return heard->result;
}

TEST_F(TaskAbortTest, CallbacksComeBeforeAndAfter) {
    Heard heard;
    Heard later;
    ASSERT_TRUE(IsOk(aclrtSetDeviceTaskAbortCallback("a", &Hear, &heard)));
    ASSERT_TRUE(IsOk(aclrtSetDeviceTaskAbortCallback("b", &Hear, &later)));
    ASSERT_TRUE(IsOk(aclrtDeviceTaskAbort(0, 500)));
    EXPECT_EQ(heard.stages, (std::vector<int>{0, 1}));
    EXPECT_EQ(later.stages, (std::vector<int>{0, 1}));
    heard.result = 5;
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INTERNAL_ERROR, aclrtDeviceTaskAbort(0, 500),
                        {"aclrtDeviceTaskAbort: ", "\"a\""}, {5}));
    EXPECT_EQ(heard.stages, (std::vector<int>{0, 1, 0}));
    EXPECT_EQ(later.stages.size(), 2U) << "it ended at the first error";
    ASSERT_TRUE(IsOk(aclrtSetDeviceTaskAbortCallback("a", nullptr, nullptr)));
    ASSERT_TRUE(IsOk(aclrtDeviceTaskAbort(0, 500)));
    EXPECT_EQ(heard.stages.size(), 3U);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                        aclrtSetDeviceTaskAbortCallback("a", nullptr, nullptr),
                        {"aclrtSetDeviceTaskAbortCallback: ", "regName"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                        aclrtSetDeviceTaskAbortCallback(nullptr, &Hear, nullptr), {"regName"}));
    ASSERT_NO_FATAL_FAILURE(Restart({}));
    EXPECT_TRUE(IsOk(aclrtDeviceTaskAbort(0, 500)));
    EXPECT_EQ(later.stages.size(), 4U) << "they end with the runtime";
}

// A throw is as a result other than 0: the abort ends there.
TEST_F(TaskAbortTest, ACallbackThatThrowsIsNamed) {
    struct Throw {
        aclrtDeviceTaskAbortStage at;
        void (*what)();
        const char* words;
    };
    const auto callback = [](int32_t, aclrtDeviceTaskAbortStage stage, uint32_t, void* args) {
        const auto& asked = *static_cast<Throw*>(args);
        stage == asked.at ? asked.what() : void();
        return int32_t{0};
    };
    for (Throw asked :
         {Throw{ACL_RT_DEVICE_TASK_ABORT_PRE, [] { throw std::runtime_error("boom"); }, "boom"},
          Throw{ACL_RT_DEVICE_TASK_ABORT_PRE, [] { throw std::bad_alloc(); }, "bad_alloc"},
          Throw{ACL_RT_DEVICE_TASK_ABORT_POST, [] { throw 5; }, "not a std::exception"}}) {
        Heard later;
        const Recorder recorder;
        ASSERT_TRUE(IsOk(aclrtSetDeviceTaskAbortCallback("throws", callback, &asked)));
        ASSERT_TRUE(IsOk(aclrtSetDeviceTaskAbortCallback("later", &Hear, &later)));
        uint64_t hold = 0;
        ASSERT_TRUE(IsOk(advstepHoldStream(nullptr, &hold)));
        ASSERT_TRUE(IsOk(recorder.Mark(nullptr, 1)));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_INTERNAL_ERROR, aclrtDeviceTaskAbort(0, 500),
                            {"the callback \"throws\" at stage ", asked.words}, {asked.at}));
        const bool dropped = asked.at == ACL_RT_DEVICE_TASK_ABORT_POST;
        EXPECT_EQ(later.stages, std::vector<int>(dropped ? 1 : 0, 0));
        (void)advstepReleaseHold(hold);  // it may be dropped, too
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
        EXPECT_EQ(recorder.Values().size(), dropped ? 0U : 1U);
    }
}

TEST_F(TaskAbortTest, ACancelledThreadEndsAfterTheCallbacks) {
    static std::vector<int> stages;
    stages.clear();
    const auto callback = [](int32_t, aclrtDeviceTaskAbortStage stage, uint32_t, void*) {
        pthread_testcancel();
        stages.push_back(stage);
        return int32_t{0};
    };
    ASSERT_TRUE(IsOk(aclrtSetDeviceTaskAbortCallback("cancelled", callback, nullptr)));
    support::OnACancelledThread([] { EXPECT_TRUE(IsOk(aclrtDeviceTaskAbort(0, 10000))); });
    EXPECT_EQ(stages,
              (std::vector<int>{ACL_RT_DEVICE_TASK_ABORT_PRE, ACL_RT_DEVICE_TASK_ABORT_POST}));
    EXPECT_TRUE(IsOk(aclrtSetDeviceTaskAbortCallback("cancelled", nullptr, nullptr)));
}

TEST_F(TaskAbortTest, RefusesLaunchesMeanwhile) {
    const support::DeviceBuffer buffer(conformance::OneQuery());
    Heard heard;
    heard.query = buffer.At(0);
    ASSERT_TRUE(IsOk(aclrtSetDeviceTaskAbortCallback("launch", &Hear, &heard)));
    ASSERT_TRUE(IsOk(aclrtDeviceTaskAbort(0, 500)));
    EXPECT_EQ(heard.launch, 361001);
    EXPECT_NE(support::TakeMessage().find("107022"), 0U);
    EXPECT_EQ(buffer.Download<int64_t>(), conformance::OneQuery());
    ASSERT_TRUE(IsOk(conformance::AdvanceOneQuery(buffer.At(0))));
    conformance::ExpectAdvanced(buffer.Download<int64_t>());
}

TEST_F(TaskAbortTest, RefusesReplaysMeanwhile) {
    const Stream stream = MakeStream();
    const Recorder recorder;
    aclmdlRI model = nullptr;
    ASSERT_TRUE(IsOk(aclmdlRICaptureBegin(stream.Get(), ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL)));
    ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 1)));
    ASSERT_TRUE(IsOk(aclmdlRICaptureEnd(stream.Get(), &model)));
    Heard heard;
    heard.model = model;
    ASSERT_TRUE(IsOk(aclrtSetDeviceTaskAbortCallback("replay", &Hear, &heard)));
    for (size_t abort = 1; abort <= 2; ++abort) {
        EXPECT_TRUE(IsOk(aclrtDeviceTaskAbort(0, 500)));
        EXPECT_EQ(heard.replays, std::vector<int>(4 * abort, ACL_ERROR_RT_DEVICE_TASK_ABORT));
        EXPECT_EQ(recorder.Values().size(), abort - 1);
        // The next replay is queued behind this one, in one go.
        ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model, nullptr)));
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
        EXPECT_EQ(recorder.Values().size(), abort);
    }
    EXPECT_TRUE(IsOk(aclmdlRIDestroy(model)));
}

// The work of one stream is dropped long before that of the other, which waits for it.
TEST_F(TaskAbortTest, WorkThatWaitsForDroppedWorkDoesNotStart) {
    const Stream first = MakeStream();
    std::vector<Stream> between(300);
    for (Stream& stream : between) {
        stream = MakeStream();
    }
    const Stream last = MakeStream();
    const support::Event event = support::MakeEvent();
    const Recorder recorder;
    for (int round = 0; round < 20; ++round) {
        const aclrtStream held = round % 2 == 0 ? first.Get() : last.Get();
        const aclrtStream waiting = round % 2 == 0 ? last.Get() : first.Get();
        uint64_t hold = 0;
        ASSERT_TRUE(IsOk(advstepHoldStream(held, &hold)));
        ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), held)));
        ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(waiting, event.Get())));
        ASSERT_TRUE(IsOk(recorder.Mark(waiting, round)));
        ASSERT_TRUE(IsOk(aclrtDeviceTaskAbort(0, 0)));
        ASSERT_EQ(recorder.Values(), std::vector<int>{}) << "in round " << round;
    }
    EXPECT_TRUE(IsOk(recorder.Mark(last.Get(), 20)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeDevice()));
    EXPECT_EQ(recorder.Values(), std::vector<int>{20});
}

TEST_F(TaskAbortTest, WaitsForRunningWorkAsLongAsItMay) {
    const Stream stream = MakeStream();
    const HostGate gate(stream.Get());
    ASSERT_TRUE(gate.WaitEntered());
    EXPECT_TRUE(IsError(ACL_ERROR_RT_WAIT_TIMEOUT, aclrtDeviceTaskAbort(0, 20),
                        {"aclrtDeviceTaskAbort: "}));
    gate.Open();
    EXPECT_TRUE(IsOk(aclrtDeviceTaskAbort(0, 0)));
}

TEST_F(TaskAbortTest, RefusesOtherArgumentsAndHostFunctions) {
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_DEVICEID, aclrtDeviceTaskAbort(2, 0), {"deviceId"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtDeviceTaskAbort(0, 2160001),
                        {"timeout is 2160001"}));
    EXPECT_TRUE(IsOk(aclrtDeviceTaskAbort(0, 2160000)));
    ASSERT_TRUE(IsOk(support::Enqueue(nullptr, [] {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtDeviceTaskAbort(0, 0)));
    })));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
}

TEST_F(TaskAbortTest, ACaptureGoesOn) {
    const Stream stream = MakeStream();
    const support::DeviceBuffer buffer(std::vector<char>(64, 'a'));
    ASSERT_TRUE(IsOk(aclmdlRICaptureBegin(stream.Get(), ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL)));
    ASSERT_TRUE(IsOk(aclrtMemsetAsync(buffer.Get(), 64, 'b', 64, stream.Get())));
    EXPECT_TRUE(IsOk(aclrtDeviceTaskAbort(0, 0)));
    aclmdlRI model = nullptr;
    ASSERT_TRUE(IsOk(aclmdlRICaptureEnd(stream.Get(), &model)));
    ASSERT_TRUE(IsOk(aclmdlRIExecute(model, -1)));
    EXPECT_EQ(buffer.Download<char>(), std::vector<char>(64, 'b'));
    EXPECT_TRUE(IsOk(aclmdlRIDestroy(model)));
}

}  // namespace
