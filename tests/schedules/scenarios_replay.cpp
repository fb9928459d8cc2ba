// SPDX-License-Identifier: Apache-2.0
// Scenarios of replays that are dropped, or whose context ends.
#include "advance_step/fault_injection.h"
#include "advance_step/host_operator.h"
#include "tests/schedules/scenario.h"

namespace schedules {
namespace {

void Order(aclrtStream from, aclrtStream to) {
    aclrtEvent const event = NewEvent();
    Ok(aclrtRecordEvent(event, from), "aclrtRecordEvent");
    Ok(aclrtStreamWaitEvent(to, event), "aclrtStreamWaitEvent");
}

// A branch that waits for another one does not take its dropped tasks as ended either.
void ReplayDropBranches() {
    const Runtime runtime;
    aclrtStream const first = NewStream();
    aclrtStream const second = NewStream();
    aclrtStream const third = NewStream();
    HostWork work;
    aclmdlRI model = nullptr;
    Ok(aclmdlRICaptureBegin(first, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), "aclmdlRICaptureBegin");
    Order(first, second);
    work.Add(second, 1);
    Order(second, third);
    work.Add(third, 2);
    Order(third, first);
    Ok(aclmdlRICaptureEnd(first, &model), "aclmdlRICaptureEnd");
    uint64_t hold = 0;
    Ok(advstepHoldStream(first, &hold), "advstepHoldStream");
    Ok(aclmdlRIExecuteAsync(model, first), "aclmdlRIExecuteAsync");
    RunThreads({[&] {
                    runtime.Use();
                    Ok(aclrtStreamAbort(first), "aclrtStreamAbort");
                    Ok(aclrtSynchronizeStream(first), "aclrtSynchronizeStream");
                },
                [&] {
                    runtime.Use();
                    work.Add(nullptr, 3);  // wakes a worker, which then looks at all streams
                    Ok(aclrtSynchronizeStream(nullptr), "aclrtSynchronizeStream");
                }});
    Expect(!work.Ran(1) && !work.Ran(2), "nothing of the dropped replay has run");
    Ok(advstepReleaseHold(hold), "advstepReleaseHold");
    Ok(aclmdlRIExecute(model, -1), "aclmdlRIExecute");
    work.ExpectOrder(1, 2);
}

aclmdlRI Captured(aclrtStream stream, HostWork* work) {
    aclmdlRI model = nullptr;
    Ok(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), "aclmdlRICaptureBegin");
    work->Add(stream, 1);
    Ok(aclmdlRICaptureEnd(stream, &model), "aclmdlRICaptureEnd");
    return model;
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
void ReplayContextEnd() {
    const Runtime runtime;
    aclrtContext own = nullptr;
    Ok(aclrtCreateContext(&own, 0), "aclrtCreateContext");
    aclrtStream const stream = NewStream();
    const CountedOperator counted;
    aclmdlRI model = nullptr;
    Ok(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), "aclmdlRICaptureBegin");
    counted.Launch(stream);
    Ok(aclmdlRICaptureEnd(stream, &model), "aclmdlRICaptureEnd");
    counted.ReplayWhileContextEnds(model, stream, own, runtime);
}

// The bits of a handle between the object's kind and its generation: its place in the table.
uint64_t PlaceOf(aclmdlRI model) { return reinterpret_cast<uintptr_t>(model) >> 8 & 0xFFFFFF; }

// So has one whose model has a sub-graph that the end of the context finds first, because it has
// the place of a model that was destroyed.
void ReplayOfSubGraphContextEnd() {
    const Runtime runtime;
    aclrtContext own = nullptr;
    Ok(aclrtCreateContext(&own, 0), "aclrtCreateContext");
    aclrtStream const stream = NewStream();
    aclrtStream const body = NewStream();
    HostWork work;
    aclmdlRI const early = Captured(body, &work);
    const CountedOperator counted;
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    aclmdlRI model = nullptr;
    aclmdlRICondHandle handle = nullptr;
    aclmdlRI part = nullptr;
    Ok(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), "aclmdlRICaptureBegin");
    Ok(aclmdlRICaptureGetInfo(stream, &status, &model), "aclmdlRICaptureGetInfo");
    Ok(aclmdlRIDestroy(early), "aclmdlRIDestroy");
    Ok(aclmdlRICondHandleCreate(model, 1, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &handle),
       "aclmdlRICondHandleCreate");
    Ok(aclmdlRIAddCondTask({handle, ACL_MODEL_RI_COND_TYPE_IF, 1, &part}, stream, 0),
       "aclmdlRIAddCondTask");
    Expect(PlaceOf(part) == PlaceOf(early), "the sub-graph has the place of the early model");
    Ok(aclmdlRICaptureToModelRIBegin(body, part, ACL_MODEL_RI_CAPTURE_MODE_RELAXED),
       "aclmdlRICaptureToModelRIBegin");
    counted.Launch(body);
    Ok(aclmdlRICaptureEnd(body, &part), "aclmdlRICaptureEnd of the sub-graph");
    Ok(aclmdlRICaptureEnd(stream, &model), "aclmdlRICaptureEnd");
    counted.ReplayWhileContextEnds(model, stream, own, runtime);
}

// A model is ended once, by its call or with its context: its place is given to one model later.
void ModelEndsOnce() {
    const Runtime runtime;
    aclrtContext own = nullptr;
    Ok(aclrtCreateContext(&own, 0), "aclrtCreateContext");
    HostWork work;
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
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    aclmdlRI model = nullptr;
    aclmdlRICondHandle handle = nullptr;
    aclmdlRI part = nullptr;
    Ok(aclmdlRICaptureGetInfo(stream, &status, &model), "aclmdlRICaptureGetInfo");
    Ok(aclmdlRICondHandleCreate(model, 1, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &handle),
       "aclmdlRICondHandleCreate");
    Ok(aclmdlRIAddCondTask({handle, ACL_MODEL_RI_COND_TYPE_WHILE, 1, &part}, stream, 0),
       "aclmdlRIAddCondTask");
    Ok(aclmdlRICaptureToModelRIBegin(body, part, ACL_MODEL_RI_CAPTURE_MODE_RELAXED),
       "aclmdlRICaptureToModelRIBegin");
    fill();
    Ok(aclmdlRICaptureEnd(body, &part), "aclmdlRICaptureEnd of the loop");
}

// The abort of a device ends a loop in a loop: the outer one makes no further turn because the
// inner one is aborted.
void DeviceAbortInNestedLoop() {
    const Runtime runtime;
    aclrtStream const stream = NewStream();
    aclrtStream const outer = NewStream();
    aclrtStream const inner = NewStream();
    aclrtNotify const never = NewNotify();
    HostWork work;
    aclmdlRI model = nullptr;
    Ok(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), "aclmdlRICaptureBegin");
    AddLoop(stream, outer, [&] {
        work.Add(outer, 1);
        AddLoop(outer, inner,
                [&] { Ok(aclrtWaitAndResetNotify(never, inner, 0), "aclrtWaitAndResetNotify"); });
    });
    Ok(aclmdlRICaptureEnd(stream, &model), "aclmdlRICaptureEnd");
    Ok(aclmdlRIExecuteAsync(model, stream), "aclmdlRIExecuteAsync");
    RunThreads({[&] {
                    runtime.Use();
                    (void)aclrtSynchronizeStream(stream);
                },
                [&] {
                    runtime.Use();
                    Ok(aclrtDeviceTaskAbort(0, 0), "aclrtDeviceTaskAbort");
                }});
    Ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
    Expect(work.ran().size() <= 1, "one turn of the outer loop");
}

// The body of a loop stops it, also while the thread that began the loop still does so, and then
// stands at a wait.
void LoopStoppedByItsBody() {
    const Runtime runtime;
    aclrtStream const stream = NewStream();
    aclrtStream const body = NewStream();
    aclrtNotify const never = NewNotify();
    HostWork work;
    aclmdlRI model = nullptr;
    Ok(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), "aclmdlRICaptureBegin");
    AddLoop(stream, body, [&] {
        work.Add(body, 1, [&] { Ok(aclrtStreamStop(stream), "aclrtStreamStop"); });
        Ok(aclrtWaitAndResetNotify(never, body, 0), "aclrtWaitAndResetNotify");
    });
    Ok(aclmdlRICaptureEnd(stream, &model), "aclmdlRICaptureEnd");
    RunThreads({[&] {
        runtime.Use();
        Ok(aclmdlRIExecuteAsync(model, stream), "aclmdlRIExecuteAsync");
        Ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
    }});
    work.ExpectOnce(1);
}

// An external event is destroyed while a replay that records it is queued. An event that is made
// then is not set by that replay.
void EventDestroyedInReplay() {
    const Runtime runtime;
    aclrtStream const stream = NewStream();
    aclrtEvent event = nullptr;
    Ok(aclrtCreateEventWithFlag(&event, ACL_EVENT_EXTERNAL), "aclrtCreateEventWithFlag");
    aclmdlRI model = nullptr;
    Ok(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), "CaptureBegin");
    Ok(aclrtRecordEvent(event, stream), "aclrtRecordEvent");
    Ok(aclmdlRICaptureEnd(stream, &model), "CaptureEnd");
    aclrtEvent next = nullptr;
    RunThreads({[&] {
                    runtime.Use();
                    const aclError code = aclmdlRIExecuteAsync(model, stream);
                    Expect(code == ACL_SUCCESS || code == ACL_ERROR_RT_INVALID_HANDLE,
                           "aclmdlRIExecuteAsync");
                    Ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
                },
                [&] {
                    runtime.Use();
                    Ok(aclrtDestroyEvent(event), "aclrtDestroyEvent");
                    Ok(aclrtCreateEventWithFlag(&next, ACL_EVENT_EXTERNAL),
                       "aclrtCreateEventWithFlag");
                }});
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    Ok(aclrtQueryEventStatus(next, &status), "aclrtQueryEventStatus");
    Expect(status == ACL_EVENT_RECORDED_STATUS_NOT_READY, "an event that nobody has recorded");
}

}  // namespace

std::vector<Scenario> ReplayScenarios() {
    return {{"replay_drop_branches", false, &ReplayDropBranches},
            {"replay_context_end", false, &ReplayContextEnd},
            {"replay_of_sub_graph_context_end", false, &ReplayOfSubGraphContextEnd},
            {"model_ends_once", false, &ModelEndsOnce},
            {"device_abort_in_nested_loop", false, &DeviceAbortInNestedLoop},
            {"loop_stopped_by_its_body", false, &LoopStoppedByItsBody},
            {"event_destroyed_in_replay", true, &EventDestroyedInReplay}};
}

}  // namespace schedules
