// SPDX-License-Identifier: Apache-2.0
// Host functions, host operators and callbacks. Their arguments live as long as the program, or
// until the library releases them.
#include <cstdio>

#include "advance_step/host_call.h"
#include "advance_step/host_operator.h"
#include "chaos/actions.h"

namespace chaos {
namespace {

void CountRun(void* args) { static_cast<World*>(args)->hostFunctionsRun += 1; }

// Calls that are permitted in a host function, and some that must be refused there.
void CallInside(void* args) {
    auto* const world = static_cast<World*>(args);
    world->hostFunctionsRun += 1;
    void* memory = nullptr;
    if (aclrtMalloc(&memory, 100, ACL_MEM_MALLOC_HUGE_FIRST) == 0) {
        (void)aclrtFree(memory);
    }
    (void)aclrtFreeWithDevSync(world);
    (void)aclrtResetDevice(0);
    (void)aclFinalize();
    (void)aclrtDestroyContext(world->contexts[0]);
    (void)aclrtRecordEvent(world->events[0], world->streams[0]);
    (void)aclrtStreamAbort(world->streams[1]);
}

struct Argument {
    World* world;
    int32_t code;
};

int32_t RunOperator(void* args, char* message, size_t size) {
    const auto* const argument = static_cast<const Argument*>(args);
    argument->world->hostFunctionsRun += 1;
    if (argument->code != 0) {
        (void)std::snprintf(message, size, "fails on purpose");
    }
    return argument->code;
}

// A second release is a double free, a missing one is seen at the end.
void ReleaseOperator(void* args) {
    const auto* const argument = static_cast<const Argument*>(args);
    argument->world->arguments -= 1;
    delete argument;
}

Argument* NewArgument(Worker& worker) {
    worker.world.arguments += 1;
    return new Argument{&worker.world,
                        worker.random.OneIn(10) ? ACL_ERROR_RT_AICPU_EXCEPTION : ACL_SUCCESS};
}

constexpr AdvStepHostCallTable kHostCall = {
    sizeof(AdvStepHostCallTable), ADVSTEP_HOST_CALL_INTERFACE, "aclnnChaos",
    [](const void* args, const AdvStepHostRun* run) -> int32_t {
        return RunOperator(const_cast<void*>(args), run->message, run->messageSize);
    },
    ReleaseOperator};

}  // namespace

void LaunchHostFunctions(Worker& worker) {
    const aclrtStream stream = worker.AnyStream();
    const aclrtHostFunc function = worker.random.OneIn(6) ? CallInside : CountRun;
    for (int64_t count = worker.random.Between(1, 4); count > 0; --count) {
        (void)CHAOS_CALL(aclrtLaunchHostFunc, stream, function, &worker.world);
    }
}

void LaunchHostOperators(Worker& worker) {
    const aclrtStream stream = worker.AnyStream();
    Argument* const argument = NewArgument(worker);
    const AdvStepHostOperator operation = {worker.random.OneIn(2) ? "first" : "second",
                                           RunOperator,
                                           ReleaseOperator,
                                           argument,
                                           nullptr,
                                           0};
    if (worker.random.OneIn(2)) {
        (void)CHAOS_CALL(advstepLaunchHostOperator, stream, &operation);
    } else {
        (void)CHAOS_CALL(advstepLaunchShortHostOperator, stream, &operation);
    }
}

// Executors of one plan: run, run again and again, or destroyed unused.
void LaunchHostExecutors(Worker& worker) {
    const AdvStepHostCall* call = nullptr;
    (void)CHAOS_CALL(advstepRegisterHostCall, &kHostCall, &call);
    Argument* const argument = NewArgument(worker);
    const AdvStepHostPlanRequest request = {sizeof(AdvStepHostPlanRequest), 0, nullptr, argument, 0,
                                            worker.random.OneIn(2) ? 1 : 0};
    AdvStepHostPlan* plan = nullptr;
    if (CHAOS_CALL(advstepMakeHostPlan, call, &request, &plan) != 0) {
        return;
    }
    for (int64_t count = worker.random.Between(1, 3); count > 0; --count) {
        uint64_t bytes = 0;
        aclOpExecutor* executor = nullptr;
        if (CHAOS_CALL(advstepMakeHostExecutor, plan, nullptr, &bytes, &executor) != 0) {
            continue;
        }
        const bool repeats =
            worker.random.OneIn(3) && CHAOS_CALL(aclSetAclOpExecutorRepeatable, executor) == 0;
        for (int64_t runs = worker.random.Between(0, repeats ? 3 : 1); runs > 0; --runs) {
            (void)CHAOS_CALL(advstepRunHostExecutor, call, nullptr, 0, executor,
                             worker.AnyStream());
        }
        (void)aclDestroyAclOpExecutor(executor);  // refused after a run that has spent it
    }
    advstepReleaseHostPlan(plan);
}

void LaunchCallbacks(Worker& worker) {
    const aclrtStream stream = worker.AnyStream();
    const uint64_t thread = worker.world.processor;
    switch (worker.random.Between(0, 4)) {
        case 0:
            (void)CHAOS_CALL(aclrtSubscribeReport, thread, stream);
            break;
        case 1:
            (void)CHAOS_CALL(aclrtUnSubscribeReport, thread, stream);
            break;
        case 2:
            (void)CHAOS_CALL(aclrtProcessReport, static_cast<int32_t>(worker.random.Between(0, 2)));
            break;
        default:
            (void)CHAOS_CALL(aclrtLaunchCallback, CountRun, &worker.world,
                             worker.random.OneIn(2) ? ACL_CALLBACK_BLOCK : ACL_CALLBACK_NO_BLOCK,
                             stream);
    }
}

}  // namespace chaos
