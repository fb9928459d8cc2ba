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

// A replay that is queued while its context ends has what it refers to until it has run.
void ReplayContextEnd() {
    const Runtime runtime;
    aclrtContext own = nullptr;
    Ok(aclrtCreateContext(&own, 0), "aclrtCreateContext");
    aclrtStream const stream = NewStream();
    struct Counts {
        int ran = 0;
        int released = 0;
    } counts;
    AdvStepHostOperator operation{};
    operation.name = "counts";
    operation.args = &counts;
    operation.run = [](void* args, char*, uint64_t) -> int32_t {
        auto* const seen = static_cast<Counts*>(args);
        Expect(seen->released == 0, "an operator that runs has not been released");
        ++seen->ran;
        return 0;
    };
    operation.release = [](void* args) { ++static_cast<Counts*>(args)->released; };
    aclmdlRI model = nullptr;
    Ok(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), "aclmdlRICaptureBegin");
    Ok(advstepLaunchHostOperator(stream, &operation), "advstepLaunchHostOperator");
    Ok(aclmdlRICaptureEnd(stream, &model), "aclmdlRICaptureEnd");
    aclError queued = ACL_SUCCESS;
    RunThreads({[&] {
                    if (aclrtSetCurrentContext(own) == ACL_SUCCESS) {
                        queued = aclmdlRIExecuteAsync(model, stream);
                    } else {
                        queued = ACL_ERROR_RT_CONTEXT_NULL;
                    }
                },
                [&] {
                    runtime.Use();
                    Ok(aclrtDestroyContext(own), "aclrtDestroyContext");
                }});
    Expect(counts.ran == (queued == ACL_SUCCESS ? 1 : 0), "a replay that was queued has run");
    Expect(counts.released == 1, "the operator has been released once");
    runtime.Use();
}

}  // namespace

std::vector<Scenario> ReplayScenarios() {
    return {{"replay_drop_branches", false, &ReplayDropBranches},
            {"replay_context_end", false, &ReplayContextEnd}};
}

}  // namespace schedules
