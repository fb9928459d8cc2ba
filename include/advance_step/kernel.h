// SPDX-License-Identifier: Apache-2.0
/// The interface of kernels that a program brings: docs/your_kernel.md shows one. This interface is
/// the project's own.
///
/// A device binary is a shared object for the host. It needs this header and no library. Each of
/// its kernels is a function
///
///     ADVSTEP_KERNEL(NAME) {
///         const struct Arguments* const a = (const struct Arguments*)args;
///         ...
///     }
///
/// with the parameters `AdvstepKernelContext* context` and `const void* args`. A launch calls it
/// once for each block. aclrtBinaryGetFunction finds it by NAME. acl/rt/kernel_args.h describes the
/// memory at args.
///
/// Blocks run in any order, and several at a time on different threads. A block writes only memory
/// that no other block of the launch reads or writes, and does not wait for another block, so that
/// the result does not depend on the order. A kernel runs in the default floating-point environment
/// and makes no call of acl or aclnn. C99 and C++11.
#ifndef ADVSTEP_ADVANCE_STEP_KERNEL_H_
#define ADVSTEP_ADVANCE_STEP_KERNEL_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The greatest number of values that a data fault has.
#define ADVSTEP_KERNEL_FAULT_VALUES 4

typedef struct AdvstepKernelContext AdvstepKernelContext;

/// The properties of a launch for one block. They are valid until the kernel returns. Kernels read
/// them by the functions below. Later versions add members at the end.
struct AdvstepKernelContext {
    uint32_t blockIndex; /* the block's number, 0 to blockCount - 1 */
    uint32_t blockCount; /* the blocks of the launch */
    /// The function that advstepReportFault calls.
    void (*reportFault)(AdvstepKernelContext* context, int64_t row, int32_t kind,
                        const int64_t* values, uint32_t valueCount);
};

/// The entry of a kernel.
typedef void (*AdvstepKernel)(AdvstepKernelContext* context, const void* args);

/// Returns the block's number, from 0 to advstepBlockCount - 1.
static inline uint32_t advstepBlockIndex(const AdvstepKernelContext* context) {
    return context->blockIndex;
}

/// Returns the number of blocks of the launch.
static inline uint32_t advstepBlockCount(const AdvstepKernelContext* context) {
    return context->blockCount;
}

/// Reports data that the kernel cannot process. The launch then fails, and a synchronisation
/// returns ACL_ERROR_RT_VECTOR_CORE_EXCEPTION (ACL_ERROR_RT_AICORE_EXCEPTION for a binary of cube
/// cores). The message contains the kernel's name and these arguments. If there are several faults,
/// it describes the one of the lowest row, and among those the first one of the lowest block. A
/// report ends neither the kernel nor the other blocks.
/// @param[in] row         the row of the data, 0-based; negative: the fault belongs to no row, and
///                        counts as lower than all rows
/// @param[in] kind        a number of the kernel's choice
/// @param[in] values      valueCount numbers of the kernel's choice; may be null if that is 0
/// @param[in] valueCount  values after the first ADVSTEP_KERNEL_FAULT_VALUES are dropped
static inline void advstepReportFault(AdvstepKernelContext* context, int64_t row, int32_t kind,
                                      const int64_t* values, uint32_t valueCount) {
    context->reportFault(context, row, kind, values, valueCount);
}

#ifdef __cplusplus
}
#define ADVSTEP_KERNEL_LINKAGE extern "C"
#else
#define ADVSTEP_KERNEL_LINKAGE extern
#endif

#if defined(__GNUC__)
#define ADVSTEP_KERNEL_EXPORT __attribute__((visibility("default")))
#define ADVSTEP_KERNEL_UNUSED __attribute__((unused))
#else
#define ADVSTEP_KERNEL_EXPORT
#define ADVSTEP_KERNEL_UNUSED
#endif

/// Begins the definition of a kernel, in C and in C++, whatever the visibility of the other
/// symbols.
#define ADVSTEP_KERNEL(NAME)                                                              \
    ADVSTEP_KERNEL_LINKAGE ADVSTEP_KERNEL_EXPORT void NAME(AdvstepKernelContext* context, \
                                                           const void* args);             \
    void NAME(AdvstepKernelContext* context ADVSTEP_KERNEL_UNUSED,                        \
              const void* args ADVSTEP_KERNEL_UNUSED)

/// Gives a kernel the number by which aclrtBinaryGetFunctionByEntry finds it:
/// ADVSTEP_KERNEL_ENTRY(7, NAME). The number is a decimal constant without suffix.
#define ADVSTEP_KERNEL_ENTRY(NUMBER, NAME)                  \
    ADVSTEP_KERNEL_LINKAGE ADVSTEP_KERNEL_EXPORT const char \
        advstepKernelEntry_##NUMBER[sizeof(#NAME)];         \
    const char advstepKernelEntry_##NUMBER[sizeof(#NAME)] = #NAME

#endif  /* ADVSTEP_ADVANCE_STEP_KERNEL_H_ */
