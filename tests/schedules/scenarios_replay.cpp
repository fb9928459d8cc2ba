// SPDX-License-Identifier: Apache-2.0
// Scenarios of replays: on two streams, aborted, dropped, and with ends of what they use.
#include "advance_step/fault_injection.h"
#include "advance_step/host_operator.h"
#include "tests/schedules/scenario.h"

namespace schedules {
namespace {

// A model of two branches, of which each has a host function.
aclmdlRI CaptureFork(aclrtStream stream, aclrtStream branch, HostWork* work,
                     const std::function<void()>& inBranch) {
    return Capture(stream, [&] {
        aclrtEvent const join = NewEvent();
        Order(stream, branch);
        work->Add(branch, 1, inBranch);
        Ok(aclrtRecordEvent(join, branch), "aclrtRecordEvent");
        work->Add(stream, 2);
        Ok(aclrtStreamWaitEvent(stream, join), "aclrtStreamWaitEvent");
        work->Add(stream, 3);
    });
}

// Replays of one model run one after another, also on two streams.
SCENARIO(TwoStreams, replay, kLarge) {
    aclmdlRI const model = CaptureFork(first, second, &work, nullptr);
    const auto replay = [&](aclrtStream stream) {
        Ok(aclmdlRIExecuteAsync(model, stream), "aclmdlRIExecuteAsync");
        Ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
    };
    runtime.Run({[&] { replay(first); }, [&] { replay(second); }});
    const std::vector<int>& ran = work.ran();
    Expect(ran.size() == 6 && ran[2] == 3 && ran[5] == 3 && ran[0] + ran[1] == 3,
           "one replay after the other");
}

// The abort of a replay leaves no branch behind that the next replay does not wait for.
SCENARIO(TwoStreams, replay_abort, kLarge) {
    int inside = 0;
    aclmdlRI const model = CaptureFork(first, second, &work, [&] {
        Expect(inside++ == 0, "a branch runs once at a time");
        static const char place = 0;
        Point(Op::kChange, &place);
        --inside;
    });
    runtime.Run({[&] {
                     Ok(aclmdlRIExecuteAsync(model, first), "aclmdlRIExecuteAsync");
                     ExpectOkOr(aclrtSynchronizeStream(first), ACL_ERROR_RT_STREAM_ABORT,
                                "the replay that is aborted");
                 },
                 [&] {
                     Ok(aclrtStreamAbort(first), "aclrtStreamAbort");
                     const size_t before = work.ran().size();
                     Ok(aclmdlRIExecuteAsync(model, second), "aclmdlRIExecuteAsync");
                     Ok(aclrtSynchronizeStream(second), "the replay on the other stream");
                     Expect(work.ran().size() >= before + 3, "the second replay has run");
                     Expect(work.ran().back() == 3 || work.ran().size() > 3, "and to its end");
                 }});
}

// Drops a replay that has not begun while another thread runs `meanwhile`, calls `dropped`, and
// replays once more.
void DropHeldReplay(const Runtime& runtime, aclmdlRI model, aclrtStream stream,
                    const std::function<void()>& meanwhile, const std::function<void()>& dropped) {
    uint64_t hold = 0;
    Ok(advstepHoldStream(stream, &hold), "advstepHoldStream");
    Ok(aclmdlRIExecuteAsync(model, stream), "aclmdlRIExecuteAsync");
    runtime.Run({[&] {
                     Ok(aclrtStreamAbort(stream), "aclrtStreamAbort");
                     Ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
                 },
                 meanwhile});
    dropped();
    Ok(advstepReleaseHold(hold), "advstepReleaseHold");
    Ok(aclmdlRIExecute(model, -1), "aclmdlRIExecute");
}

// A replay that is dropped before it begins runs nothing of its branches either.
SCENARIO(TwoStreams, replay_drop, kLarge) {
    aclmdlRI const model = CaptureFork(first, second, &work, nullptr);
    DropHeldReplay(
        runtime, model, first,
        [] { Ok(aclrtSynchronizeStream(nullptr), "aclrtSynchronizeStream"); },
        [&] { Expect(work.ran().empty(), "nothing of the dropped replay has run"); });
    Expect(work.ran().size() == 3, "the next replay has run");
}

// A branch that waits for another one does not take its dropped tasks as ended either.
SCENARIO(TwoStreams, replay_drop_branches, kLarge) {
    aclrtStream const third = NewStream();
    aclmdlRI const model = Capture(first, [&] {
        Order(first, second);
        work.Add(second, 1);
        Order(second, third);
        work.Add(third, 2);
        Order(third, first);
    });
    DropHeldReplay(
        runtime, model, first,
        [&] {
            work.Add(nullptr, 3);  // wakes a worker, which then looks at all streams
            Ok(aclrtSynchronizeStream(nullptr), "aclrtSynchronizeStream");
        },
        [&] { Expect(!work.Ran(1) && !work.Ran(2), "nothing of the dropped replay has run"); });
    work.ExpectOrder(1, 2);
}

aclmdlRI Captured(aclrtStream stream, HostWork* work) {
    return Capture(stream, [&] { work->Add(stream, 1); });
}

// A host operator that counts its runs and its releases.
class CountedOperator {
 public:
    CountedOperator() {
        operation_.name = "counts";
        operation_.args = this;
        operation_.run = [](void* args, char*, uint64_t) -> int32_t {
            auto* const self = static_cast<CountedOperator*>(args);
            Expect(self->released_ == 0, "an operator that runs has not been released");
            ++self->ran_;
            return 0;
        };
        operation_.release = [](void* args) { ++static_cast<CountedOperator*>(args)->released_; };
    }
    CountedOperator(const CountedOperator&) = delete;
    CountedOperator& operator=(const CountedOperator&) = delete;

    void Launch(aclrtStream stream) const {
        Ok(advstepLaunchHostOperator(stream, &operation_), "advstepLaunchHostOperator");
    }
    // One thread queues a replay of the model, which has the operator once, while another destroys
    // the context.
    void ReplayWhileContextEnds(aclmdlRI model, aclrtStream stream, aclrtContext own,
                                const Runtime& runtime) const {
        bool queued = false;
        RunThreads({[&] {
                        queued = aclrtSetCurrentContext(own) == ACL_SUCCESS &&
                                 aclmdlRIExecuteAsync(model, stream) == ACL_SUCCESS;
                    },
                    [&] {
                        runtime.Use();
                        Ok(aclrtDestroyContext(own), "aclrtDestroyContext");
                    }});
        Expect(ran_ == (queued ? 1 : 0), "a replay that was queued has run");
        Expect(released_ == 1, "the operator has been released once");
        runtime.Use();
    }

 private:
    AdvStepHostOperator operation_{};
    int ran_ = 0;
    int released_ = 0;
};

// A replay that is queued while its context ends has what it refers to until it has run.
SCENARIO(Scene, replay_context_end, kLarge) {
    aclrtContext own = nullptr;
    Ok(aclrtCreateContext(&own, 0), "aclrtCreateContext");
    aclrtStream const stream = NewStream();
    const CountedOperator counted;
    aclmdlRI const model = Capture(stream, [&] { counted.Launch(stream); });
    counted.ReplayWhileContextEnds(model, stream, own, runtime);
}

// The bits of a handle between the object's kind and its generation: its place in the table.
uint64_t PlaceOf(aclmdlRI model) { return reinterpret_cast<uintptr_t>(model) >> 8 & 0xFFFFFF; }

// So has one whose model has a sub-graph that the end of the context finds first, because it has
// the place of a model that was destroyed.
SCENARIO(Scene, replay_of_sub_graph_context_end, kLarge) {
    aclrtContext own = nullptr;
    Ok(aclrtCreateContext(&own, 0), "aclrtCreateContext");
    aclrtStream const stream = NewStream();
    aclrtStream const body = NewStream();
    aclmdlRI const early = Captured(body, &work);
    const CountedOperator counted;
    aclmdlRI const model = Capture(stream, [&] {
        Ok(aclmdlRIDestroy(early), "aclmdlRIDestroy");
        aclmdlRI const part =
            AddConditional(stream, ACL_MODEL_RI_COND_TYPE_IF, body, [&] { counted.Launch(body); });
        Expect(PlaceOf(part) == PlaceOf(early), "the sub-graph has the place of the early model");
    });
    counted.ReplayWhileContextEnds(model, stream, own, runtime);
}

// A model is ended once, by its call or with its context: its place is given to one model later.
SCENARIO(Scene, model_ends_once, kLarge) {
    aclrtContext own = nullptr;
    Ok(aclrtCreateContext(&own, 0), "aclrtCreateContext");
    aclmdlRI const model = Captured(NewStream(), &work);
    RunThreads({[&] {
                    if (aclrtSetCurrentContext(own) == ACL_SUCCESS) {
                        (void)aclmdlRIDestroy(model);
                    }
                },
                [&] {
                    runtime.Use();
                    Ok(aclrtDestroyContext(own), "aclrtDestroyContext");
                }});
    runtime.Use();
    aclrtStream const stream = NewStream();
    aclmdlRI const first = Captured(stream, &work);
    aclmdlRI const second = Captured(stream, &work);
    Ok(aclmdlRIDestroy(first), "aclmdlRIDestroy of the first");
    Ok(aclmdlRIDestroy(second), "aclmdlRIDestroy of the second");
}

// Captures an endless loop, whose body is what fill() queues there.
void AddLoop(aclrtStream stream, aclrtStream body, const std::function<void()>& fill) {
    (void)AddConditional(stream, ACL_MODEL_RI_COND_TYPE_WHILE, body, fill);
}

// The abort of a device ends a loop in a loop: the outer one makes no further turn because the
// inner one is aborted.
SCENARIO(OneStream, device_abort_in_nested_loop, kLarge) {
    aclrtStream const outer = NewStream();
    aclrtStream const inner = NewStream();
    aclmdlRI const model = Capture(stream, [&] {
        AddLoop(stream, outer, [&] {
            work.Add(outer, 1);
            AddLoop(outer, inner, [&] { Block(inner); });
        });
    });
    Ok(aclmdlRIExecuteAsync(model, stream), "aclmdlRIExecuteAsync");
    runtime.Run({[&] { (void)aclrtSynchronizeStream(stream); },
                 [&] { Ok(aclrtDeviceTaskAbort(0, 0), "aclrtDeviceTaskAbort"); }});
    Ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
    Expect(work.ran().size() <= 1, "one turn of the outer loop");
}

// The body of a loop stops it, also while the thread that began the loop still does so, and then
// stands at a wait.
SCENARIO(OneStream, loop_stopped_by_its_body, kLarge) {
    aclrtStream const body = NewStream();
    aclmdlRI const model = Capture(stream, [&] {
        AddLoop(stream, body, [&] {
            work.Add(body, 1, [&] { Ok(aclrtStreamStop(stream), "aclrtStreamStop"); });
            Block(body);
        });
    });
    runtime.Run({[&] {
        Ok(aclmdlRIExecuteAsync(model, stream), "aclmdlRIExecuteAsync");
        Ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
    }});
    work.ExpectOnce(1);
}

// One thread replays the model while another destroys what it uses.
void ReplayMeanwhile(const Runtime& runtime, aclmdlRI model, aclrtStream stream,
                     const std::function<void()>& destroy) {
    runtime.Run({[&] {
                     ExpectOkOr(aclmdlRIExecuteAsync(model, stream), ACL_ERROR_RT_INVALID_HANDLE,
                                "aclmdlRIExecuteAsync");
                     Ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
                 },
                 destroy});
}

// A notify is destroyed while a replay that records it is queued. A notify that is made then is not
// recorded by that replay.
SCENARIO(OneStream, notify_destroyed_in_replay, kSmall) {
    aclrtStream const waiting = NewStream();
    aclrtNotify const notify = NewNotify();
    aclmdlRI const model =
        Capture(stream, [&] { Ok(aclrtRecordNotify(notify, stream), "aclrtRecordNotify"); });
    aclrtNotify next = nullptr;
    ReplayMeanwhile(runtime, model, stream, [&] {
        Ok(aclrtDestroyNotify(notify), "aclrtDestroyNotify");
        next = NewNotify();
    });
    // A wait for it goes on waiting.
    Ok(aclrtWaitAndResetNotify(next, waiting, 0), "aclrtWaitAndResetNotify");
    work.Add(waiting, 1);
    ExpectCode(aclrtSynchronizeStreamWithTimeout(waiting, 5), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
               "the wait for a notify that nobody has recorded");
    Ok(aclrtRecordNotify(next, stream), "aclrtRecordNotify");
    Ok(aclrtSynchronizeStream(waiting), "aclrtSynchronizeStream");
}

// An external event is destroyed while a replay that records it is queued. An event that is made
// then is not set by that replay.
SCENARIO(OneStream, event_destroyed_in_replay, kSmall) {
    aclrtEvent event = nullptr;
    Ok(aclrtCreateEventWithFlag(&event, ACL_EVENT_EXTERNAL), "aclrtCreateEventWithFlag");
    aclmdlRI const model =
        Capture(stream, [&] { Ok(aclrtRecordEvent(event, stream), "aclrtRecordEvent"); });
    aclrtEvent next = nullptr;
    ReplayMeanwhile(runtime, model, stream, [&] {
        Ok(aclrtDestroyEvent(event), "aclrtDestroyEvent");
        Ok(aclrtCreateEventWithFlag(&next, ACL_EVENT_EXTERNAL), "aclrtCreateEventWithFlag");
    });
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    Ok(aclrtQueryEventStatus(next, &status), "aclrtQueryEventStatus");
    Expect(status == ACL_EVENT_RECORDED_STATUS_NOT_READY, "an event that nobody has recorded");
}

}  // namespace

}  // namespace schedules
