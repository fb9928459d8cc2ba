// SPDX-License-Identifier: Apache-2.0
// A kernel in C++: divides each row of logits by its temperature.
#include <cmath>

#include "advance_step/kernel.h"
#include "logits_arguments.h"

// [kernel]
// A block takes every blockCount-th row, and writes no other.
ADVSTEP_KERNEL(scale_logits) {
    const auto& a = *static_cast<const LogitsArguments*>(args);
    const uint32_t step = advstepBlockCount(context);
    for (int64_t row = advstepBlockIndex(context); row < a.rows; row += step) {
        const float temperature = a.temperatures[row];
        if (!(temperature > 0)) {
            const int64_t thousandths = std::llround(temperature * 1000);
            advstepReportFault(context, row, kBadTemperature, &thousandths, 1);
            continue;
        }
        for (int64_t token = 0; token < a.tokens; ++token) {
            a.logits[row * a.tokens + token] /= temperature;
        }
    }
}
// [/kernel]
