// SPDX-License-Identifier: Apache-2.0
/// Host operators: work of the program that a stream runs as if it were a kernel. Unlike a function
/// of aclrtLaunchHostFunc, a host operator has a name, may fail, and owns its arguments. This
/// interface is the project's own; torch's operators run through it (docs/torch_npu.md).
#ifndef ADVSTEP_ADVANCE_STEP_HOST_OPERATOR_H_
#define ADVSTEP_ADVANCE_STEP_HOST_OPERATOR_H_

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Does the work, on any thread, in the default floating-point environment. Like a host function,
/// it must not wait for the device.
/// @param[out] message      room for the reason of a failure, a text that ends with 0
/// @param[in]  messageSize  the size of message in bytes
/// @return 0, or the code with which the task fails
typedef int32_t (*AdvStepRunHostOperator)(void* args, char* message, size_t messageSize);

/// Releases the arguments, on any thread. It may call no function of this library.
typedef void (*AdvStepReleaseHostOperator)(void* args);

/// How the operator uses a range: these are added to its bytes. A range without them is read and
/// written.
#define ADVSTEP_RANGE_READ \
    (UINT64_C(1) << 63) /* it is read, and not written unless that is added */
#define ADVSTEP_RANGE_WRITTEN \
    (UINT64_C(1) << 62) /* it is written, and not read unless that is added */
#define ADVSTEP_RANGE_PARTLY (UINT64_C(1) << 61) /* of some of its bytes, which are not told */

/// Device memory that the operator uses.
typedef struct {
    const void* address;
    uint64_t bytes; /* and how they are used: ADVSTEP_RANGE_* */
} AdvStepMemoryRange;

typedef struct {
    const char* name; /* in messages and in the trace; the text must live as long as the process */
    AdvStepRunHostOperator run;
    AdvStepReleaseHostOperator release; /* NULL: there is nothing to release */
    void* args;                         /* the argument of run and release */
    const AdvStepMemoryRange* ranges;   /* the memory that run uses: a replay checks that it is
                                           still device memory; NULL if rangeCount is 0 */
    uint64_t rangeCount;
} AdvStepHostOperator;

/// Queues a host operator. A capture records it, and each replay runs it. The arguments are
/// released exactly once: after the run, when the operator is skipped (because the stream was
/// aborted or has stopped), when the model that recorded it is destroyed, or before this call
/// returns an error. A failure has the message "<name>: <message>". [context]
/// @param[in] stream     NULL: the default stream
/// @param[in] operation  the operator, which the call copies, except the text of its name
/// @retval ACL_ERROR_INVALID_PARAM           operation, its name or its run is NULL, or ranges is
///                                           NULL and rangeCount is not 0
/// @retval ACL_ERROR_RT_INVALID_HANDLE       stream is not a live stream
/// @retval ACL_ERROR_RT_STREAM_CONTEXT       the stream belongs to another context
/// @retval ACL_ERROR_STREAM_TASK_GROUP_INTR  a task group is open on the stream
ADVSTEP_API aclError advstepLaunchHostOperator(aclrtStream stream,
                                               const AdvStepHostOperator* operation);

/// As advstepLaunchHostOperator, for an operator that takes a few us and never blocks, neither on a
/// lock that is held for long nor on another process. The call wakes no worker thread: a thread
/// that waits for the stream runs the operator, or a worker that finds it within about 150 us.
/// [context]
/// @param[in] stream     as advstepLaunchHostOperator
/// @param[in] operation  as advstepLaunchHostOperator
/// @retval ACL_ERROR_INVALID_PARAM           as advstepLaunchHostOperator
/// @retval ACL_ERROR_RT_INVALID_HANDLE       stream is not a live stream
/// @retval ACL_ERROR_RT_STREAM_CONTEXT       the stream belongs to another context
/// @retval ACL_ERROR_STREAM_TASK_GROUP_INTR  a task group is open on the stream
ADVSTEP_API aclError advstepLaunchShortHostOperator(aclrtStream stream,
                                                    const AdvStepHostOperator* operation);

/// Fills memory with zeros at once, as memset, for the run of a host operator that clears a large
/// range: in memory of a device, pages that nobody has written stay untouched (from 2 MiB on), and
/// pages are given back to the host (from 64 MiB on). The memory may be any that the program may
/// write; the sanitizer knows it by the operator's ranges.
/// @param[in] address  of the first byte
/// @param[in] bytes    to fill; 0: nothing happens
/// @retval ACL_ERROR_INVALID_PARAM  address is NULL, and bytes is not 0
ADVSTEP_API aclError advstepZeroMemory(void* address, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif /* ADVSTEP_ADVANCE_STEP_HOST_OPERATOR_H_ */
