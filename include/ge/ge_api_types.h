// SPDX-License-Identifier: Apache-2.0
/// Options of graph mode, and the callback of asynchronous runs.
#ifndef ADVSTEP_GE_GE_API_TYPES_H_
#define ADVSTEP_GE_GE_API_TYPES_H_

#include <functional>
#include <vector>

#include "../graph/tensor.h"
#include "ge_api_error_codes.h"

namespace ge {

const char* const OPTION_GRAPH_RUN_MODE = "ge.graphRunMode"; /* an integer; it has no effect */
/// An integer >= -1: the number of the emulated device that runs the graphs. If there is no such
/// device, device 0 runs them.
const char* const OPTION_EXEC_DEVICE_ID = "ge.exec.deviceId";

/// Options that are accepted and have no effect.
namespace ir_option {
const char* const SOC_VERSION = "ge.socVersion";
const char* const PRECISION_MODE = "ge.exec.precision_mode";
}  // namespace ir_option

/// A callback that gets a run's status and its outputs. The outputs are empty if the run failed.
using RunAsyncCallback = std::function<void(Status, std::vector<Tensor>&)>;

}  // namespace ge

#endif  // ADVSTEP_GE_GE_API_TYPES_H_
