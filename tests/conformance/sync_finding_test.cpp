// SPDX-License-Identifier: Apache-2.0
// ADVANCE_STEP_SANITIZE=sync: deadlocks and misused synchronisation are found, and right programs
// that look alike are not.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <string>
#include <thread>

#include "acl/acl.h"
#include "advance_step/fault_injection.h"
#include "support/fork.h"
#include "support/sanitize_death_test.h"
#include "support/sanitizers.h"
#include "support/table.h"
#include "support/waits.h"

namespace {

using namespace support;

constexpr uint64_t kDelayMicroseconds = 200'000;  // several looks of the thread that looks

void Begin() { Must(aclrtSetDevice(0)); }
void End() {
    Must(aclrtResetDevice(0));
    EndRuntime();
}
void* Word() {
    void* word = nullptr;
    Must(aclrtMalloc(&word, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    Must(aclrtMemset(word, 64, 0, 64));
    return word;
}
void Nothing(void*) {}
std::mutex ofProgram;
void TakeMutex(void*) { const std::lock_guard<std::mutex> lock(ofProgram); }
uint64_t NameOf(const std::thread& thread) {
    return static_cast<uint64_t>(const_cast<std::thread&>(thread).native_handle());
}

// Programs that never end.

void WaitForANotify() {
    Begin();
    aclrtStream stream = NewStream();
    Must(aclrtWaitAndResetNotify(NewNotify(), stream, 0));
    Must(aclrtSynchronizeStream(stream));
}
void WaitForAValue() {
    Begin();
    Must(aclrtValueWait(Word(), 5, ACL_STREAM_WAIT_VALUE_GEQ, NewStream()));
    Must(aclrtSynchronizeDevice());
}
void WaitForAHold() {
    Begin();
    aclrtStream stream = NewStream();
    uint64_t hold = 0;
    Must(advstepHoldStream(stream, &hold));
    Must(aclrtSynchronizeStream(stream));
}
// The record comes after a wait for it, by way of another stream and thread.
void WaitInACircle() {
    Begin();
    aclrtStream one = NewStream(), other = NewStream();
    aclrtNotify notify = NewNotify();
    aclrtEvent event = NewEvent();
    Must(aclrtWaitAndResetNotify(notify, one, 0));
    Must(aclrtRecordEvent(event, one));
    Must(aclrtStreamWaitEvent(other, event));
    Must(aclrtRecordNotify(notify, other));
    std::thread waiter([&] {
        Begin();
        Must(aclrtSynchronizeStream(other));
    });
    waiter.join();
}
void WaitForAnEvent() {
    Begin();
    aclrtStream stream = NewStream();
    aclrtEvent event = NewEvent();
    Must(aclrtWaitAndResetNotify(NewNotify(), stream, 0));
    Must(aclrtRecordEvent(event, stream));
    Must(aclrtSynchronizeEvent(event));
}
void LockOfTheWaiter() {
    Begin();
    aclrtStream stream = NewStream();
    const std::lock_guard<std::mutex> lock(ofProgram);
    Must(aclrtLaunchHostFunc(stream, TakeMutex, nullptr));
    Must(aclrtSynchronizeStream(stream));
}
// A thread that is outside the library can do nothing about a mutex of another one.
void LockOfTheWaiterAmongOthers() {
    std::thread([] {
        for (;;) {
            pause();
        }
    }).detach();
    LockOfTheWaiter();
}
void CallbackOfAThreadThatWaits() {
    Begin();
    aclrtStream one = NewStream(), other = NewStream();
    aclrtEvent event = NewEvent();
    Must(aclrtSubscribeReport(static_cast<uint64_t>(pthread_self()), one));
    std::thread waiter([&] {
        Begin();
        Must(aclrtLaunchCallback(Nothing, nullptr, ACL_CALLBACK_BLOCK, one));
        Must(aclrtRecordEvent(event, one));
        Must(aclrtStreamWaitEvent(other, event));
        Must(aclrtSynchronizeStream(other));
    });
    waiter.join();
}
void CallbackThreadEnded() {
    Begin();
    aclrtStream stream = NewStream();
    std::atomic<bool> subscribed{false};
    std::thread listener([&] {
        Begin();
        while (!subscribed.load()) {
        }
        (void)aclrtProcessReport(10);
    });
    Must(aclrtSubscribeReport(NameOf(listener), stream));
    subscribed.store(true);
    Must(aclrtLaunchCallback(Nothing, nullptr, ACL_CALLBACK_NO_BLOCK, stream));
    listener.join();
    Must(aclrtLaunchCallback(Nothing, nullptr, ACL_CALLBACK_BLOCK, stream));
    Must(aclrtSynchronizeStream(stream));
}
void ListenForNothing() {
    Begin();
    Must(aclrtSubscribeReport(static_cast<uint64_t>(pthread_self()), NewStream()));
    (void)aclrtProcessReport(-1);
}

// Programs that misuse a synchronisation.

void BeginCaptureOf(aclrtStream stream) {
    Must(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
}
void SynchronizeTheCaptured() {
    Begin();
    aclrtStream stream = NewStream();
    BeginCaptureOf(stream);
    (void)aclrtSynchronizeStream(stream);
}
void SynchronizeTheDeviceInACapture() {
    Begin();
    BeginCaptureOf(NewStream());
    (void)aclrtSynchronizeDevice();
}
void SynchronizeAnEventOfACapture() {
    Begin();
    aclrtStream stream = NewStream();
    aclrtEvent event = NewEvent();
    BeginCaptureOf(stream);
    Must(aclrtRecordEvent(event, stream));
    (void)aclrtSynchronizeEvent(event);
}
void CopyAtOnceInACapture() {
    Begin();
    void* const word = Word();
    BeginCaptureOf(NewStream());
    (void)aclrtMemset(word, 64, 0, 64);
}
void RecordForNobody() {
    Begin();
    aclrtEvent event = NewEvent();
    Must(aclrtRecordEvent(event, NewStream()));
    Must(aclrtSynchronizeDevice());
    Must(aclrtDestroyEvent(event));
}
void RecordForNobodyUntilTheReset() {
    Begin();
    Must(aclrtRecordEvent(NewEvent(), NewStream()));
    End();
}
void RecordForNobodyUntilTheEnd() {
    Begin();
    Must(aclrtRecordEvent(NewEvent(), NewStream()));
    std::exit(0);
}
void FailUnasked() {
    Begin();
    aclrtStream stream = NewStream();
    Must(aclrtLaunchHostFunc(
        stream, [](void*) { throw 1; }, nullptr));
    (void)aclrtDestroyStream(stream);
}
void FailUnaskedUntilTheEnd() {
    Begin();
    aclrtStream stream = NewStream();
    aclrtEvent event = NewEvent();
    Must(aclrtLaunchHostFunc(
        stream, [](void*) { throw 1; }, nullptr));
    Must(aclrtRecordEvent(event, stream));
    for (aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
         status != ACL_EVENT_RECORDED_STATUS_COMPLETE;) {
        Must(aclrtQueryEventStatus(event, &status));
    }
    std::exit(0);
}
// Ends as its child does.
void Fork(void (*child)()) {
    const pid_t process = support::Fork();
    if (process == 0) {
        child();
        std::_Exit(0);
    }
    int status = 0;
    (void)waitpid(process, &status, 0);
    if (WIFSIGNALED(status)) {
        (void)raise(WTERMSIG(status));
    }
}
void StartAgainInTheChild() {
    Begin();
    Fork([] { (void)aclrtSetDevice(0); });
}
aclrtStream ofParent = nullptr;
void UseAHandleInTheChild() {
    Begin();
    ofParent = NewStream();
    Fork([] { (void)aclrtSynchronizeStream(ofParent); });
}

const SanitizeCase kSyncFound[] = {
    {"WaitForANotify", WaitForANotify,
     "sync: deadlock: 1 thread waits for ever.*\n.*thread [0-9]+ waits in aclrtSynchronizeStream "
     "for task 1 of stream 0x.*\n.*its oldest task 1, notify wait .queued by "
     "aclrtWaitAndResetNotify of thread [0-9]+ .*waits for a record of notify 0x[0-9a-f]+, which "
     "no queued work and no thread will give"},
    {"WaitForAValue", WaitForAValue,
     "sync: deadlock: .*\n.*aclrtSynchronizeDevice.*\n.*the word at 0x[0-9a-f]+, which is 0, to be "
     "at least 5, which no"},
    {"WaitForAHold", WaitForAHold, "sync: deadlock: .*\n.*\n.*an advstepReleaseHold, which no"},
    {"WaitInACircle", WaitInACircle,
     "sync: deadlock: .*\n.*waits in aclrtSynchronizeStream for task 2 of.*\n.*event wait .*waits "
     "for task 2 of stream 0x.*\n.*notify wait .*which no queued work and no thread will give"},
    {"WaitForAnEvent", WaitForAnEvent, "sync: deadlock: .*\n.*aclrtSynchronizeEvent"},
    {"LockOfTheWaiter", LockOfTheWaiter,
     "sync: lock_of_waiting_thread: (.*\n)+.*runs task 1, host function, .*waits for a mutex that "
     "thread [0-9]+ holds\n.*closes the circle"},
    {"LockOfTheWaiterAmongOthers", LockOfTheWaiterAmongOthers, "sync: lock_of_waiting_thread: "},
    {"CallbackOfAThreadThatWaits", CallbackOfAThreadThatWaits,
     "sync: deadlock: .*\n(.*\n)+.*a callback that thread 0x[0-9a-f]+ has to run in "
     "aclrtProcessReport"},
    {"CallbackThreadEnded", CallbackThreadEnded,
     "sync: callback_thread_ended: [12] callbacks? of stream 0x[0-9a-f]+ will never run: thread "
     "0x"},
    {"ListenForNothing", ListenForNothing,
     "sync: deadlock: .*\n.*waits in aclrtProcessReport for a callback"},
    {"SynchronizeTheCaptured", SynchronizeTheCaptured,
     "sync: sync_in_capture: aclrtSynchronizeStream waits or asks .*107027"},
    {"SynchronizeTheDeviceInACapture", SynchronizeTheDeviceInACapture,
     "sync: sync_in_capture: aclrtSynchronizeDevice "},
    {"SynchronizeAnEventOfACapture", SynchronizeAnEventOfACapture,
     "sync: sync_in_capture: aclrtSynchronizeEvent .*107028"},
    {"CopyAtOnceInACapture", CopyAtOnceInACapture, "sync: sync_in_capture: aclrtMemset .*107030"},
    {"RecordForNobody", RecordForNobody,
     "sync: event_never_waited: event 0x[0-9a-f]+ was recorded in stream 0x[0-9a-f]+ by "
     "aclrtRecordEvent, and nobody "},
    {"RecordForNobodyUntilTheReset", RecordForNobodyUntilTheReset, "sync: event_never_waited: "},
    {"RecordForNobodyUntilTheEnd", RecordForNobodyUntilTheEnd, "sync: event_never_waited: "},
    {"FailUnasked", FailUnasked,
     "sync: error_never_asked: a task of stream 0x[0-9a-f]+ failed with 500001(.*\n)+.*the task "
     "was "
     "queued in:"},
    {"FailUnaskedUntilTheEnd", FailUnaskedUntilTheEnd, "sync: error_never_asked: "},
    {"StartAgainInTheChild", StartAgainInTheChild,
     "sync: use_after_fork: process [0-9]+ calls aclrtSetDevice, and is the child of a fork"},
    {"UseAHandleInTheChild", UseAHandleInTheChild,
     "sync: use_after_fork: process [0-9]+ calls aclrtSynchronizeStream"},
};

class SyncFindingTest : public SanitizeDeathTest {};

TEST_P(SyncFindingTest, IsMadeAtOnce) {
    // The thread sanitizer has a thread that could queue work, as far as the library can tell.
    if (kThreadSanitizer && GetParam().says.find("deadlock") != std::string::npos) {
        GTEST_SKIP();
    }
    ExpectFinding(GetParam(), "sync");
}

INSTANTIATE_TEST_SUITE_P(Programs, SyncFindingTest, testing::ValuesIn(kSyncFound), CaseName());

// Right programs.

void NotifyOfLaterWork() {
    Begin();
    aclrtStream one = NewStream(), other = NewStream();
    aclrtNotify notify = NewNotify();
    Must(aclrtWaitAndResetNotify(notify, one, 0));
    Must(advstepDelayStream(other, kDelayMicroseconds));
    Must(aclrtRecordNotify(notify, other));
    Must(aclrtSynchronizeStream(one));
    End();
}
void NotifyOfAThreadThatComes() {
    Begin();
    aclrtStream one = NewStream(), other = NewStream();
    aclrtNotify notify = NewNotify();
    std::thread giver([&] {
        usleep(kDelayMicroseconds);  // outside the library
        Begin();
        Must(aclrtRecordNotify(notify, other));
        Must(aclrtResetDevice(0));
    });
    Must(aclrtWaitAndResetNotify(notify, one, 0));
    Must(aclrtSynchronizeStream(one));
    giver.join();
    End();
}
void NotifyOfAHostFunction() {
    Begin();
    static aclrtStream one = NewStream(), other = NewStream(), third = NewStream();
    static aclrtNotify notify = NewNotify();
    Must(aclrtWaitAndResetNotify(notify, one, 0));
    Must(aclrtLaunchHostFunc(
        other,
        [](void*) {
            usleep(kDelayMicroseconds);
            Must(aclrtRecordNotify(notify, third));
        },
        nullptr));
    Must(aclrtSynchronizeStream(one));
    End();
}
void WaitThatExpires() {
    Begin();
    aclrtStream stream = NewStream();
    Must(aclrtWaitAndResetNotify(NewNotify(), stream, 1));
    Must(aclrtSynchronizeStream(stream) == ACL_ERROR_RT_WAIT_TIMEOUT ? 0 : 1);
    End();
}
void SynchronisationThatExpires() {
    Begin();
    aclrtStream stream = NewStream();
    Must(aclrtWaitAndResetNotify(NewNotify(), stream, 0));
    Must(aclrtSynchronizeStreamWithTimeout(stream, 300) == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT ? 0
                                                                                            : 1);
    Must(aclrtDestroyStreamForce(stream));
    End();
}
void ValueOfTheProgram() {
    Begin();
    aclrtStream stream = NewStream();
    auto* const word = static_cast<uint64_t*>(Word());
    std::thread giver([&] {
        usleep(kDelayMicroseconds);
        __atomic_store_n(word, 5, __ATOMIC_RELEASE);
    });
    Must(aclrtValueWait(word, 5, ACL_STREAM_WAIT_VALUE_EQ, stream));
    Must(aclrtSynchronizeStream(stream));
    giver.join();
    End();
}
void MutexThatIsLetGo() {
    Begin();
    aclrtStream stream = NewStream();
    std::thread waiter;
    {
        const std::lock_guard<std::mutex> lock(ofProgram);
        Must(aclrtLaunchHostFunc(stream, TakeMutex, nullptr));
        waiter = std::thread([&] {
            Begin();
            Must(aclrtSynchronizeStream(stream));
            Must(aclrtResetDevice(0));
        });
        usleep(kDelayMicroseconds);
    }
    waiter.join();
    End();
}
void CallbacksAndTheirEnd() {
    Begin();
    aclrtStream stream = NewStream();
    std::atomic<bool> stop{false};
    std::thread listener([&] {
        Begin();
        while (!stop.load()) {
            (void)aclrtProcessReport(-1);
        }
        Must(aclrtResetDevice(0));
    });
    Must(aclrtSubscribeReport(NameOf(listener), stream));
    for (int i = 0; i < 10; ++i) {
        Must(aclrtLaunchCallback(Nothing, nullptr, ACL_CALLBACK_BLOCK, stream));
        Must(aclrtSynchronizeStream(stream));
    }
    stop.store(true);
    Must(aclrtUnSubscribeReport(NameOf(listener), stream));
    listener.join();
    End();
}
void SynchronizeAnotherStreamInACapture() {
    Begin();
    aclrtStream stream = NewStream(), other = NewStream();
    void* const word = Word();
    Must(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    Must(aclrtMemsetAsync(word, 64, 1, 64, other));
    Must(aclrtSynchronizeStream(other));
    Must(aclrtMemset(word, 64, 0, 64));
    aclmdlRI model = nullptr;
    Must(aclmdlRICaptureEnd(stream, &model));
    Must(aclmdlRIDestroy(model));
    End();
}
// The last records of two buffers in turn are waited for by nobody.
void TwoBuffersInTurn() {
    Begin();
    aclrtStream stream = NewStream(), copies = NewStream();
    aclrtEvent events[2] = {NewEvent(), NewEvent()};
    for (int i = 0; i < 6; ++i) {
        if (i >= 2) {
            Must(aclrtStreamWaitEvent(copies, events[i % 2]));
        }
        Must(aclrtRecordEvent(events[i % 2], stream));
    }
    Must(aclrtSynchronizeDevice());
    Must(aclrtDestroyEvent(events[0]));
    End();
}
void EventsThatAreOnlyAsked() {
    Begin();
    aclrtStream stream = NewStream();
    aclrtEvent event = nullptr, timed[2] = {};
    Must(aclrtCreateEvent(&event));
    Must(aclrtRecordEvent(event, stream));
    aclrtEventRecordedStatus status;
    Must(aclrtQueryEventStatus(event, &status));
    for (aclrtEvent& each : timed) {
        Must(aclrtCreateEvent(&each));
        Must(aclrtRecordEvent(each, stream));
    }
    Must(aclrtSynchronizeStream(stream));
    float ms = 0;
    Must(aclrtEventElapsedTime(&ms, timed[0], timed[1]));
    (void)NewEvent();  // never recorded
    End();
}
void FailureThatIsAskedFor() {
    Begin();
    aclrtStream stream = NewStream();
    Must(aclrtLaunchHostFunc(
        stream, [](void*) { throw 1; }, nullptr));
    Must(aclrtSynchronizeStream(stream) == 500001 ? 0 : 1);
    Must(aclrtDestroyStream(stream));
    End();
}
void ForkBeforeTheFirstUse() {
    Fork([] {
        Begin();
        End();
    });
    Begin();
    End();
}
void ForkWithoutAUse() {
    Begin();
    Fork([] { std::_Exit(0); });
    End();
    Fork([] {  // the runtime has ended
        Begin();
        End();
    });
}

const SanitizeCase kSyncRight[] = {
    {"NotifyOfLaterWork", NotifyOfLaterWork},
    {"NotifyOfAThreadThatComes", NotifyOfAThreadThatComes},
    {"NotifyOfAHostFunction", NotifyOfAHostFunction},
    {"WaitThatExpires", WaitThatExpires},
    {"SynchronisationThatExpires", SynchronisationThatExpires},
    {"ValueOfTheProgram", ValueOfTheProgram},
    {"MutexThatIsLetGo", MutexThatIsLetGo},
    {"CallbacksAndTheirEnd", CallbacksAndTheirEnd},
    {"SynchronizeAnotherStreamInACapture", SynchronizeAnotherStreamInACapture},
    {"TwoBuffersInTurn", TwoBuffersInTurn},
    {"EventsThatAreOnlyAsked", EventsThatAreOnlyAsked},
    {"FailureThatIsAskedFor", FailureThatIsAskedFor},
    {"ForkBeforeTheFirstUse", ForkBeforeTheFirstUse},
    {"ForkWithoutAUse", ForkWithoutAUse},
};

class SyncRightTest : public SanitizeDeathTest {};

TEST_P(SyncRightTest, HasNoFinding) { ExpectNone(GetParam(), "sync"); }

INSTANTIATE_TEST_SUITE_P(Programs, SyncRightTest, testing::ValuesIn(kSyncRight), CaseName());

// ADVANCE_STEP_HANG.

class HangTest : public SanitizeDeathTest {};

// Returns when the standard error of this child of a death test, which is a file, has the words. A
// report comes when a busy machine gets to it, so what it is about lasts until it is there.
void WaitUntilTold(const std::string& words) {
    const bool told = Eventually([&] {
        std::string text(size_t{1} << 16, '\0');
        const ssize_t size = pread(STDERR_FILENO, text.data(), text.size(), 0);
        text.resize(size < 0 ? 0 : static_cast<size_t>(size));
        return text.find(words) != std::string::npos;
    });
    Must(told ? 0 : 1);
}

// Another thread could still give the notify, so that only the time tells.
// `checks`: null for none.
[[noreturn]] void WaitTooLong(const char* checks) {
    (void)alarm(60);
    setenv("ADVANCE_STEP_HANG", "1", 1);
    if (checks != nullptr) {
        setenv("ADVANCE_STEP_SANITIZE", checks, 1);
    }
    Begin();
    static aclrtStream stream = NewStream(), other = NewStream();
    static aclrtNotify notify = NewNotify();
    Must(aclrtWaitAndResetNotify(notify, stream, 0));
    std::thread giver([] {
        WaitUntilTold("waits in:");
        Begin();
        Must(aclrtRecordNotify(notify, other));
    });
    Must(aclrtSynchronizeStream(stream));
    giver.join();
    std::exit(0);
}

constexpr char kWhatItWaitsFor[] =
    "a call has waited for [0-9.]+ s, longer than ADVANCE_STEP_HANG=1\n.*thread [0-9]+ waits in "
    "aclrtSynchronizeStream for task 1 of stream 0x[0-9a-f]+ .for [0-9.]+ s.\n.*its oldest task 1, "
    "notify wait .queued by aclrtWaitAndResetNotify of thread [0-9]+ [0-9.]+ s ago., waits for a "
    "record of notify 0x[0-9a-f]+\n.*thread [0-9]+ waits in:\n";

TEST_F(HangTest, IsToldWithoutTheSanitizer) {
    EXPECT_EXIT(WaitTooLong(nullptr), testing::ExitedWithCode(0),
                std::string("advance_step hang: ") + kWhatItWaitsFor);
}

TEST_F(HangTest, IsAFindingOfTheSanitizer) {
    EXPECT_EXIT(WaitTooLong("sync"), testing::ExitedWithCode(0),
                std::string("advance_step sanitizer: sync: hang: ") + kWhatItWaitsFor);
}

TEST_F(HangTest, NamesTheThreadThatRunsTheTask) {
    EXPECT_EXIT(
        {
            setenv("ADVANCE_STEP_HANG", "1", 1);
            (void)alarm(60);
            Begin();
            aclrtStream stream = NewStream();
            Must(aclrtLaunchHostFunc(
                stream, [](void*) { WaitUntilTold("runs task 1, "); }, nullptr));
            Must(aclrtSynchronizeStreamWithTimeout(stream, kLong));
            std::exit(0);
        },
        testing::ExitedWithCode(0),
        "advance_step hang: .*\n.*aclrtSynchronizeStreamWithTimeout.*\n.*host function .queued by "
        "aclrtLaunchHostFunc of thread [0-9]+ .*, runs in thread [0-9]+\n.*thread [0-9]+ runs task "
        "1, host function, of stream 0x");
}

TEST_F(HangTest, IsNoneOfAThreadThatOnlyListens) {
    EXPECT_EXIT(
        {
            setenv("ADVANCE_STEP_HANG", "1", 1);
            (void)alarm(60);
            Begin();
            Must(aclrtSubscribeReport(static_cast<uint64_t>(pthread_self()), NewStream()));
            Must(aclrtProcessReport(1500) == ACL_ERROR_RT_REPORT_TIMEOUT ? 0 : 1);
            End();
            std::exit(0);
        },
        testing::ExitedWithCode(0), testing::IsEmpty());
}

TEST_F(HangTest, RefusesABadNumber) {
    setenv("ADVANCE_STEP_HANG", "soon", 1);
    EXPECT_EQ(aclInit(nullptr), 100008);
    setenv("ADVANCE_STEP_HANG", "0", 1);
    EXPECT_EQ(aclInit(nullptr), 100008);
    unsetenv("ADVANCE_STEP_HANG");
}

}  // namespace
