// SPDX-License-Identifier: Apache-2.0
// Forks between two lives.
#ifndef ADVANCE_STEP_TESTS_CHAOS_CHILDREN_H_
#define ADVANCE_STEP_TESTS_CHAOS_CHILDREN_H_

#include "chaos/world.h"

namespace chaos {

// A child begins anew: device, stream, fill, end. Fails if it does not leave with 0.
void ForkFreshChild(const World& world);

}  // namespace chaos

#endif  // ADVANCE_STEP_TESTS_CHAOS_CHILDREN_H_
