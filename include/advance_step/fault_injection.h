// SPDX-License-Identifier: Apache-2.0
/// Fault injection, for tests of this library and of programs that must handle failing calls. This
/// interface is the project's own; docs/fault_injection.md has an example.
///
/// Faults of allocations and launches belong to the thread that requests them. They affect only
/// later calls of that thread, so the same program always meets the same fault. Other threads,
/// including the library's own, are never affected. While no thread has requested a fault, each
/// allocation and each launch costs one load more.
///
/// An injected fault has the effects of a real one: the call returns the documented code with a
/// message, no resource is lost, and the next call works.
#ifndef ADVSTEP_ADVANCE_STEP_FAULT_INJECTION_H_
#define ADVSTEP_ADVANCE_STEP_FAULT_INJECTION_H_

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Kinds of allocations. Values may be or-ed.
typedef enum {
    ADVSTEP_ALLOCATION_INTERNAL = 1, /* the library's own memory from operator new; not the memory
                                        that the C++ library allocates inside itself */
    ADVSTEP_ALLOCATION_MEMORY = 2,   /* memory for the caller: device, pinned and physical memory,
                                        and reserved addresses */
    ADVSTEP_ALLOCATION_ANY = 3
} AdvStepAllocationKind;

/// The place where a launch fails.
typedef enum {
    ADVSTEP_FAULT_AT_CALL = 0,  /* phase two returns ACLNN_ERR_RUNTIME_ERROR, with the code in the
                                   message; nothing is queued */
    ADVSTEP_FAULT_IN_STREAM = 1 /* the launch is queued and fails when it runs, before it writes; a
                                   synchronisation returns the code */
} AdvStepFaultPlace;

/// Counts of the calling thread since its last request of the kind, or since advstepClearFaults.
typedef struct {
    uint64_t allocations;       /* since advstepFailAllocations, of the kinds in that call */
    uint64_t failedAllocations; /* the number of these that were made to fail */
    uint64_t launches;          /* since advstepFailLaunch */
    uint64_t failedLaunches;    /* the number of these that were made to fail */
} AdvStepFaultCounts;

/// Makes `count` allocations of the calling thread fail, starting with the `first`; 1 is the next
/// one. Every allocation of these kinds is counted from now on, whether it fails or not. The call
/// replaces an earlier request. If an internal allocation fails, the call that makes it returns
/// ACL_ERROR_BAD_ALLOC; an aclnn call returns ACLNN_ERR_INNER, and a call that returns a pointer
/// returns NULL. If an allocation of memory for the caller fails, the call returns
/// ACL_ERROR_RT_MEMORY_ALLOCATION.
/// @param[in] kinds  values of AdvStepAllocationKind, or-ed
/// @param[in] first  0: no allocation fails, and they are only counted
/// @param[in] count  UINT64_MAX: all from the `first` on fail
/// @retval ACL_ERROR_RT_PARAM_INVALID  kinds is 0, or has unknown bits
ADVSTEP_API aclError advstepFailAllocations(uint32_t kinds, uint64_t first, uint64_t count);

/// Makes the n-th launch of an operator by the calling thread fail with a code; 1 is the next one.
/// The call replaces an earlier request. A launch that a capture records with its fault fails in
/// every replay. advstepReadCounters does not count the failed launch.
/// @param[in] n     0: no launch fails, and they are only counted
/// @param[in] code  not 0, unless n is 0
/// @retval ACL_ERROR_RT_PARAM_INVALID  code is 0, or place is unknown
ADVSTEP_API aclError advstepFailLaunch(uint64_t n, aclError code, AdvStepFaultPlace place);

/// Queues a task that fails with a code. A synchronisation returns the code. [context]
/// @param[in] stream  NULL: the default stream
/// @param[in] code    not 0
/// @retval ACL_ERROR_RT_PARAM_INVALID   code is 0
/// @retval ACL_ERROR_RT_INVALID_HANDLE  stream is not a live stream
/// @retval ACL_ERROR_RT_STREAM_CONTEXT  the stream belongs to another context
ADVSTEP_API aclError advstepFailStream(aclrtStream stream, aclError code);

/// Queues a task that takes the given time, like a slow kernel. No call ends it earlier. [context]
/// @param[in] stream  NULL: the default stream
/// @retval ACL_ERROR_RT_INVALID_HANDLE  stream is not a live stream
/// @retval ACL_ERROR_RT_STREAM_CONTEXT  the stream belongs to another context
ADVSTEP_API aclError advstepDelayStream(aclrtStream stream, uint64_t microseconds);

/// Holds the stream: work that is queued later does not run before advstepReleaseHold,
/// aclrtStreamAbort or aclrtDestroyStreamForce. Calls that wait for the stream also wait until
/// then. [context]
/// @param[in]  stream  NULL: the default stream
/// @param[out] hold    the number of the hold, for advstepReleaseHold
/// @retval ACL_ERROR_INVALID_PARAM           hold is NULL
/// @retval ACL_ERROR_RT_INVALID_HANDLE       stream is not a live stream
/// @retval ACL_ERROR_RT_STREAM_CONTEXT       the stream belongs to another context
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  the stream is being captured: a replay of a hold could
///                                           not be released
ADVSTEP_API aclError advstepHoldStream(aclrtStream stream, uint64_t* hold);

/// Releases a hold, so that the stream continues. Any thread may make this call.
/// @retval ACL_ERROR_RT_PARAM_INVALID  there is no such hold, or it has been released
ADVSTEP_API aclError advstepReleaseHold(uint64_t hold);

/// Removes the faults that the calling thread requested, sets its counts to 0, and releases all
/// holds of the process.
ADVSTEP_API aclError advstepClearFaults(void);

/// Reads the calling thread's counts.
/// @retval ACL_ERROR_INVALID_PARAM  counts is NULL
ADVSTEP_API aclError advstepReadFaultCounts(AdvStepFaultCounts* counts);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ADVANCE_STEP_FAULT_INJECTION_H_ */
