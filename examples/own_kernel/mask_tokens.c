// SPDX-License-Identifier: Apache-2.0
// A kernel in C: forbids the last token of each row.
#include <math.h>

#include "advance_step/kernel.h"
#include "logits_arguments.h"

ADVSTEP_KERNEL(mask_tokens) {
    const struct LogitsArguments* const a = (const struct LogitsArguments*)args;
    for (int64_t row = advstepBlockIndex(context); row < a->rows;
         row += advstepBlockCount(context)) {
        a->logits[(row + 1) * a->tokens - 1] = -INFINITY;
    }
}
