// SPDX-License-Identifier: Apache-2.0
// Scenarios of captures and replays: conditional tasks that are added, dropped, stopped and shared,
// and notifies.
#include "tests/schedules/scenario.h"

namespace schedules {
namespace {

// A model with a loop of two turns, whose body is one host function.
class Loop {
 public:
    static constexpr int kTurns = 2;
    static constexpr int kTurn = 1;
    static constexpr int kEnd = 2;

    explicit Loop(aclrtStream stream, const std::function<void()>& turn = nullptr) {
        aclrtStream const body = NewStream();
        aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
        aclmdlRI capture = nullptr;
        aclmdlRICondHandle handle = nullptr;
        aclmdlRI part = nullptr;
        Ok(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), "CaptureBegin");
        Ok(aclmdlRICaptureGetInfo(stream, &status, &capture), "CaptureGetInfo");
        Ok(aclmdlRICondHandleCreate(capture, kTurns, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT,
                                    &handle),
           "CondHandleCreate");
        Ok(aclmdlRICondHandleGetCondPtr(handle, &variable_), "CondHandleGetCondPtr");
        Ok(aclmdlRIAddCondTask({handle, ACL_MODEL_RI_COND_TYPE_WHILE, 1, &part}, stream, 0),
           "AddCondTask");
        Ok(aclmdlRICaptureToModelRIBegin(body, part, ACL_MODEL_RI_CAPTURE_MODE_RELAXED),
           "CaptureToModelRIBegin");
        work.Add(body, kTurn, [this, turn] {
            if (turn) {
                turn();
            }
            --*variable_;
        });
        Ok(aclmdlRICaptureEnd(body, &part), "CaptureEnd of the sub-graph");
        work.Add(stream, kEnd);
        Ok(aclmdlRICaptureEnd(stream, &model_), "CaptureEnd");
        Ok(aclrtDestroyStream(body), "aclrtDestroyStream");
    }
    aclError Replay(aclrtStream stream) const { return aclmdlRIExecuteAsync(model_, stream); }

    /// Expects a number of whole replays, one after another.
    void ExpectWhole(int replays) const {
        std::vector<int> expected;
        for (int replay = 0; replay < replays; ++replay) {
            expected.insert(expected.end(), kTurns, kTurn);
            expected.push_back(kEnd);
        }
        Expect(work.ran() == expected, "whole replays, one after another");
    }

    HostWork work;

 private:
    uint64_t* variable_ = nullptr;
    aclmdlRI model_ = nullptr;
};

// Two threads replay one model, each on a stream of its own.
void LoopOnTwoStreams() {
    const Runtime runtime;
    aclrtStream const first = NewStream();
    aclrtStream const second = NewStream();
    const Loop loop(first);
    const auto replay = [&](aclrtStream stream) {
        runtime.Use();
        Ok(loop.Replay(stream), "aclmdlRIExecuteAsync");
        Ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
    };
    RunThreads({[&] { replay(first); }, [&] { replay(second); }});
    loop.ExpectWhole(2);
}

// Nobody waits for the replay: the workers go through the loop.
void LoopUnwatched() {
    const Runtime runtime;
    aclrtStream const stream = NewStream();
    Flag ended;
    const Loop loop(stream);
    RunThreads({[&] {
        runtime.Use();
        Ok(loop.Replay(stream), "aclmdlRIExecuteAsync");
        HostWork after;
        after.Add(stream, 1, [&] { ended.Set(); });
        ended.Wait();
        Ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
    }});
    loop.ExpectWhole(1);
}

// Once the aborted stream has been synchronised, nothing of the loop runs any more, and the next
// replay is whole.
void LoopAborted() {
    const Runtime runtime;
    aclrtStream const stream = NewStream();
    const Loop loop(stream);
    size_t ran = 0;
    RunThreads({[&] {
                    runtime.Use();
                    Ok(loop.Replay(stream), "aclmdlRIExecuteAsync");
                    const aclError code = aclrtSynchronizeStream(stream);
                    Expect(code == ACL_SUCCESS || code == ACL_ERROR_RT_STREAM_ABORT,
                           "the synchronisation");
                    Ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
                },
                [&] {
                    runtime.Use();
                    Ok(aclrtStreamAbort(stream), "aclrtStreamAbort");
                }});
    // The abort may have come before the replay.
    Ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
    ran = loop.work.ran().size();
    Expect(ran <= Loop::kTurns + 1, "at most one replay");
    RunThreads({[&] {
        runtime.Use();
        Expect(loop.work.ran().size() == ran, "nothing runs after the synchronisation");
        Ok(loop.Replay(stream), "aclmdlRIExecuteAsync");
        Ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
    }});
    Expect(loop.work.ran().size() == ran + Loop::kTurns + 1, "the next replay is whole");
}

// The stream of one replay is destroyed while another replay of the model is under way.
void LoopDestroyed() {
    const Runtime runtime;
    aclrtStream const first = NewStream();
    aclrtStream const second = NewStream();
    const Loop loop(first);
    RunThreads({[&] {
                    runtime.Use();
                    Ok(loop.Replay(first), "aclmdlRIExecuteAsync");
                    Ok(aclrtSynchronizeStream(first), "aclrtSynchronizeStream");
                },
                [&] {
                    runtime.Use();
                    Ok(loop.Replay(second), "aclmdlRIExecuteAsync");
                    Ok(aclrtDestroyStreamForce(second), "aclrtDestroyStreamForce");
                }});
    const size_t ran = loop.work.ran().size();
    Expect(ran > Loop::kTurns && ran <= 2 * (Loop::kTurns + 1), "one replay is whole");
}

// The body asks for the end of what it is a part of, and an abort comes meanwhile.
void LoopWaitsForItself() {
    const Runtime runtime;
    aclrtStream const stream = NewStream();
    const Loop loop(stream, [&] {
        const aclError code = aclrtSynchronizeStream(stream);
        Expect(code == ACL_ERROR_RT_FEATURE_NOT_SUPPORT || code == ACL_ERROR_RT_STREAM_ABORT,
               "a synchronisation by the body");
        ExpectCode(aclrtDestroyStreamForce(stream), ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                   "a destruction by the body");
    });
    RunThreads({[&] {
                    runtime.Use();
                    Ok(loop.Replay(stream), "aclmdlRIExecuteAsync");
                    (void)aclrtSynchronizeStream(stream);
                    Ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
                },
                [&] {
                    runtime.Use();
                    Ok(aclrtStreamAbort(stream), "aclrtStreamAbort");
                }});
}

// A thread adds a conditional task while another thread ends the capture and destroys the model.
// The next condition has the place of the first one, and nothing of that task.
void TaskAddedAtTheEnd() {
    const Runtime runtime;
    aclrtStream const stream = NewStream();
    aclrtStream const body = NewStream();
    aclmdlRICondHandle handle = nullptr;
    aclmdlRI part = nullptr;
    aclmdlRI model = nullptr;
    const auto begin = [&] {
        aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
        Ok(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), "CaptureBegin");
        Ok(aclmdlRICaptureGetInfo(stream, &status, &model), "CaptureGetInfo");
        Ok(aclmdlRICondHandleCreate(model, 0, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &handle),
           "CondHandleCreate");
    };
    const auto add = [&] {
        return aclmdlRIAddCondTask({handle, ACL_MODEL_RI_COND_TYPE_IF, 1, &part}, stream, 0);
    };
    const auto end = [&] {
        Ok(aclmdlRICaptureToModelRIBegin(body, part, ACL_MODEL_RI_CAPTURE_MODE_RELAXED),
           "CaptureToModelRIBegin");
        Ok(aclmdlRICaptureEnd(body, &part), "CaptureEnd of the sub-graph");
        Ok(aclmdlRICaptureEnd(stream, &model), "CaptureEnd");
        Ok(aclmdlRIDestroy(model), "aclmdlRIDestroy");
    };
    aclError added = ACL_SUCCESS;
    aclError ended = ACL_SUCCESS;
    begin();
    RunThreads({[&] {
                    runtime.Use();
                    added = add();
                },
                [&] {
                    runtime.Use();
                    ended = aclmdlRICaptureEnd(stream, &model);
                    if (ended == ACL_SUCCESS) {
                        Ok(aclmdlRIDestroy(model), "aclmdlRIDestroy");
                    }
                }});
    Expect((added == ACL_SUCCESS) == (ended == ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING),
           "the capture ends without the task, or waits for its sub-graph");
    if (added == ACL_SUCCESS) {
        end();
    }
    begin();
    Ok(add(), "the task of the next condition");
    end();
}

// A thread queues work while another thread ends the capture of that stream. The work is in the
// model, or runs at once.
void QueuedAtTheEnd() {
    const Runtime runtime;
    aclrtStream const stream = NewStream();
    aclmdlRI model = nullptr;
    HostWork work;
    Ok(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), "CaptureBegin");
    RunThreads({[&] {
                    runtime.Use();
                    work.Add(stream, 1);
                },
                [&] {
                    runtime.Use();
                    Ok(aclmdlRICaptureEnd(stream, &model), "CaptureEnd");
                }});
    Ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
    const bool ranAtOnce = work.ran() == std::vector<int>{1};
    Ok(aclmdlRIExecute(model, -1), "aclmdlRIExecute");
    Expect(work.ran() == std::vector<int>{1}, ranAtOnce ? "no work in the model" : "one replay");
}

// A notify is destroyed while a replay that records it is queued. A notify that is made then is not
// recorded by that replay.
void NotifyDestroyedInReplay() {
    const Runtime runtime;
    aclrtStream const stream = NewStream();
    aclrtStream const waiting = NewStream();
    aclrtNotify const notify = NewNotify();
    aclmdlRI model = nullptr;
    Ok(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), "CaptureBegin");
    Ok(aclrtRecordNotify(notify, stream), "aclrtRecordNotify");
    Ok(aclmdlRICaptureEnd(stream, &model), "CaptureEnd");
    HostWork work;
    aclrtNotify next = nullptr;
    RunThreads({[&] {
                    runtime.Use();
                    const aclError code = aclmdlRIExecuteAsync(model, stream);
                    Expect(code == ACL_SUCCESS || code == ACL_ERROR_RT_INVALID_HANDLE,
                           "aclmdlRIExecuteAsync");
                    Ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
                },
                [&] {
                    runtime.Use();
                    Ok(aclrtDestroyNotify(notify), "aclrtDestroyNotify");
                    next = NewNotify();
                }});
    // A wait for it goes on waiting.
    Ok(aclrtWaitAndResetNotify(next, waiting, 0), "aclrtWaitAndResetNotify");
    work.Add(waiting, 1);
    ExpectCode(aclrtSynchronizeStreamWithTimeout(waiting, 5), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
               "the wait for a notify that nobody has recorded");
    Ok(aclrtRecordNotify(next, stream), "aclrtRecordNotify");
    Ok(aclrtSynchronizeStream(waiting), "aclrtSynchronizeStream");
}

}  // namespace

std::vector<Scenario> GraphScenarios() {
    return {{"loop_on_two_streams", false, &LoopOnTwoStreams},
            {"loop_unwatched", false, &LoopUnwatched},
            {"loop_aborted", false, &LoopAborted},
            {"loop_destroyed", false, &LoopDestroyed},
            {"loop_waits_for_itself", false, &LoopWaitsForItself},
            {"task_added_at_the_end", true, &TaskAddedAtTheEnd},
            {"queued_at_the_end", true, &QueuedAtTheEnd},
            {"notify_destroyed_in_replay", true, &NotifyDestroyedInReplay}};
}

}  // namespace schedules
