// SPDX-License-Identifier: Apache-2.0
// The call by which an interpreter adds its lines to call stacks.

#include "advance_step/sanitizer.h"
#include "src/base/boundary.h"
#include "src/base/script_frames.h"

using namespace advstep;

aclError advstepSetScriptFrames(AdvStepScriptFrames frames) {
    return AclBoundary("advstepSetScriptFrames", [&]() -> Status {
        SetScriptFrames(frames);
        return {};
    });
}
