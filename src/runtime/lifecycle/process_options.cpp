// SPDX-License-Identifier: Apache-2.0
// Keeps the options of the process.
#include "src/runtime/lifecycle/process_options.h"

#include "acl/acl_rt.h"
#include "src/base/at_load.h"
#include "src/base/fork.h"

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
    static ProcessOptions options;  // its defaults are set while the library is loaded
    return options;
}

namespace {

const AtLoad setDefaults([] { SetDefaults(&TheProcessOptions()); });
const ForkHook renewDefaults([](void*) noexcept { SetDefaults(&TheProcessOptions()); });

}  // namespace

void ResetProcessOptions() { SetDefaults(&TheProcessOptions()); }

}  // namespace advstep
