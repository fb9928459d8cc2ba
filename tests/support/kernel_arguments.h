// SPDX-License-Identifier: Apache-2.0
// The arguments of the kernels of the tests, for both sides.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_KERNEL_ARGUMENTS_H_
#define ADVANCE_STEP_TESTS_SUPPORT_KERNEL_ARGUMENTS_H_

#include <stdint.h>

/* count values, which the blocks share among themselves. */
struct RowArguments {
    int64_t* values;
    int64_t count;
    int64_t number;
};

/* Words that the test and the kernel share. */
struct GateArguments {
    volatile int64_t* entered; /* the kernel adds 1 */
    volatile int64_t* opened;  /* the kernel waits until it is not 0 */
};

/* What a kernel calls. */
struct CallArguments {
    volatile int64_t* entered; /* each block adds 1 */
    void (*function)(void* argument, uint32_t block);
    void* argument;
};

/* 8 bytes, then an int32_t right after them in a packed block. */
struct PlaceArguments {
    int64_t* out;
    const int32_t* data;
    int64_t count;
};

enum Crash { kCrashNull, kCrashDivide, kCrashIllegal, kCrashAbort, kCrashStack, kCrashRaise };

#endif /* ADVANCE_STEP_TESTS_SUPPORT_KERNEL_ARGUMENTS_H_ */
