// SPDX-License-Identifier: Apache-2.0
// Chooses the vector loops of AdvanceStep for an instruction set.

#include "op_kernel/advance_step/advance_step_lanes.h"

namespace advstep {

// One per compilation of advance_step_lanes.cpp.
namespace baseline {
extern const AdvanceStepLanesTable kLanes;
}
#if defined(__x86_64__)
namespace avx2 {
extern const AdvanceStepLanesTable kLanes;
}
namespace avx512 {
extern const AdvanceStepLanesTable kLanes;
}
const AdvanceStepLanesTable* const kAdvanceStepLanes[] = {&baseline::kLanes, &avx2::kLanes,
                                                          &avx512::kLanes};
#else
const AdvanceStepLanesTable* const kAdvanceStepLanes[] = {&baseline::kLanes};
#endif

}  // namespace advstep
