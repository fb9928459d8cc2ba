// SPDX-License-Identifier: Apache-2.0
// Scenarios of replays that are dropped.
#include "advance_step/fault_injection.h"
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

}  // namespace

std::vector<Scenario> ReplayScenarios() {
    return {{"replay_drop_branches", false, &ReplayDropBranches}};
}

}  // namespace schedules
