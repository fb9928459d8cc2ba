// SPDX-License-Identifier: Apache-2.0
/// A checker for the state that Step keeps, for tests and for the debugging of a scheduler. This
/// interface is the project's own.
#ifndef ADVSTEP_ADVANCE_STEP_KV_INVARIANTS_H_
#define ADVSTEP_ADVANCE_STEP_KV_INVARIANTS_H_

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Host copies of Step's tensors between two calls. aclnnop/aclnn_step.h describes the tensors.
typedef struct {
    int64_t batch;        /* B: slots in the batch */
    int64_t tableWidth;   /* W: columns of blockTables */
    int64_t freeCapacity; /* F: entries of freeList */
    int64_t blockSize;    /* tokens per block; >= 1 */
    int32_t firstBlock;   /* the pool of dynamic blocks has the ids from firstBlock on */
    int32_t blockCount;   /* blocks of the pool */
    const bool* stopFlags;            /* [B] or more */
    const int32_t* seqLensThisTime;   /* [B] */
    const int32_t* seqLensDecoder;    /* [B] */
    const int32_t* blockTables;       /* [B, W] */
    const int32_t* encoderBlockLens;  /* [B] */
    const bool* isBlockStep;          /* [B] */
    const int32_t* stepBlockList;     /* [B] */
    int32_t stepLens;
    const int32_t* usedListLen; /* [B] */
    const int32_t* freeList;    /* [F] */
    int32_t freeListLen;
} AdvStepKvState;

/// Checks these invariants in this order and reports the first violation:
///   1. freeListLen, stepLens and usedListLen are in their ranges, and dynamic columns are inside
///      the row.
///   2. The stack holds every preempted slot once, and nothing else.
///   3. Preempted slots own no dynamic block: their dynamic columns are -1.
///   4. Every block of the pool is exactly once on the free list or in a dynamic column of a slot
///      that is not preempted, and no other id is there.
///   5. Running slots, which are fed (seqLensThisTime is not 0) and not stopped, have their blocks:
///      every column up to that of the last cached token has one.
///
/// @param[in]  state          all pointers are set; pointers to 0 elements may be NULL
/// @param[out] violation      text of the first violation, cut to violationSize; "" if there is
///                            none; may be NULL
/// @param[in]  violationSize  bytes at violation
/// @retval ACL_SUCCESS              there is no violation
/// @retval ACL_ERROR_INVALID_PARAM  state or a pointer in it is NULL; a dim or blockCount is
///                                  negative; blockSize is below 1
/// @retval ACL_ERROR_FAILURE        there is a violation; aclGetRecentErrMsg() returns the text too
ADVSTEP_API aclError advstepCheckKvInvariants(const AdvStepKvState* state, char* violation,
                                              size_t violationSize);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ADVANCE_STEP_KV_INVARIANTS_H_ */
