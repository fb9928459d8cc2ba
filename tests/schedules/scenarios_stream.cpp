// SPDX-License-Identifier: Apache-2.0
// Scenarios of queued work: enqueue, sleep, synchronise, help across streams.
#include "tests/schedules/scenario.h"

namespace schedules {
namespace {

// Nobody synchronises: the watcher has to run what is queued, however soundly it sleeps.
SCENARIO(OneStream, enqueue_and_sleep, kSmall) {
    runtime.Run({[&] {
        for (int mark = 0; mark < 3; ++mark) {
            Flag ran;
            work.Add(stream, mark, [&] { ran.Set(); });
            ran.Wait();
        }
    }});
    work.ExpectOrder(0, 1);
    work.ExpectOrder(1, 2);
}

SCENARIO(OneStream, two_enqueuers, kSmall) {
    const auto enqueue = [&](int first) {
        work.Add(stream, first);
        work.Add(stream, first + 1);
        Ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
        work.ExpectOrder(first, first + 1);
    };
    runtime.Run({[&] { enqueue(1); }, [&] { enqueue(3); }});
}

// A thread that waits for a stream runs the other stream for whose event that one waits.
SCENARIO(TwoStreams, help_across_streams, kSmall) {
    aclrtEvent const event = NewEvent();
    work.Add(first, 1);
    Ok(aclrtRecordEvent(event, first), "aclrtRecordEvent");
    work.Add(first, 2);
    Ok(aclrtStreamWaitEvent(second, event), "aclrtStreamWaitEvent");
    work.Add(second, 3);
    runtime.Run({[&] {
                     Ok(aclrtSynchronizeStream(second), "the waiting stream");
                     work.ExpectOrder(1, 3);
                 },
                 [&] {
                     Ok(aclrtSynchronizeStream(first), "the recorded stream");
                     work.ExpectOrder(1, 2);
                 }});
}

SCENARIO(Scene, event_ring, kLarge) {
    constexpr int kStreams = 3;
    aclrtStream streams[kStreams];
    aclrtEvent events[kStreams];
    for (int i = 0; i < kStreams; ++i) {
        streams[i] = NewStream();
        events[i] = NewEvent();
    }
    // Twice around: each stream waits for the one before it, whose record comes before.
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < kStreams; ++i) {
            if (round > 0 || i > 0) {
                Ok(aclrtStreamWaitEvent(streams[i], events[(i + kStreams - 1) % kStreams]),
                   "aclrtStreamWaitEvent");
            }
            work.Add(streams[i], round * kStreams + i);
            Ok(aclrtRecordEvent(events[i], streams[i]), "aclrtRecordEvent");
        }
    }
    const auto wait = [&](int i) {
        Ok(aclrtSynchronizeStream(streams[i]), "aclrtSynchronizeStream");
        for (int mark = 0; mark < kStreams + i; ++mark) {
            work.ExpectOrder(mark, mark + 1);
        }
    };
    runtime.Run({[&] { wait(0); }, [&] { wait(1); }, [&] { wait(2); }});
}

// Work that is only asked about is run.
SCENARIO(OneStream, query_only, kSmall) {
    constexpr int kQueries = 1000;
    runtime.Run({[&] {
        work.Add(stream, 1);
        aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
        for (int i = 0; i < kQueries && status == ACL_STREAM_STATUS_NOT_READY; ++i) {
            SleepFor(std::chrono::microseconds(100));
            Ok(aclrtStreamQuery(stream, &status), "aclrtStreamQuery");
        }
        Expect(status == ACL_STREAM_STATUS_COMPLETE, "queried work gets on");
        work.ExpectOnce(1);
    }});
}

// A host function that waits for another stream's does not hold that one up.
SCENARIO(TwoStreams, hand_over, kSmall) {
    runtime.Run({[&] {
        Flag other;
        Flag done;
        work.Add(first, 1, [&] {
            other.Wait();
            done.Set();
        });
        work.Add(second, 2, [&] { other.Set(); });
        done.Wait();
    }});
    work.ExpectOnce(1);
    work.ExpectOnce(2);
}

// Nobody synchronises the stream that waits for an event. The thread that reaches the event's place
// has it continue, even if all other threads sleep by then.
SCENARIO(TwoStreams, event_unwatched, kSmall) {
    runtime.Run({[&] {
        Flag ran;
        work.Add(first, 1, [] { SleepFor(std::chrono::milliseconds(5)); });
        Order(first, second);
        work.Add(second, 2, [&] { ran.Set(); });
        Ok(aclrtSynchronizeStream(first), "aclrtSynchronizeStream");
        ran.Wait();
    }});
    work.ExpectOrder(1, 2);
}

// A thread that waits for an event gets on although the stream's next host function blocks.
SCENARIO(OneStream, event_before_block, kSmall) {
    aclrtEvent const event = NewEvent();
    Flag gate;
    runtime.Run({[&] {
                     work.Add(stream, 1);
                     Ok(aclrtRecordEvent(event, stream), "aclrtRecordEvent");
                     work.Add(stream, 2, [&] { gate.Wait(); });
                     Ok(aclrtSynchronizeEvent(event), "aclrtSynchronizeEvent");
                     gate.Set();
                 },
                 [&] { Ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream"); }});
    Ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
    work.ExpectOrder(1, 2);
}

// The object of a destroyed stream serves another one. A call with the old handle meets nothing of
// it.
SCENARIO(OneStream, stream_reuse, kSmall) {
    work.Add(stream, 1);
    runtime.Run({[&] {
                     Ok(aclrtDestroyStream(stream), "aclrtDestroyStream");
                     work.ExpectOnce(1);
                     aclrtStream const next = NewStream();
                     work.Add(next, 2);
                     Ok(aclrtSynchronizeStream(next), "aclrtSynchronizeStream");
                     work.ExpectOnce(2);
                 },
                 [&] {
                     ExpectOkOr(aclrtSynchronizeStream(stream), ACL_ERROR_RT_INVALID_HANDLE,
                                "the old handle is known or unknown");
                     const aclError launched = work.Launch(stream, 3);
                     if (launched == ACL_SUCCESS) {
                         const aclError waited = aclrtSynchronizeStream(stream);
                         ExpectOkOr(waited, ACL_ERROR_RT_INVALID_HANDLE, "so is it later");
                     } else {
                         ExpectCode(launched, ACL_ERROR_RT_INVALID_HANDLE, "a launch");
                     }
                 }});
}

}  // namespace

}  // namespace schedules
