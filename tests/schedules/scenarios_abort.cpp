// SPDX-License-Identifier: Apache-2.0
// Scenarios of ends: aborts, dropped work, destroyed streams and contexts, resets, the runtime's
// end.
#include "tests/schedules/scenario.h"

namespace schedules {
namespace {

// The stream waits for a notify that does not come. Its abort releases the thread that waits for
// it.
void Abort() {
    const Runtime runtime;
    aclrtStream const stream = NewStream();
    aclrtNotify const notify = NewNotify();
    HostWork work;
    Ok(aclrtWaitAndResetNotify(notify, stream, 0), "aclrtWaitAndResetNotify");
    work.Add(stream, 1);
    RunThreads({[&] {
                    runtime.Use();
                    const aclError code = aclrtSynchronizeStream(stream);
                    Expect(code == ACL_SUCCESS || code == ACL_ERROR_RT_STREAM_ABORT,
                           "a synchronisation during an abort returned " + std::to_string(code));
                },
                [&] {
                    runtime.Use();
                    Ok(aclrtStreamAbort(stream), "aclrtStreamAbort");
                    work.Add(stream, 2);
                    Ok(aclrtSynchronizeStream(stream), "the synchronisation after the abort");
                    work.ExpectOnce(2);
                }});
    Expect(!work.Ran(1), "aborted work is not run");
}

// An abort releases a thread that helps another stream, however long that one takes.
void AbortHelper() {
    const Runtime runtime;
    aclrtStream const stream = NewStream();
    aclrtStream const other = NewStream();
    aclrtEvent const event = NewEvent();
    HostWork work;
    Flag gate;
    Flag begun;
    work.Add(other, 1, [&] { begun.Set(); });
    work.Add(other, 2);
    work.Add(other, 3, [&] { gate.Wait(); });
    Ok(aclrtRecordEvent(event, other), "aclrtRecordEvent");
    Ok(aclrtStreamWaitEvent(stream, event), "aclrtStreamWaitEvent");
    RunThreads({[&] {
                    runtime.Use();
                    begun.Wait();
                    Ok(aclrtStreamAbort(stream), "aclrtStreamAbort");
                },
                [&] {
                    runtime.Use();
                    const aclError code =
                        aclrtSynchronizeStreamWithTimeout(stream, -1);  // runs no host function
                    Expect(code == ACL_SUCCESS || code == ACL_ERROR_RT_STREAM_ABORT,
                           "an aborted synchronisation returned " + std::to_string(code));
                    gate.Set();
                }});
    Ok(aclrtSynchronizeStream(other), "the other stream");
    work.ExpectOrder(2, 3);
}

// An abort that comes after the synchronisation has run a task itself ends it, wherever it is by
// then: what it waits for does not come.
void AbortInSynchronize() {
    const Runtime runtime;
    aclrtStream const stream = NewStream();
    aclrtStream const other = NewStream();
    aclrtNotify const notify = NewNotify();
    aclrtEvent const event = NewEvent();
    HostWork work;
    Flag begun;
    int caller = -1;
    bool inside = false;
    Ok(aclrtWaitAndResetNotify(notify, other, 0), "aclrtWaitAndResetNotify");
    Ok(aclrtRecordEvent(event, other), "aclrtRecordEvent");
    work.Add(stream, 1, [&] {
        inside = Self() == caller;
        begun.Set();
    });
    Ok(aclrtStreamWaitEvent(stream, event), "aclrtStreamWaitEvent");
    RunThreads({[&] {
                    runtime.Use();
                    caller = Self();
                    const aclError code = aclrtSynchronizeStream(stream);
                    Expect(code == ACL_ERROR_RT_STREAM_ABORT || (code == ACL_SUCCESS && !inside),
                           "a synchronisation that was aborted returned " + std::to_string(code));
                },
                [&] {
                    runtime.Use();
                    begun.Wait();
                    Ok(aclrtStreamAbort(stream), "aclrtStreamAbort");
                }});
    Ok(aclrtStreamAbort(other), "aclrtStreamAbort of the other stream");
}

// A helper that is between two tasks of another stream when its own is aborted runs no more of
// them.
void AbortBetweenTasks() {
    const Runtime runtime;
    aclrtStream const stream = NewStream();
    aclrtStream const other = NewStream();
    aclrtEvent const event = NewEvent();
    HostWork work;
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
    Ok(aclrtRecordEvent(event, other), "aclrtRecordEvent");
    Ok(aclrtStreamWaitEvent(stream, event), "aclrtStreamWaitEvent");
    RunThreads({[&] {
        runtime.Use();
        helper = Self();
        const aclError code = aclrtSynchronizeStream(stream);
        ExpectCode(code, aborted ? ACL_ERROR_RT_STREAM_ABORT : ACL_SUCCESS, "the synchronisation");
    }});
    Ok(aclrtSynchronizeStream(other), "the other stream");
    work.ExpectOrder(1, 2);
}

// What an aborted helper leaves in the other stream is run, although nobody synchronises that one.
void AbortLeavesRest() {
    const Runtime runtime;
    aclrtStream const stream = NewStream();
    aclrtStream const other = NewStream();
    aclrtEvent const event = NewEvent();
    HostWork work;
    Flag begun;
    Flag rest;
    RunThreads({[&] {
                    runtime.Use();
                    work.Add(other, 1, [&] {
                        begun.Set();
                        SleepFor(std::chrono::milliseconds(5));
                    });
                    work.Add(other, 2, [&] { rest.Set(); });
                    Ok(aclrtRecordEvent(event, other), "aclrtRecordEvent");
                    Ok(aclrtStreamWaitEvent(stream, event), "aclrtStreamWaitEvent");
                    const aclError code = aclrtSynchronizeStream(stream);
                    Expect(code == ACL_SUCCESS || code == ACL_ERROR_RT_STREAM_ABORT,
                           "an aborted synchronisation returned " + std::to_string(code));
                    rest.Wait();
                },
                [&] {
                    runtime.Use();
                    begun.Wait();
                    Ok(aclrtStreamAbort(stream), "aclrtStreamAbort");
                }});
    work.ExpectOrder(1, 2);
}

// An abort does not fail a wait whose place was reached before it, even if the thread that waits
// has not seen that yet.
void AbortAfterEnd() {
    const Runtime runtime;
    aclrtStream const stream = NewStream();
    HostWork work;
    Flag queued;
    RunThreads({[&] {
                    runtime.Use();
                    work.Add(stream, 1);
                    queued.Set();
                    Ok(aclrtSynchronizeStream(stream), "the synchronisation before the abort");
                    work.ExpectOnce(1);
                },
                [&] {
                    runtime.Use();
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
void DropReleasesOthers() {
    const Runtime runtime;
    aclrtStream const blocked = NewStream();
    aclrtStream const waiting = NewStream();
    aclrtNotify const notify = NewNotify();
    aclrtEvent const event = NewEvent();
    HostWork work;
    Ok(aclrtWaitAndResetNotify(notify, blocked, 0), "aclrtWaitAndResetNotify");
    work.Add(blocked, 1);
    Ok(aclrtRecordEvent(event, blocked), "aclrtRecordEvent");
    Ok(aclrtStreamWaitEvent(waiting, event), "aclrtStreamWaitEvent");
    work.Add(waiting, 2);
    RunThreads({[&] {
                    runtime.Use();
                    Ok(aclrtSynchronizeStream(waiting), "the waiting stream");
                    work.ExpectOnce(2);
                },
                [&] {
                    runtime.Use();
                    Ok(aclrtDestroyStreamForce(blocked), "aclrtDestroyStreamForce");
                }});
    Expect(!work.Ran(1), "dropped work is not run");
}

// A forced destruction ends the wait of the thread that destroys the stream in the usual way.
void ForceEndsDestruction() {
    const Runtime runtime;
    aclrtStream const stream = NewStream();
    aclrtNotify const notify = NewNotify();
    Ok(aclrtWaitAndResetNotify(notify, stream, 0), "aclrtWaitAndResetNotify");
    int ended = 0;
    const auto end = [&](aclError code) {
        Expect(code == ACL_SUCCESS || code == ACL_ERROR_RT_INVALID_HANDLE,
               "a destruction returned " + std::to_string(code));
        ended += code == ACL_SUCCESS ? 1 : 0;
    };
    RunThreads({[&] {
                    runtime.Use();
                    end(aclrtDestroyStream(stream));
                },
                [&] {
                    runtime.Use();
                    end(aclrtDestroyStreamForce(stream));
                }});
    Expect(ended >= 1, "one of them ended the stream");
    ExpectCode(aclrtSynchronizeStream(stream), ACL_ERROR_RT_INVALID_HANDLE, "the handle");
}

void AbortEndsDestruction() {
    const Runtime runtime;
    aclrtStream const stream = NewStream();
    aclrtNotify const notify = NewNotify();
    Ok(aclrtWaitAndResetNotify(notify, stream, 0), "aclrtWaitAndResetNotify");
    RunThreads({[&] {
                    runtime.Use();
                    Ok(aclrtDestroyStream(stream), "aclrtDestroyStream");
                },
                [&] {
                    runtime.Use();
                    const aclError code = aclrtStreamAbort(stream);
                    Expect(code == ACL_SUCCESS || code == ACL_ERROR_RT_INVALID_HANDLE,
                           "an abort returned " + std::to_string(code));
                }});
}

void DeviceAbort() {
    const Runtime runtime;
    aclrtStream const first = NewStream();
    aclrtStream const second = NewStream();
    aclrtNotify const notify = NewNotify();
    HostWork work;
    Ok(aclrtWaitAndResetNotify(notify, first, 0), "aclrtWaitAndResetNotify");
    work.Add(second, 1);
    RunThreads({[&] {
                    runtime.Use();
                    const aclError code = aclrtSynchronizeStream(first);
                    Expect(code == ACL_SUCCESS || code == ACL_ERROR_RT_DEVICE_TASK_ABORT,
                           "a synchronisation returned " + std::to_string(code));
                },
                [&] {
                    runtime.Use();
                    const aclError code = aclrtSynchronizeStream(second);
                    Expect(code == ACL_SUCCESS || code == ACL_ERROR_RT_DEVICE_TASK_ABORT,
                           "a synchronisation returned " + std::to_string(code));
                },
                [&] {
                    runtime.Use();
                    Ok(aclrtDeviceTaskAbort(0, 0), "aclrtDeviceTaskAbort");
                }});
}

}  // namespace

std::vector<Scenario> AbortScenarios() {
    return {{"abort", true, &Abort},
            {"abort_helper", true, &AbortHelper},
            {"abort_in_synchronize", true, &AbortInSynchronize},
            {"abort_between_tasks", true, &AbortBetweenTasks},
            {"abort_leaves_rest", true, &AbortLeavesRest},
            {"abort_after_end", true, &AbortAfterEnd},
            {"drop_releases_others", true, &DropReleasesOthers},
            {"force_ends_destruction", true, &ForceEndsDestruction},
            {"abort_ends_destruction", true, &AbortEndsDestruction},
            {"device_abort", false, &DeviceAbort}};
}

}  // namespace schedules
