// SPDX-License-Identifier: Apache-2.0
// The table of the actions and their weights.
#include "chaos/actions.h"

namespace chaos {
namespace {

constexpr Action kActions[] = {
    {"make streams", 12, Ends::kNone, MakeStreams},
    {"destroy streams", 10, Ends::kNone, DestroyStreams},
    {"use streams", 12, Ends::kNone, UseStreams},
    {"make events", 10, Ends::kNone, MakeEvents},
    {"use events", 30, Ends::kNone, UseEvents},
    {"use contexts", 8, Ends::kNone, UseContexts},
    {"synchronize", 20, Ends::kNone, Synchronize},
    {"use notifies", 12, Ends::kNone, UseNotifies},
    {"use words", 8, Ends::kNone, UseWords},
    {"abort", 6, Ends::kNone, Abort},
    {"hold", 4, Ends::kNone, Hold},
    {"launch host functions", 16, Ends::kNone, LaunchHostFunctions},
    {"launch host operators", 12, Ends::kNone, LaunchHostOperators},
    {"launch host executors", 10, Ends::kNone, LaunchHostExecutors},
    {"launch callbacks", 6, Ends::kNone, LaunchCallbacks},
    {"use device memory", 12, Ends::kNone, UseDeviceMemory},
    {"use host memory", 10, Ends::kNone, UseHostMemory},
    {"use virtual memory", 8, Ends::kNone, UseVirtualMemory},
    {"share memory", 6, Ends::kNone, ShareMemory},
    {"copy", 16, Ends::kNone, Copy},
    {"copy otherwise", 10, Ends::kNone, CopyOtherwise},
    {"register functions", 3, Ends::kNone, RegisterFunctions},
    {"describe", 8, Ends::kNone, Describe},
    {"describe kernels", 4, Ends::kNone, DescribeKernels},
    {"set devices", 8, Ends::kNone, SetDevices},
    {"query devices", 8, Ends::kNone, QueryDevices},
    {"change options", 6, Ends::kNone, ChangeOptions},
    {"reset devices", 20, Ends::kOwnDevice, ResetDevices},
    {"end the runtime", 1, Ends::kAll, EndRuntime},
    {"begin captures", 8, Ends::kNone, BeginCaptures},
    {"end captures", 12, Ends::kNone, EndCaptures},
    {"replay", 12, Ends::kNone, Replay},
    {"use groups", 8, Ends::kNone, UseGroups},
    {"use conditions", 6, Ends::kNone, UseConditions},
    {"launch AdvanceStep", 30, Ends::kNone, LaunchAdvanceStep},
    {"launch Step", 8, Ends::kNone, LaunchStep},
    {"launch kernels", 10, Ends::kNone, LaunchKernels},
    {"pass nulls", 6, Ends::kNone, PassNulls},
    {"pass rubbish", 8, Ends::kNone, PassRubbish},
    {"fork a child", 1, Ends::kNone, ForkChild},
};

}  // namespace

const Action& ChooseAction(const World& world, support::Random* random) {
    int64_t sum = 0;
    for (const Action& action : kActions) {
        sum += action.least <= world.ends ? action.weight : 0;
    }
    int64_t place = random->Between(0, sum - 1);
    for (const Action& action : kActions) {
        place -= action.least <= world.ends ? action.weight : 0;
        if (place < 0) {
            return action;
        }
    }
    return kActions[0];
}

const Action* FindAction(const std::string& name) {
    for (const Action& action : kActions) {
        if (name == action.name) {
            return &action;
        }
    }
    return nullptr;
}

}  // namespace chaos
