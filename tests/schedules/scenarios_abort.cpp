// SPDX-License-Identifier: Apache-2.0
// Scenarios of ends: aborts, dropped work, destroyed streams and contexts, resets, the runtime's
// end.
#include "tests/schedules/scenario.h"

namespace schedules {
namespace {

// The stream waits for a notify that does not come. Its abort releases the thread that waits for
// it.
SCENARIO(OneStream, abort, kSmall) {
    Block(stream);
    work.Add(stream, 1);
    runtime.Run({[&] {
                     ExpectOkOr(aclrtSynchronizeStream(stream), ACL_ERROR_RT_STREAM_ABORT,
                                "a synchronisation during an abort");
                 },
                 [&] {
                     Ok(aclrtStreamAbort(stream), "aclrtStreamAbort");
                     work.Add(stream, 2);
                     Ok(aclrtSynchronizeStream(stream), "the synchronisation after the abort");
                     work.ExpectOnce(2);
                 }});
    Expect(!work.Ran(1), "aborted work is not run");
}

// An abort releases a thread that helps another stream, however long that one takes.
SCENARIO(OneStream, abort_helper, kSmall) {
    aclrtStream const other = NewStream();
    Flag gate;
    Flag begun;
    work.Add(other, 1, [&] { begun.Set(); });
    work.Add(other, 2);
    work.Add(other, 3, [&] { gate.Wait(); });
    Order(other, stream);
    runtime.Run({[&] {
                     begun.Wait();
                     Ok(aclrtStreamAbort(stream), "aclrtStreamAbort");
                 },
                 [&] {
                     const aclError code =
                         aclrtSynchronizeStreamWithTimeout(stream, -1);  // runs no host function
                     ExpectOkOr(code, ACL_ERROR_RT_STREAM_ABORT, "an aborted synchronisation");
                     gate.Set();
                 }});
    Ok(aclrtSynchronizeStream(other), "the other stream");
    work.ExpectOrder(2, 3);
}

// An abort that comes after the synchronisation has run a task itself ends it, wherever it is by
// then: what it waits for does not come.
SCENARIO(OneStream, abort_in_synchronize, kSmall) {
    aclrtStream const other = NewStream();
    aclrtEvent const event = NewEvent();
    Flag begun;
    int caller = -1;
    bool inside = false;
    Block(other);
    Ok(aclrtRecordEvent(event, other), "aclrtRecordEvent");
    work.Add(stream, 1, [&] {
        inside = Self() == caller;
        begun.Set();
    });
    Ok(aclrtStreamWaitEvent(stream, event), "aclrtStreamWaitEvent");
    runtime.Run({[&] {
                     caller = Self();
                     const aclError code = aclrtSynchronizeStream(stream);
                     Expect(code == ACL_ERROR_RT_STREAM_ABORT || (code == ACL_SUCCESS && !inside),
                            "a synchronisation that was aborted returned " + std::to_string(code));
                 },
                 [&] {
                     begun.Wait();
                     Ok(aclrtStreamAbort(stream), "aclrtStreamAbort");
                 }});
    Ok(aclrtStreamAbort(other), "aclrtStreamAbort of the other stream");
}

// A helper that is between two tasks of another stream when its own is aborted runs no more of
// them.
SCENARIO(OneStream, abort_between_tasks, kSmall) {
    aclrtStream const other = NewStream();
    int helper = -1;
    bool aborted = false;
    work.Add(other, 1, [&] {
        if (Self() == helper) {
            Ok(aclrtStreamAbort(stream), "aclrtStreamAbort");
            aborted = true;
        }
    });
    work.Add(other, 2, [&] {
        Expect(!aborted || Self() != helper, "an aborted helper runs no further task");
    });
    Order(other, stream);
    runtime.Run({[&] {
        helper = Self();
        const aclError code = aclrtSynchronizeStream(stream);
        ExpectCode(code, aborted ? ACL_ERROR_RT_STREAM_ABORT : ACL_SUCCESS, "the synchronisation");
    }});
    Ok(aclrtSynchronizeStream(other), "the other stream");
    work.ExpectOrder(1, 2);
}

// What an aborted helper leaves in the other stream is run, although nobody synchronises that one.
SCENARIO(OneStream, abort_leaves_rest, kSmall) {
    aclrtStream const other = NewStream();
    Flag begun;
    Flag rest;
    runtime.Run({[&] {
                     work.Add(other, 1, [&] {
                         begun.Set();
                         SleepFor(std::chrono::milliseconds(5));
                     });
                     work.Add(other, 2, [&] { rest.Set(); });
                     Order(other, stream);
                     ExpectOkOr(aclrtSynchronizeStream(stream), ACL_ERROR_RT_STREAM_ABORT,
                                "an aborted synchronisation");
                     rest.Wait();
                 },
                 [&] {
                     begun.Wait();
                     Ok(aclrtStreamAbort(stream), "aclrtStreamAbort");
                 }});
    work.ExpectOrder(1, 2);
}

// An abort does not fail a wait whose place was reached before it, even if the thread that waits
// has not seen that yet.
SCENARIO(OneStream, abort_after_end, kSmall) {
    Flag queued;
    runtime.Run({[&] {
                     work.Add(stream, 1);
                     queued.Set();
                     Ok(aclrtSynchronizeStream(stream), "the synchronisation before the abort");
                     work.ExpectOnce(1);
                 },
                 [&] {
                     queued.Wait();
                     Ok(aclrtSynchronizeStream(stream),
                        "the other synchronisation before the abort");
                     Ok(aclrtStreamAbort(stream), "aclrtStreamAbort");
                     work.Add(stream, 2);
                     Ok(aclrtSynchronizeStream(stream), "the synchronisation after the abort");
                     work.ExpectOnce(2);
                 }});
    work.ExpectOrder(1, 2);
}

// Work is dropped on which a thread sleeps that waits for another stream.
SCENARIO(Scene, drop_releases_others, kSmall) {
    aclrtStream const blocked = NewStream();
    aclrtStream const waiting = NewStream();
    Block(blocked);
    work.Add(blocked, 1);
    Order(blocked, waiting);
    work.Add(waiting, 2);
    runtime.Run({[&] {
                     Ok(aclrtSynchronizeStream(waiting), "the waiting stream");
                     work.ExpectOnce(2);
                 },
                 [&] { Ok(aclrtDestroyStreamForce(blocked), "aclrtDestroyStreamForce"); }});
    Expect(!work.Ran(1), "dropped work is not run");
}

// A forced destruction ends the wait of the thread that destroys the stream in the usual way.
SCENARIO(OneStream, force_ends_destruction, kSmall) {
    Block(stream);
    int ended = 0;
    const auto end = [&](aclError code) {
        ExpectOkOr(code, ACL_ERROR_RT_INVALID_HANDLE, "a destruction");
        ended += code == ACL_SUCCESS ? 1 : 0;
    };
    runtime.Run(
        {[&] { end(aclrtDestroyStream(stream)); }, [&] { end(aclrtDestroyStreamForce(stream)); }});
    Expect(ended >= 1, "one of them ended the stream");
    ExpectCode(aclrtSynchronizeStream(stream), ACL_ERROR_RT_INVALID_HANDLE, "the handle");
}

SCENARIO(OneStream, abort_ends_destruction, kSmall) {
    Block(stream);
    runtime.Run(
        {[&] { Ok(aclrtDestroyStream(stream), "aclrtDestroyStream"); },
         [&] { ExpectOkOr(aclrtStreamAbort(stream), ACL_ERROR_RT_INVALID_HANDLE, "an abort"); }});
}

SCENARIO(TwoStreams, device_abort, kLarge) {
    Block(first);
    work.Add(second, 1);
    runtime.Run({[&] {
                     ExpectOkOr(aclrtSynchronizeStream(first), ACL_ERROR_RT_DEVICE_TASK_ABORT,
                                "a synchronisation");
                 },
                 [&] {
                     ExpectOkOr(aclrtSynchronizeStream(second), ACL_ERROR_RT_DEVICE_TASK_ABORT,
                                "a synchronisation");
                 },
                 [&] { Ok(aclrtDeviceTaskAbort(0, 0), "aclrtDeviceTaskAbort"); }});
}

}  // namespace

}  // namespace schedules
