// SPDX-License-Identifier: Apache-2.0
// The table of all functions, which the build makes of signatures.csv and the tables.

#pragma once

#include <cstdint>

#include "src/operators/entry/values.h"

namespace advstep_operators {

extern const FunctionSpec kFunctions[];
extern const AdvStepHostCallTable kHostCalls[];  // of the same places as kFunctions
extern const uint32_t kFunctionCount;

/// The functions of every host call: `args` is a CallPlan.
int32_t RunCall(const void* args, const AdvStepHostRun* run);
void ReleaseCall(void* args);

}  // namespace advstep_operators
