// SPDX-License-Identifier: Apache-2.0
// The arguments of the two kernels, for the kernels in C and C++ and for the program.
#ifndef OWN_KERNEL_LOGITS_ARGUMENTS_H_
#define OWN_KERNEL_LOGITS_ARGUMENTS_H_

#include <stdint.h>

// [arguments]
/* Each member begins at a multiple of 8, as the parameters of an argument block do. */
struct LogitsArguments {
    float* logits;             /* [rows, tokens], device memory */
    const float* temperatures; /* [rows], device memory */
    int64_t rows;
    int64_t tokens;
};

enum LogitsFault { kBadTemperature = 1 };
// [/arguments]

#endif /* OWN_KERNEL_LOGITS_ARGUMENTS_H_ */
