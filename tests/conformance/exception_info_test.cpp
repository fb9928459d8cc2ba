// SPDX-License-Identifier: Apache-2.0
// The callback for tasks that fail.
#include <gtest/gtest.h>
#include <unistd.h>

#include <mutex>
#include <stdexcept>
#include <thread>

#include "acl/acl.h"
#include "support/advance_step_batch.h"
#include "support/batches.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "support/stderr_capture.h"

namespace {

using namespace support;

struct Told {
    uint32_t task, stream, thread, device, code;
};

// What the callback was told, and what it does besides.
struct Listener {
    std::mutex mutex;
    std::vector<Told> told;
    std::function<void()> also;

    std::vector<Told> Take() {
        const std::lock_guard<std::mutex> lock(mutex);
        return std::move(told);
    }
};

Listener& TheListener() {
    static Listener listener;
    return listener;
}

void Listen(aclrtExceptionInfo* info) {
    Listener& listener = TheListener();
    {
        const std::lock_guard<std::mutex> lock(listener.mutex);
        listener.told.push_back(
            {aclrtGetTaskIdFromExceptionInfo(info), aclrtGetStreamIdFromExceptionInfo(info),
             aclrtGetThreadIdFromExceptionInfo(info), aclrtGetDeviceIdFromExceptionInfo(info),
             aclrtGetErrorCodeFromExceptionInfo(info)});
        EXPECT_EQ(listener.told.back().thread, static_cast<uint32_t>(gettid()));
    }
    if (listener.also) {
        listener.also();
    }
}

class ExceptionInfoTest : public support::DeviceTest {
 protected:
    void SetUp() override {
        support::DeviceTest::SetUp();
        ASSERT_TRUE(IsOk(aclrtSetExceptionInfoCallback(&Listen)));
    }
    void TearDown() override {
        EXPECT_TRUE(IsOk(aclrtSynchronizeDevice()));
        EXPECT_TRUE(IsOk(aclrtSetExceptionInfoCallback(nullptr)));
        TheListener().also = nullptr;
        TheListener().Take();
    }

    static uint32_t IdOf(aclrtStream stream) {
        int32_t id = -7;
        EXPECT_TRUE(IsOk(aclrtStreamGetId(stream, &id)));
        return static_cast<uint32_t>(id);
    }
    static reference::AdvanceStepData BadBatch() {
        reference::AdvanceStepData data = support::MakeBatch(9, 6, 4, 5, 1);
        data.seqLens[3] = -1;
        return data;
    }
};

TEST_F(ExceptionInfoTest, TellsOfAnOperatorsFailure) {
    for (const int32_t device : {0, 1}) {
        ASSERT_TRUE(IsOk(aclrtSetDevice(device)));
        const Stream stream = MakeStream();
        support::AdvanceStepBatch batch(BadBatch());
        ASSERT_TRUE(IsCode(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, batch.Run(stream.Get())));
        const std::vector<Told> told = TheListener().Take();
        ASSERT_EQ(told.size(), 1U) << "before the synchronisation has returned";
        EXPECT_EQ(told[0].stream, IdOf(stream.Get()));
        EXPECT_EQ(told[0].device, static_cast<uint32_t>(device));
        EXPECT_EQ(told[0].code, static_cast<uint32_t>(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION));
    }
}

TEST_F(ExceptionInfoTest, TellsOfEachFailedTaskInOrder) {
    const Stream stream = MakeStream();
    for (int i = 0; i < 5; ++i) {
        ASSERT_TRUE(IsOk(EnqueueFailure(stream.Get())));
        ASSERT_TRUE(IsOk(support::Enqueue(stream.Get(), [] {})));
    }
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(stream.Get())));
    const std::vector<Told> told = TheListener().Take();
    ASSERT_EQ(told.size(), 5U);
    for (size_t i = 0; i < told.size(); ++i) {
        EXPECT_EQ(told[i].code, static_cast<uint32_t>(ACL_ERROR_FAILURE));
        EXPECT_EQ(told[i].task, told[0].task + 2 * i) << "every task counts";
    }
}

TEST_F(ExceptionInfoTest, TellsWithoutASynchronisation) {
    const support::Signal told;
    TheListener().also = [told] { told.Set(); };
    const Stream stream = MakeStream();
    ASSERT_TRUE(IsOk(EnqueueFailure(stream.Get())));
    EXPECT_TRUE(told.Wait());
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(stream.Get())));
}

TEST_F(ExceptionInfoTest, SkippedTasksHaveNotFailed) {
    const Stream stream = MakeStream();
    ASSERT_TRUE(IsOk(aclrtSetStreamFailureMode(stream.Get(), ACL_STOP_ON_FAILURE)));
    {
        const support::HostGate gate(stream.Get());
        ASSERT_TRUE(IsOk(EnqueueFailure(stream.Get())));
        ASSERT_TRUE(IsOk(EnqueueFailure(stream.Get())));
    }
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(TheListener().Take().size(), 1U);
}

TEST_F(ExceptionInfoTest, ALaterCallbackTakesThePlaceAndNullEndsIt) {
    static int calls = 0;
    calls = 0;
    ASSERT_TRUE(IsOk(aclrtSetExceptionInfoCallback([](aclrtExceptionInfo*) { ++calls; })));
    ASSERT_TRUE(IsOk(EnqueueFailure(nullptr)));
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(calls, 1);
    ASSERT_TRUE(IsOk(aclrtSetExceptionInfoCallback(nullptr)));
    ASSERT_TRUE(IsOk(EnqueueFailure(nullptr)));
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(calls, 1);
    EXPECT_TRUE(TheListener().Take().empty());
}

TEST_F(ExceptionInfoTest, TheEndOfTheRuntimeForgets) {
    ASSERT_NO_FATAL_FAILURE(Restart({}));
    ASSERT_TRUE(IsOk(EnqueueFailure(nullptr)));
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(nullptr)));
    EXPECT_TRUE(TheListener().Take().empty());
}

TEST_F(ExceptionInfoTest, NullInfoIsAllOnes) {
    EXPECT_EQ(aclrtGetTaskIdFromExceptionInfo(nullptr), 0xFFFFFFFFU);
    EXPECT_EQ(aclrtGetStreamIdFromExceptionInfo(nullptr), 0xFFFFFFFFU);
    EXPECT_EQ(aclrtGetThreadIdFromExceptionInfo(nullptr), 0xFFFFFFFFU);
    EXPECT_EQ(aclrtGetDeviceIdFromExceptionInfo(nullptr), 0xFFFFFFFFU);
    EXPECT_EQ(aclrtGetErrorCodeFromExceptionInfo(nullptr), 0xFFFFFFFFU);
}

// Codes of calls that the callback makes, and what they leave behind.
TEST_F(ExceptionInfoTest, TheCallbackMayCallButNotWaitForItsStream) {
    Stream own = MakeStream();
    const Stream other = MakeStream();
    const auto ran = std::make_shared<std::atomic<int>>(0);
    TheListener().also = [&, ran, stream = own.Get(), elsewhere = other.Get()] {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtSynchronizeStream(stream)));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtSynchronizeDevice()));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtDestroyStream(stream)));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtDestroyStreamForce(stream)));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtResetDevice(0)));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclFinalize()));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclFinalizeReference(nullptr)));
        EXPECT_TRUE(IsOk(support::Enqueue(stream, [ran] { *ran += 1; })));
        EXPECT_TRUE(IsOk(support::Enqueue(elsewhere, [ran] { *ran += 10; })));
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(elsewhere)));
        EXPECT_EQ(ran->load(), 10);
        EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(99)));
        EXPECT_TRUE(IsOk(aclrtSetDevice(1)));
    };
    ASSERT_TRUE(IsOk(EnqueueFailure(own.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(own.Get())));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(own.Get())));
    EXPECT_EQ(ran->load(), 11);
    int32_t device = -7;
    EXPECT_TRUE(IsOk(aclrtGetDevice(&device)));
    EXPECT_EQ(device, 0) << "the thread's context is what it was";
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_FAILURE)
        << "and so is its last error, that of the synchronisation";
}

// The reset of another device would wait for nothing. It is refused because the callback is a part
// of its task, and so it is inside a host function that the same thread runs later.
TEST_F(ExceptionInfoTest, TheCallbackIsAPartOfItsTask) {
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    const Stream stream = MakeStream();
    for (int round = 0; round < 20; ++round) {  // workers may run some of the tasks
        std::vector<aclError> codes;
        const auto reset = [&codes] { codes.push_back(aclrtResetDevice(1)); };
        TheListener().also = reset;
        ASSERT_TRUE(IsOk(EnqueueFailure(stream.Get())));
        EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(stream.Get())));
        ASSERT_TRUE(IsOk(support::Enqueue(stream.Get(), reset)));
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
        ASSERT_EQ(codes, std::vector<aclError>(2, ACL_ERROR_RT_FEATURE_NOT_SUPPORT));
    }
    EXPECT_TRUE(IsOk(aclrtResetDevice(1)));
}

// The failure is kept first: in mode stop the stream refuses work of the callback.
TEST_F(ExceptionInfoTest, TheFailureIsKeptBeforeTheCall) {
    const Stream stream = MakeStream();
    ASSERT_TRUE(IsOk(aclrtSetStreamFailureMode(stream.Get(), ACL_STOP_ON_FAILURE)));
    TheListener().also = [own = stream.Get()] {
        EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, support::Enqueue(own, [] {})));
    };
    ASSERT_TRUE(IsOk(EnqueueFailure(stream.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(TheListener().Take().size(), 1U);
}

TEST_F(ExceptionInfoTest, AThrowingCallbackHarmsNothing) {
    TheListener().also = [] { throw std::runtime_error("thrown by the callback"); };
    const support::StderrCapture log;
    const Stream stream = MakeStream();
    const support::Recorder recorder;
    ASSERT_TRUE(IsOk(EnqueueFailure(stream.Get())));
    ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 1)));
    EXPECT_TRUE(
        IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(stream.Get()), {"thrown by a test"}));
    EXPECT_EQ(recorder.Values(), std::vector<int>{1});
    EXPECT_NE(log.Text().find("thrown by the callback"), std::string::npos) << log.Text();
    TheListener().also = [] { throw 5; };
    ASSERT_TRUE(IsOk(EnqueueFailure(stream.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(stream.Get())));
}

// A callback that takes long holds up its own stream only.
TEST_F(ExceptionInfoTest, ASlowCallbackHoldsItsStreamOnly) {
    const support::Signal entered, opened;
    TheListener().also = [entered, opened] {
        entered.Set();
        EXPECT_TRUE(opened.Wait());
    };
    const Stream slow = MakeStream();
    const Stream free = MakeStream();
    const support::Recorder recorder;
    support::AdvanceStepBatch batch(BadBatch());  // a task that by itself holds up nothing
    ASSERT_TRUE(IsOk(batch.Plan()));
    ASSERT_TRUE(IsOk(batch.Launch(slow.Get())));
    ASSERT_TRUE(IsOk(recorder.Mark(slow.Get(), 1)));
    ASSERT_TRUE(entered.Wait());
    ASSERT_TRUE(IsOk(recorder.Mark(free.Get(), 2)));
    ASSERT_TRUE(recorder.WaitFor(1)) << "without a synchronisation";
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    EXPECT_TRUE(IsOk(aclrtStreamQuery(slow.Get(), &status)));
    EXPECT_EQ(status, ACL_STREAM_STATUS_NOT_READY);
    opened.Set();
    EXPECT_TRUE(IsError(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, aclrtSynchronizeStream(slow.Get())));
    EXPECT_EQ(recorder.Values(), (std::vector<int>{2, 1}));
}

TEST_F(ExceptionInfoTest, StreamsFailAtOnce) {
    constexpr int kThreads = 4;
    constexpr int kFailures = 50;
    const aclrtContext context = support::CurrentContext();
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
        threads.emplace_back([context] {
            ASSERT_TRUE(IsOk(aclrtSetCurrentContext(context)));
            const Stream stream = MakeStream();
            for (int failure = 0; failure < kFailures; ++failure) {
                ASSERT_TRUE(IsOk(EnqueueFailure(stream.Get())));
                ASSERT_TRUE(IsOk(aclrtSetExceptionInfoCallback(&Listen)));
                ASSERT_TRUE(IsCode(ACL_ERROR_FAILURE, aclrtSynchronizeStream(stream.Get())));
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(TheListener().Take().size(), static_cast<size_t>(kThreads * kFailures));
}

}  // namespace
