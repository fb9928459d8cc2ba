// SPDX-License-Identifier: Apache-2.0
// The actions that a thread chooses from. An action makes one or several calls.
#ifndef ADVANCE_STEP_TESTS_CHAOS_ACTIONS_H_
#define ADVANCE_STEP_TESTS_CHAOS_ACTIONS_H_

#include <string>

#include "chaos/worker.h"

namespace chaos {

struct Action {
    const char* name;
    int weight;
    Ends least;  // the actions of a life are those that its ends permit
    void (*run)(Worker&);
};

// A new action is a function below, in the file of its subject, and a row of the table in
// actions.cpp. It draws all its numbers from worker.random, and makes its calls with CHAOS_CALL.
// Work on a shared stream may not write memory, because two threads could write at the same time.
// No action may wait for ever, because that would look like a hang.
const Action& ChooseAction(const World& world, support::Random* random);
// NULL: there is no action of that name.
const Action* FindAction(const std::string& name);

// objects.cpp
void MakeStreams(Worker& worker);
void DestroyStreams(Worker& worker);
void UseStreams(Worker& worker);
void MakeEvents(Worker& worker);
void UseEvents(Worker& worker);
void UseContexts(Worker& worker);
// waits.cpp
void Synchronize(Worker& worker);
void UseNotifies(Worker& worker);
void UseWords(Worker& worker);
void Abort(Worker& worker);
void Hold(Worker& worker);
// host_work.cpp
void LaunchHostFunctions(Worker& worker);
void LaunchHostOperators(Worker& worker);
void LaunchHostExecutors(Worker& worker);
void LaunchCallbacks(Worker& worker);
// memory.cpp
void UseDeviceMemory(Worker& worker);
void UseHostMemory(Worker& worker);
void UseVirtualMemory(Worker& worker);
void ShareMemory(Worker& worker);
// copies.cpp
void Copy(Worker& worker);
// more_copies.cpp
void CopyOtherwise(Worker& worker);
// descriptions.cpp
void RegisterFunctions(Worker& worker);
void Describe(Worker& worker);
void DescribeKernels(Worker& worker);
// devices.cpp
void SetDevices(Worker& worker);
void QueryDevices(Worker& worker);
void ChangeOptions(Worker& worker);
void ResetDevices(Worker& worker);
void EndRuntime(Worker& worker);
// captures.cpp
void BeginCaptures(Worker& worker);
void EndCaptures(Worker& worker);
void Replay(Worker& worker);
void UseGroups(Worker& worker);
void UseConditions(Worker& worker);
// launches.cpp, steps.cpp, kernels.cpp
void LaunchAdvanceStep(Worker& worker);
void LaunchStep(Worker& worker);
void LaunchKernels(Worker& worker);
// illegal.cpp
void PassNulls(Worker& worker);
void PassRubbish(Worker& worker);
// children.cpp
void ForkChild(Worker& worker);

}  // namespace chaos

#endif  // ADVANCE_STEP_TESTS_CHAOS_ACTIONS_H_
