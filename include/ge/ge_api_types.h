/// Options and the callback of asynchronous runs.
#ifndef ADVSTEP_GE_GE_API_TYPES_H_
#define ADVSTEP_GE_GE_API_TYPES_H_

#include <functional>
#include <vector>

#include "../graph/tensor.h"
#include "ge_api_error_codes.h"

namespace ge {

const char* const OPTION_GRAPH_RUN_MODE = "ge.graphRunMode"; /* an integer; kept and ignored */
/// An integer >= -1; the emulated device that runs, where there is one of this number, else 0.
const char* const OPTION_EXEC_DEVICE_ID = "ge.exec.deviceId";

/// Gets the run's status and outputs, which are empty where it has failed.
using RunAsyncCallback = std::function<void(Status, std::vector<Tensor>&)>;

}  // namespace ge

#endif  // ADVSTEP_GE_GE_API_TYPES_H_
