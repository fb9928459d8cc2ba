// SPDX-License-Identifier: Apache-2.0
// Scenarios of conditional tasks that are added, dropped, stopped and shared, and of captures.
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
        model_ = Capture(stream, [&] {
            aclmdlRICondHandle const handle = NewCondition(stream, kTurns);
            Ok(aclmdlRICondHandleGetCondPtr(handle, &variable_), "CondHandleGetCondPtr");
            aclmdlRI part = nullptr;
            Ok(AddTask(stream, ACL_MODEL_RI_COND_TYPE_WHILE, handle, &part), "AddCondTask");
            FillPart(part, body, [&] {
                work.Add(body, kTurn, [this, turn] {
                    if (turn) {
                        turn();
                    }
                    --*variable_;
                });
            });
            work.Add(stream, kEnd);
        });
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
SCENARIO(TwoStreams, loop_on_two_streams, kLarge) {
    const Loop loop(first);
    const auto replay = [&](aclrtStream stream) {
        Ok(loop.Replay(stream), "aclmdlRIExecuteAsync");
        Ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
    };
    runtime.Run({[&] { replay(first); }, [&] { replay(second); }});
    loop.ExpectWhole(2);
}

// Nobody waits for the replay: the workers go through the loop.
SCENARIO(OneStream, loop_unwatched, kLarge) {
    Flag ended;
    const Loop loop(stream);
    runtime.Run({[&] {
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
SCENARIO(OneStream, loop_aborted, kLarge) {
    const Loop loop(stream);
    size_t ran = 0;
    runtime.Run({[&] {
                     Ok(loop.Replay(stream), "aclmdlRIExecuteAsync");
                     ExpectOkOr(aclrtSynchronizeStream(stream), ACL_ERROR_RT_STREAM_ABORT,
                                "the synchronisation");
                     Ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
                 },
                 [&] { Ok(aclrtStreamAbort(stream), "aclrtStreamAbort"); }});
    // The abort may have come before the replay.
    Ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
    ran = loop.work.ran().size();
    Expect(ran <= Loop::kTurns + 1, "at most one replay");
    runtime.Run({[&] {
        Expect(loop.work.ran().size() == ran, "nothing runs after the synchronisation");
        Ok(loop.Replay(stream), "aclmdlRIExecuteAsync");
        Ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
    }});
    Expect(loop.work.ran().size() == ran + Loop::kTurns + 1, "the next replay is whole");
}

// The stream of one replay is destroyed while another replay of the model is under way.
SCENARIO(TwoStreams, loop_destroyed, kLarge) {
    const Loop loop(first);
    runtime.Run({[&] {
                     Ok(loop.Replay(first), "aclmdlRIExecuteAsync");
                     Ok(aclrtSynchronizeStream(first), "aclrtSynchronizeStream");
                 },
                 [&] {
                     Ok(loop.Replay(second), "aclmdlRIExecuteAsync");
                     Ok(aclrtDestroyStreamForce(second), "aclrtDestroyStreamForce");
                 }});
    const size_t ran = loop.work.ran().size();
    Expect(ran > Loop::kTurns && ran <= 2 * (Loop::kTurns + 1), "one replay is whole");
}

// The body asks for the end of what it is a part of, and an abort comes meanwhile.
SCENARIO(OneStream, loop_waits_for_itself, kLarge) {
    const Loop loop(stream, [&] {
        const aclError code = aclrtSynchronizeStream(stream);
        Expect(code == ACL_ERROR_RT_FEATURE_NOT_SUPPORT || code == ACL_ERROR_RT_STREAM_ABORT,
               "a synchronisation by the body");
        ExpectCode(aclrtDestroyStreamForce(stream), ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                   "a destruction by the body");
    });
    runtime.Run({[&] {
                     Ok(loop.Replay(stream), "aclmdlRIExecuteAsync");
                     (void)aclrtSynchronizeStream(stream);
                     Ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
                 },
                 [&] { Ok(aclrtStreamAbort(stream), "aclrtStreamAbort"); }});
}

// A thread adds a conditional task while another thread ends the capture and destroys the model.
// The next condition has the place of the first one, and nothing of that task.
SCENARIO(OneStream, task_added_at_the_end, kSmall) {
    aclrtStream const body = NewStream();
    aclmdlRICondHandle handle = nullptr;
    aclmdlRI part = nullptr;
    aclmdlRI model = nullptr;
    const auto begin = [&] {
        Ok(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), "CaptureBegin");
        handle = NewCondition(stream, 0);
    };
    const auto add = [&] { return AddTask(stream, ACL_MODEL_RI_COND_TYPE_IF, handle, &part); };
    const auto end = [&] {
        FillPart(part, body, [] {});
        Ok(aclmdlRICaptureEnd(stream, &model), "CaptureEnd");
        Ok(aclmdlRIDestroy(model), "aclmdlRIDestroy");
    };
    aclError added = ACL_SUCCESS;
    aclError ended = ACL_SUCCESS;
    begin();
    runtime.Run({[&] { added = add(); },
                 [&] {
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
SCENARIO(OneStream, queued_at_the_end, kSmall) {
    aclmdlRI model = nullptr;
    Ok(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), "CaptureBegin");
    runtime.Run({[&] { work.Add(stream, 1); },
                 [&] { Ok(aclmdlRICaptureEnd(stream, &model), "CaptureEnd"); }});
    Ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
    const bool ranAtOnce = work.ran() == std::vector<int>{1};
    Ok(aclmdlRIExecute(model, -1), "aclmdlRIExecute");
    Expect(work.ran() == std::vector<int>{1}, ranAtOnce ? "no work in the model" : "one replay");
}

}  // namespace

}  // namespace schedules
