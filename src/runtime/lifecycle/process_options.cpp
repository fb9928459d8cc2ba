// SPDX-License-Identifier: Apache-2.0
// Keeps the options of the process.
#include "src/runtime/lifecycle/process_options.h"

#include "acl/acl_rt.h"

namespace advstep {
namespace {

void SetDefaults(ProcessOptions* options) {
    for (std::atomic<int64_t>& parameter : options->parameters) {
        parameter.store(0);
    }
    options->saturationMode.store(ACL_RT_OVERFLOW_MODE_INFNAN);
    options->timeoutUnits.store(ProcessOptions::kMostTimeoutUnits);
    options->dumping.store(false);
}

}  // namespace

ProcessOptions& TheProcessOptions() {
    static ProcessOptions options;
    static const bool ready = [] {
        SetDefaults(&options);
        return true;
    }();
    (void)ready;
    return options;
}

void ResetProcessOptions() { SetDefaults(&TheProcessOptions()); }

}  // namespace advstep
