// SPDX-License-Identifier: Apache-2.0
// Waits that never end, synchronisations at the wrong place, results that nobody asks for.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <future>
#include <mutex>
#include <thread>

#include "corpus.h"
#include "device_program.h"
#include "support/fork.h"

namespace corpus {

// A wait that never ends has the end of the process as its only end.
const support::Settings kStops = {{"ADVANCE_STEP_SANITIZE_ACTION", "stop"}};
const support::Settings kStopsAfterASecond = {{"ADVANCE_STEP_SANITIZE_ACTION", "stop"},
                                              {"ADVANCE_STEP_HANG", "1"}};

void TakeLock(void* mutex) {
    const std::lock_guard<std::mutex> lock(*static_cast<std::mutex*>(mutex));
}
void CountUp(void* counter) { ++*static_cast<std::atomic<int>*>(counter); }

// ---- bad

// hixl: each of two streams waits for the notify that the other one would give next.
BAD_PROGRAM(WaitsInACircle, "sync", {{"sync", "deadlock", {"aclrtWaitAndResetNotify"}}}, {},
            kStops) {
    // [WaitsInACircle]
    const aclrtStream streams[2] = {NewStream(), NewStream()};
    const aclrtNotify notifies[2] = {NewNotify(), NewNotify()};
    for (int i = 0; i < 2; ++i) {
        Must(aclrtWaitAndResetNotify(notifies[i], streams[i], 0));
        Must(aclrtRecordNotify(notifies[1 - i], streams[i]));
    }
    Synchronize(streams[0]);
    // [/WaitsInACircle]
}

// hw-native-sys, Mooncake: a peer's notify never comes.
BAD_PROGRAM(WaitsForANotifyOfNobody, "sync", {{"sync", "deadlock", {"aclrtWaitAndResetNotify"}}},
            {}, kStops) {
    const aclrtStream stream = NewStream();
    Must(aclrtWaitAndResetNotify(NewNotify(), stream, 0));
    Fill(NewMemory(), stream);
    Synchronize(stream);
}

// vllm-ascend: one record, and two waits.
BAD_PROGRAM(WaitsTwiceForOneNotify, "sync", {{"sync", "deadlock", {"aclrtWaitAndResetNotify"}}}, {},
            kStops) {
    const aclrtStream sender = NewStream();
    const aclrtStream receiver = NewStream();
    const aclrtNotify notify = NewNotify();
    Must(aclrtRecordNotify(notify, sender));
    Must(aclrtWaitAndResetNotify(notify, receiver, 0));
    Must(aclrtWaitAndResetNotify(notify, receiver, 0));
    Must(aclrtSynchronizeDevice());
}

// Communication threads: the word gets another value than the one that is awaited.
BAD_PROGRAM(WaitsForAnotherValue, "sync", {{"sync", "deadlock", {"aclrtValueWait"}}}, {}, kStops) {
    const aclrtStream sender = NewStream();
    const aclrtStream receiver = NewStream();
    void* const flag = NewMemory(64);
    Must(aclrtValueWait(flag, 2, ACL_STREAM_WAIT_VALUE_EQ, receiver));
    Must(aclrtValueWrite(flag, 1, 0, sender));
    Must(aclrtSynchronizeDevice());
}

// vllm-ascend, graphs with updates: the event that a replay waits for is never recorded.
BAD_PROGRAM(ReplaysWithoutTheExternalEvent, "sync",
            {{"sync", "deadlock", {"aclmdlRIExecuteAsync"}}}, {}, kStops) {
    const aclrtStream stream = NewStream();
    aclrtEvent updated = nullptr;
    Must(aclrtCreateEventWithFlag(&updated, ACL_EVENT_EXTERNAL));
    Must(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    Must(aclrtStreamWaitEvent(stream, updated));
    aclmdlRI model = nullptr;
    Must(aclmdlRICaptureEnd(stream, &model));
    Must(aclmdlRIExecuteAsync(model, stream));
    Synchronize(stream);
}

// TensorRT-LLM, ucx-py: a thread that waits has the lock that a host function needs.
BAD_PROGRAM(WaitsWithTheLockOfAHostFunction, "sync",
            {{"sync", "lock_of_waiting_thread", {"WaitsWithTheLockOfAHostFunction"}}}, {}, kStops) {
    // [WaitsWithTheLockOfAHostFunction]
    static std::mutex mutex;
    const aclrtStream stream = NewStream();
    const std::lock_guard<std::mutex> lock(mutex);
    Must(aclrtLaunchHostFunc(stream, &TakeLock, &mutex));
    Synchronize(stream);
    // [/WaitsWithTheLockOfAHostFunction]
}

// acl samples: the thread that runs the callbacks has ended.
BAD_PROGRAM(WaitsForAnEndedCallbackThread, "sync",
            {{"sync", "deadlock|hang", {"aclrtLaunchCallback"}}}, {}, kStopsAfterASecond) {
    // [WaitsForAnEndedCallbackThread]
    static std::atomic<int> counter{0};
    const aclrtStream stream = NewStream();
    std::thread([stream] {
        Must(aclrtSetDevice(0));
        Must(aclrtSubscribeReport(static_cast<uint64_t>(pthread_self()), stream));
    }).join();
    Must(aclrtLaunchCallback(&CountUp, &counter, ACL_CALLBACK_BLOCK, stream));
    Synchronize(stream);
    // [/WaitsForAnEndedCallbackThread]
}

// A hang without a finding of its own: a host function that never comes back.
BAD_PROGRAM(WaitsForAHostFunctionThatHangs, "sync",
            {{"sync", "hang", {"WaitsForAHostFunctionThatHangs"}}}, {}, kStopsAfterASecond) {
    // [WaitsForAHostFunctionThatHangs]
    static std::promise<void> never;
    const aclrtStream stream = NewStream();
    Must(aclrtLaunchHostFunc(
        stream, [](void*) { never.get_future().wait(); }, nullptr));
    Synchronize(stream);
    // [/WaitsForAHostFunctionThatHangs]
}

// vllm-ascend, tilelang-ascend: a worker is forked after the runtime was used.
BAD_PROGRAM(UsesTheRuntimeAfterAFork, "sync",
            {{"sync", "use_after_fork", {"aclrtMemcpy", "UsesTheRuntimeAfterAFork"}}},
            {{"sync", "use_after_fork", {}}}) {
    void* const memory = NewMemory();
    support::LetOthersSleep();
    // [UsesTheRuntimeAfterAFork]
    const pid_t child = fork();
    if (child == 0) {
        char value = 0;
        (void)aclrtMemcpy(&value, 1, memory, 1, ACL_MEMCPY_DEVICE_TO_HOST);
        std::exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    Must(WEXITSTATUS(status));
    // [/UsesTheRuntimeAfterAFork]
}

// torch.npu graphs: .item() inside a capture.
BAD_PROGRAM(SynchronizesInACapture, "sync",
            {{"sync", "sync_in_capture", {"aclrtSynchronizeStream", "SynchronizesInACapture"}}}) {
    // [SynchronizesInACapture]
    const aclrtStream stream = NewStream();
    Must(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    Fill(NewUnwrittenMemory(), stream);
    (void)aclrtSynchronizeStream(stream);
    aclmdlRI model = nullptr;
    (void)aclmdlRICaptureEnd(stream, &model);
    // [/SynchronizesInACapture]
}

// vllm-ascend: torch.npu.synchronize() inside a capture.
BAD_PROGRAM(SynchronizesTheDeviceInACapture, "sync",
            {{"sync", "sync_in_capture", {"aclrtSynchronizeDevice"}}}) {
    const aclrtStream stream = NewStream();
    Must(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    (void)aclrtSynchronizeDevice();
    aclmdlRI model = nullptr;
    (void)aclmdlRICaptureEnd(stream, &model);
}

// ggml-cann: a synchronous copy inside a capture.
BAD_PROGRAM(CopiesInACapture, "sync", {{"sync", "sync_in_capture", {"aclrtMemcpy"}}}) {
    const aclrtStream stream = NewStream();
    void* const memory = NewMemory();
    char value = 0;
    Must(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    (void)aclrtMemcpy(&value, 1, memory, 1, ACL_MEMCPY_DEVICE_TO_HOST);
    aclmdlRI model = nullptr;
    (void)aclmdlRICaptureEnd(stream, &model);
}

// torch users: an event is recorded for another stream, and that stream never waits.
BAD_PROGRAM(RecordsForNobody, "sync", {{"sync", "event_never_waited", {"RecordsForNobody"}}}) {
    // [RecordsForNobody]
    const aclrtStream stream = NewStream();
    const aclrtEvent event = NewCaptureEvent();
    Fill(NewMemory(), stream);
    Must(aclrtRecordEvent(event, stream));
    Synchronize(stream);
    Must(aclrtDestroyEvent(event));
    // [/RecordsForNobody]
}

// torch's DistributedDataParallel: events measure each step, and few steps are looked at.
RIGHT_PROGRAM(MeasuresWhatNobodyReads) {
    const aclrtStream stream = NewStream();
    aclrtEvent event = nullptr;
    Must(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE));
    Must(aclrtRecordEvent(event, stream));
    Synchronize(stream);
    Must(aclrtDestroyEvent(event));
}

// MindSpore: the stream is destroyed, and the failure of its last kernel is never seen.
BAD_PROGRAM(DestroysAStreamThatFailed, "sync", {{"sync", "error_never_asked", {}}}) {
    // [DestroysAStreamThatFailed]
    const aclrtStream stream = NewStream();
    Must(advstepFailStream(stream, ACL_ERROR_RT_VECTOR_CORE_EXCEPTION));
    Must(aclrtDestroyStream(stream));
    // [/DestroysAStreamThatFailed]
}

// vllm-ascend: slots of a step are out of range, and only the device's reset comes after it.
BAD_PROGRAM(ResetsAfterAFailedStep, "sync", {{"sync", "error_never_asked", {"aclnnAdvanceStep"}}}) {
    const Batch batch({2, 3, 4, 5, 6, 7, 0, 0, 0}, {5, 6000, 0});
    batch.Launch(nullptr);
}

// ---- right

RIGHT_PROGRAM(WaitsInTurn) {
    const aclrtStream streams[2] = {NewStream(), NewStream()};
    const aclrtNotify notifies[2] = {NewNotify(), NewNotify()};
    for (int i = 0; i < 3; ++i) {
        Must(aclrtWaitAndResetNotify(notifies[0], streams[0], 0));
        Must(aclrtRecordNotify(notifies[1], streams[0]));
        Must(aclrtRecordNotify(notifies[0], streams[1]));
        Must(aclrtWaitAndResetNotify(notifies[1], streams[1], 0));
    }
    Must(aclrtSynchronizeDevice());
}

// Another thread gives what the main thread waits for.
RIGHT_PROGRAM(GetsANotifyFromAnotherThread) {
    const aclrtStream receiver = NewStream();
    const aclrtNotify notify = NewNotify();
    Must(aclrtWaitAndResetNotify(notify, receiver, 0));
    std::thread giver([notify] {
        Must(aclrtSetDevice(0));
        const aclrtStream sender = NewStream();
        for (int i = 0; i < 1000; ++i) {
            Synchronize(sender);
        }
        Must(aclrtRecordNotify(notify, sender));
    });
    Synchronize(receiver);
    giver.join();
}

void Tell(void* promise);

// The giver waits outside the runtime for a host function that comes late.
RIGHT_PROGRAM(GetsANotifyFromAThreadThatWaitsToo) {
    const aclrtStream receiver = NewStream();
    const aclrtStream late = NewStream();
    const aclrtNotify notify = NewNotify();
    std::promise<void> told;
    Must(aclrtWaitAndResetNotify(notify, receiver, 0));
    Must(advstepDelayStream(late, 100000));
    Must(aclrtLaunchHostFunc(late, &Tell, &told));
    std::thread giver([&] {
        Must(aclrtSetDevice(0));
        told.get_future().wait();
        Must(aclrtRecordNotify(notify, late));
    });
    Synchronize(receiver);
    giver.join();
    Synchronize(late);
}

// The subscribed thread begins to run callbacks when the main thread waits already.
RIGHT_PROGRAM(RunsCallbacksLate) {
    static std::atomic<int> counter{0};
    const aclrtStream stream = NewStream();
    const aclrtStream late = NewStream();
    std::promise<void> told;
    std::promise<uint64_t> self;
    std::thread runner([&] {
        Must(aclrtSetDevice(0));
        self.set_value(static_cast<uint64_t>(pthread_self()));
        told.get_future().wait();
        Must(aclrtProcessReport(-1));
    });
    const uint64_t thread = self.get_future().get();
    Must(aclrtSubscribeReport(thread, stream));
    Must(aclrtLaunchCallback(&CountUp, &counter, ACL_CALLBACK_BLOCK, stream));
    Must(advstepDelayStream(late, 100000));
    Must(aclrtLaunchHostFunc(late, &Tell, &told));
    Synchronize(stream);
    runner.join();
    Synchronize(late);
    Must(aclrtUnSubscribeReport(thread, stream));
}

// The host writes the word itself.
RIGHT_PROGRAM(GetsAValueFromTheHost) {
    const aclrtStream stream = NewStream();
    auto* const word = static_cast<std::atomic<uint64_t>*>(NewPinned(64));
    Must(aclrtValueWait(word, 1, ACL_STREAM_WAIT_VALUE_EQ, stream));
    std::thread writer([word] { word->store(1); });
    Synchronize(stream);
    writer.join();
}

// Case 16 of the reports: the host function is one of another stream.
RIGHT_PROGRAM(WaitsWithALockOfAnotherStream) {
    static std::mutex mutex;
    const aclrtStream first = NewStream();
    const aclrtStream second = NewStream();
    {
        const std::lock_guard<std::mutex> lock(mutex);
        Must(aclrtLaunchHostFunc(second, &TakeLock, &mutex));
        Fill(NewMemory(), first);
        Synchronize(first);
    }
    Synchronize(second);
}

RIGHT_PROGRAM(RunsCallbacksInAThread) {
    static std::atomic<int> counter{0};
    const aclrtStream stream = NewStream();
    std::promise<uint64_t> subscriber;
    std::promise<void> subscribed;
    std::thread runner([&] {
        Must(aclrtSetDevice(0));
        subscriber.set_value(static_cast<uint64_t>(pthread_self()));
        subscribed.get_future().wait();
        for (int i = 0; i < 3; ++i) {
            Must(aclrtProcessReport(-1));
        }
    });
    const uint64_t thread = subscriber.get_future().get();
    Must(aclrtSubscribeReport(thread, stream));
    subscribed.set_value();
    for (int i = 0; i < 3; ++i) {
        Must(aclrtLaunchCallback(&CountUp, &counter, ACL_CALLBACK_BLOCK, stream));
    }
    Synchronize(stream);
    runner.join();
    Must(aclrtUnSubscribeReport(thread, stream));
}

RIGHT_PROGRAM(RecordsTheExternalEventLater) {
    const aclrtStream stream = NewStream();
    const aclrtStream updates = NewStream();
    aclrtEvent updated = nullptr;
    Must(aclrtCreateEventWithFlag(&updated, ACL_EVENT_EXTERNAL));
    Must(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    Must(aclrtStreamWaitEvent(stream, updated));
    Must(aclrtResetEvent(updated, stream));
    aclmdlRI model = nullptr;
    Must(aclmdlRICaptureEnd(stream, &model));
    for (int i = 0; i < 3; ++i) {
        Must(aclmdlRIExecuteAsync(model, stream));
        Must(aclrtRecordEvent(updated, updates));
        Synchronize(stream);
    }
}

RIGHT_PROGRAM(ForksAChildThatEnds) {
    void* const memory = NewMemory();
    const pid_t child = support::Fork();
    if (child == 0) {
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    Fill(memory, nullptr);
    Synchronize(nullptr);
}

RIGHT_PROGRAM(SynchronizesAnotherStreamInACapture) {
    const aclrtStream stream = NewStream();
    const aclrtStream other = NewStream();
    void* const memory = NewMemory();
    Fill(memory, other);
    Must(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    Fill(memory, stream);
    Synchronize(other);
    aclmdlRI model = nullptr;
    Must(aclmdlRICaptureEnd(stream, &model));
    Must(aclmdlRIExecute(model, -1));
}

// Events with timing are recorded to be measured.
RIGHT_PROGRAM(MeasuresTheTimeOfWork) {
    const aclrtStream stream = NewStream();
    const aclrtEvent begin = NewEvent();
    const aclrtEvent end = NewEvent();
    Must(aclrtRecordEvent(begin, stream));
    Fill(NewMemory(), stream);
    Must(aclrtRecordEvent(end, stream));
    Must(aclrtSynchronizeEvent(end));
    float milliseconds = 0;
    Must(aclrtEventElapsedTime(&milliseconds, begin, end));
}

RIGHT_PROGRAM(AsksForTheFailure) {
    const aclrtStream stream = NewStream();
    Must(advstepFailStream(stream, ACL_ERROR_RT_VECTOR_CORE_EXCEPTION));
    Must(aclrtSynchronizeStream(stream) == ACL_ERROR_RT_VECTOR_CORE_EXCEPTION ? 0 : 1);
    Must(aclrtDestroyStream(stream));
}

RIGHT_PROGRAM(StreamsEventsThroughAPool) {
    const aclrtStream first = NewStream();
    const aclrtStream second = NewStream();
    const aclrtEvent event = NewEvent();
    for (int i = 0; i < 5; ++i) {
        Must(aclrtRecordEvent(event, first));
        Must(aclrtStreamWaitEvent(second, event));
    }
    Must(aclrtSynchronizeDevice());
    Must(aclrtDestroyEvent(event));
}

}  // namespace corpus
