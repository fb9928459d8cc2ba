// SPDX-License-Identifier: Apache-2.0
// The program's own operator new, which knows nothing of the library: it counts, and fails.
#ifndef ADVANCE_STEP_TESTS_FAULTS_COUNTED_ALLOCATIONS_H_
#define ADVANCE_STEP_TESTS_FAULTS_COUNTED_ALLOCATIONS_H_

#include <cstdint>

namespace faults {

// Uses of operator new by the calling thread, wherever they are.
uint64_t AllocationsOfThread();

// Of the calling thread's next uses, `count` fail from the n-th on; n 0: none.
void FailAllocationsOfThread(uint64_t n, uint64_t count);
// How many have since.
uint64_t FailedAllocationsOfThread();

}  // namespace faults

#endif  // ADVANCE_STEP_TESTS_FAULTS_COUNTED_ALLOCATIONS_H_
