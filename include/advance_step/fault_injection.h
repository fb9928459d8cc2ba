/// Faults on purpose: for tests of programs that must live with failing calls, and of this library.
/// The project's own interface; docs/fault_injection.md has an example.
///
/// Faults of allocations and launches belong to the thread that asks for them: they meet what that
/// thread does in later calls of the library, so the same program always meets the same fault. What
/// other threads do, the library's own included, is never met. Without faults the cost is one load
/// per allocation and launch.
///
/// What is injected is answered as the real thing would be: with the documented code and a message,
/// nothing is lost, and the next call works.
#ifndef ADVSTEP_ADVANCE_STEP_FAULT_INJECTION_H_
#define ADVSTEP_ADVANCE_STEP_FAULT_INJECTION_H_

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Kinds of allocations, to be or-ed.
typedef enum {
    ADVSTEP_ALLOCATION_INTERNAL = 1, /* the library's own memory, which it gets by operator new; not
                                        what the C++ library allocates inside */
    ADVSTEP_ALLOCATION_MEMORY = 2,   /* what the caller gets: device, pinned and physical memory,
                                        and reserved addresses */
    ADVSTEP_ALLOCATION_ANY = 3
} AdvStepAllocationKind;

/// Where a launch fails.
typedef enum {
    ADVSTEP_FAULT_AT_CALL = 0,  /* phase two refuses it: ACLNN_ERR_RUNTIME_ERROR with the code in the
                                   message; nothing is queued */
    ADVSTEP_FAULT_IN_STREAM = 1 /* it is queued and fails in its turn, before it writes: a
                                   synchronisation returns the code */
} AdvStepFaultPlace;

/// What the calling thread has done since it asked for faults, or for none.
typedef struct {
    uint64_t allocations;       /* of the kinds of advstepFailAllocations, since that call */
    uint64_t failedAllocations; /* of these, on purpose */
    uint64_t launches;          /* since advstepFailLaunch */
    uint64_t failedLaunches;    /* of these, on purpose */
} AdvStepFaultCounts;

/// Makes `count` allocations of the calling thread fail, from the `first` on; 1 is the next. They are
/// counted from here on, whether they fail or not. Takes the place of an earlier request. The call
/// that meets the fault returns ACL_ERROR_BAD_ALLOC (aclnn calls ACLNN_ERR_INNER, those that return
/// a pointer NULL) for an internal allocation, and ACL_ERROR_RT_MEMORY_ALLOCATION for memory.
/// @param[in] kinds  AdvStepAllocationKind
/// @param[in] first  0: none fails, they are only counted
/// @param[in] count  UINT64_MAX: from there on all of them
/// @retval ACL_ERROR_RT_PARAM_INVALID  kinds is none, or has unknown bits
ADVSTEP_API aclError advstepFailAllocations(uint32_t kinds, uint64_t first, uint64_t count);

/// Makes the n-th launch of an operator by the calling thread fail with a code; 1 is the next. Takes
/// the place of an earlier request. A launch that a capture records with its fault fails in every
/// replay. advstepReadCounters does not count it.
/// @param[in] n     0: none fails, they are only counted
/// @param[in] code  not 0, unless n is 0
/// @retval ACL_ERROR_RT_PARAM_INVALID  code is 0, or place is unknown
ADVSTEP_API aclError advstepFailLaunch(uint64_t n, aclError code, AdvStepFaultPlace place);

/// Queues a task that fails with a code: an asynchronous error that a synchronisation returns.
/// [context]
/// @param[in] stream  NULL: the default stream
/// @param[in] code    not 0
/// @retval ACL_ERROR_RT_PARAM_INVALID   code is 0
/// @retval ACL_ERROR_RT_INVALID_HANDLE  no live stream
/// @retval ACL_ERROR_RT_STREAM_CONTEXT  a stream of another context
ADVSTEP_API aclError advstepFailStream(aclrtStream stream, aclError code);

/// Queues a task that takes that long, like a slow kernel: nothing ends it before. [context]
/// @param[in] stream  NULL: the default stream
/// @retval ACL_ERROR_RT_INVALID_HANDLE  no live stream
/// @retval ACL_ERROR_RT_STREAM_CONTEXT  a stream of another context
ADVSTEP_API aclError advstepDelayStream(aclrtStream stream, uint64_t microseconds);

/// Holds the stream: what is queued later waits until advstepReleaseHold, aclrtStreamAbort or
/// aclrtDestroyStreamForce. Who waits for the stream waits as long. [context]
/// @param[in]  stream  NULL: the default stream
/// @param[out] hold    names the hold
/// @retval ACL_ERROR_INVALID_PARAM           hold is NULL
/// @retval ACL_ERROR_RT_INVALID_HANDLE       no live stream
/// @retval ACL_ERROR_RT_STREAM_CONTEXT       a stream of another context
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  the stream is captured: a replay could not be released
ADVSTEP_API aclError advstepHoldStream(aclrtStream stream, uint64_t* hold);

/// Lets the stream go on. May be called by any thread.
/// @retval ACL_ERROR_RT_PARAM_INVALID  no hold, or it has been released
ADVSTEP_API aclError advstepReleaseHold(uint64_t hold);

/// Takes back the faults that the calling thread asked for, with their counts, and releases all
/// holds of the process.
ADVSTEP_API aclError advstepClearFaults(void);

/// Reads the calling thread's counts.
/// @retval ACL_ERROR_INVALID_PARAM  counts is NULL
ADVSTEP_API aclError advstepReadFaultCounts(AdvStepFaultCounts* counts);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ADVANCE_STEP_FAULT_INJECTION_H_ */
