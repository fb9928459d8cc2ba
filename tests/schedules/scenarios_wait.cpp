// SPDX-License-Identifier: Apache-2.0
// Scenarios of waits for what is no place in a stream: notifies, words, callbacks, timeouts.
#include "tests/schedules/scenario.h"

namespace schedules {
namespace {

// Each stream waits for the other's notify in turn, and each has a thread.
SCENARIO(TwoStreams, notify_ping_pong, kSmall) {
    aclrtNotify const there = NewNotify();
    aclrtNotify const back = NewNotify();
    runtime.Run({[&] {
                     work.Add(first, 1);
                     Ok(aclrtRecordNotify(there, first), "aclrtRecordNotify");
                     Ok(aclrtWaitAndResetNotify(back, first, 0), "aclrtWaitAndResetNotify");
                     work.Add(first, 3);
                     Ok(aclrtSynchronizeStream(first), "the first stream");
                     work.ExpectOrder(2, 3);
                 },
                 [&] {
                     Ok(aclrtWaitAndResetNotify(there, second, 0), "aclrtWaitAndResetNotify");
                     work.Add(second, 2);
                     Ok(aclrtRecordNotify(back, second), "aclrtRecordNotify");
                     Ok(aclrtSynchronizeStream(second), "the second stream");
                     work.ExpectOrder(1, 2);
                 }});
}

// Nobody synchronises the stream that waits; it is woken after idleness.
SCENARIO(Scene, notify_unwatched, kSmall) {
    aclrtStream const waiting = NewStream();
    aclrtStream const recording = NewStream();
    aclrtNotify const notify = NewNotify();
    runtime.Run({[&] {
        Flag ran;
        Ok(aclrtWaitAndResetNotify(notify, waiting, 0), "aclrtWaitAndResetNotify");
        work.Add(waiting, 1, [&] { ran.Set(); });
        SleepFor(std::chrono::milliseconds(100));
        Ok(aclrtRecordNotify(notify, recording), "aclrtRecordNotify");
        Ok(aclrtSynchronizeStream(recording), "aclrtSynchronizeStream");
        ran.Wait();
    }});
    work.ExpectOnce(1);
}

SCENARIO(Scene, value_wait, kSmall) {
    aclrtStream const waiting = NewStream();
    aclrtStream const writing = NewStream();
    void* word = nullptr;
    Ok(aclrtMalloc(&word, sizeof(uint64_t), ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    Ok(aclrtMemset(word, sizeof(uint64_t), 0, sizeof(uint64_t)), "aclrtMemset");
    runtime.Run({[&] {
                     Ok(aclrtValueWait(word, 2, ACL_STREAM_WAIT_VALUE_GEQ, waiting),
                        "aclrtValueWait");
                     work.Add(waiting, 3);
                     Ok(aclrtSynchronizeStream(waiting), "the waiting stream");
                     work.ExpectOrder(1, 2);
                     work.ExpectOrder(2, 3);
                 },
                 [&] {
                     work.Add(writing, 1);
                     Ok(aclrtValueWrite(word, 1, 0, writing), "aclrtValueWrite");
                     work.Add(writing, 2);
                     Ok(aclrtValueWrite(word, 2, 0, writing), "aclrtValueWrite");
                 }});
}

void NoteCallback(void* ran) { ++*static_cast<int*>(ran); }

// A blocking callback holds the stream until the subscribed thread has run it.
SCENARIO(OneStream, callback_blocks, kLarge) {
    Flag subscribed;
    Flag processed;
    int ran = 0;
    runtime.Run({[&] {
                     const auto self = ThreadId();
                     Ok(aclrtSubscribeReport(self, stream), "aclrtSubscribeReport");
                     subscribed.Set();
                     Ok(aclrtProcessReport(-1), "aclrtProcessReport");
                     Ok(aclrtProcessReport(-1), "aclrtProcessReport");
                     processed.Wait();
                     Ok(aclrtUnSubscribeReport(self, stream), "aclrtUnSubscribeReport");
                 },
                 [&] {
                     subscribed.Wait();
                     Ok(aclrtLaunchCallback(&NoteCallback, &ran, ACL_CALLBACK_BLOCK, stream),
                        "aclrtLaunchCallback");
                     work.Add(stream, 1, [&] { Expect(ran == 1, "the callback before"); });
                     Flag second;
                     Ok(aclrtLaunchCallback(&NoteCallback, &ran, ACL_CALLBACK_BLOCK, stream),
                        "aclrtLaunchCallback");
                     work.Add(stream, 2, [&] { second.Set(); });
                     second.Wait();  // nobody synchronises
                     processed.Set();
                     Ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
                     Expect(ran == 2, "two callbacks ran");
                 }});
}

// The stream goes on when its subscriber leaves, although nobody synchronises.
SCENARIO(OneStream, unsubscribe_wakes, kSmall) {
    int ran = 0;
    runtime.Run({[&] {
        const auto self = ThreadId();
        Ok(aclrtSubscribeReport(self, stream), "aclrtSubscribeReport");
        Ok(aclrtLaunchCallback(&NoteCallback, &ran, ACL_CALLBACK_BLOCK, stream),
           "aclrtLaunchCallback");
        Flag after;
        work.Add(stream, 1, [&] { after.Set(); });
        SleepFor(std::chrono::milliseconds(100));
        Ok(aclrtUnSubscribeReport(self, stream), "aclrtUnSubscribeReport");
        after.Wait();
        Expect(ran == 0, "the callback was dropped");
    }});
}

// A wait that expires lets the threads go on that sleep on what it was waiting for.
SCENARIO(Scene, wait_expires, kSmall) {
    aclrtStream const waiting = NewStream();
    aclrtStream const blocked = NewStream();
    aclrtEvent const event = NewEvent();
    aclrtNotify const notify = NewNotify();
    Ok(aclrtWaitAndResetNotify(notify, blocked, 0), "aclrtWaitAndResetNotify");
    Ok(aclrtRecordEvent(event, blocked), "aclrtRecordEvent");
    runtime.Run({[&] {
        Ok(aclrtStreamWaitEventWithTimeout(waiting, event, 5), "a wait with a timeout");
        work.Add(waiting, 1);
        ExpectCode(aclrtSynchronizeStream(waiting), ACL_ERROR_RT_WAIT_TIMEOUT,
                   "the synchronisation");
        work.ExpectOnce(1);
        ExpectCode(aclrtSynchronizeStreamWithTimeout(blocked, 5), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                   "a synchronisation with a timeout");
        Ok(aclrtRecordNotify(notify, waiting), "aclrtRecordNotify");
        Ok(aclrtSynchronizeStream(blocked), "the blocked stream");
    }});
}

}  // namespace

}  // namespace schedules
