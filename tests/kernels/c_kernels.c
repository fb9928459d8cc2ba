// SPDX-License-Identifier: Apache-2.0
// A kernel in C, and a destructor of the binary with a cancellation point.
#include <pthread.h>

#include "advance_step/kernel.h"
#include "support/kernel_arguments.h"

ADVSTEP_KERNEL(c_add) {
    const struct RowArguments* const a = (const struct RowArguments*)args;
    for (int64_t row = advstepBlockIndex(context); row < a->count;
         row += advstepBlockCount(context)) {
        a->values[row] += a->number;
    }
}

__attribute__((destructor)) static void End(void) { pthread_testcancel(); }
