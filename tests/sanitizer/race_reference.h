// SPDX-License-Identifier: Apache-2.0
// Which steps of a small program race: by all its interleavings, and by an explicit order.
#ifndef ADVANCE_STEP_TESTS_SANITIZER_RACE_REFERENCE_H_
#define ADVANCE_STEP_TESTS_SANITIZER_RACE_REFERENCE_H_

#include <set>
#include <utility>

#include "race_program.h"

namespace race {

// Sites, the lower one first: the place of a step, or kMostSteps and the place of a task in the
// model, whichever replay it is of.
using Pairs = std::set<std::pair<int, int>>;

// Whether an interleaving gets stuck: a wait that nothing ends.
bool MayHang(const Program& program);

// Pairs of tasks and steps that touch a common byte, one of them by a write, and run in both
// orders: in some interleaving the one first, in another one the other. Every reachable state is
// visited. A state is how far the thread and each stream have come.
Pairs RacesByInterleavings(const Program& program);

// The same by the transitive closure of the edges: order of the calls, call before task, order of a
// stream, record before wait, task before synchronisation. `cured` are races of the program that
// an order is given to, the one that was queued first before the other.
Pairs RacesByOrder(const Program& program, const Pairs& cured = {});

}  // namespace race

#endif  // ADVANCE_STEP_TESTS_SANITIZER_RACE_REFERENCE_H_
