// SPDX-License-Identifier: Apache-2.0
/// The sanitizer's interface for pools of memory and for interpreters. This interface is the
/// project's own; docs/runtime.md has the settings of the sanitizer.
///
/// A program that cuts blocks out of one allocation tells the sanitizer which bytes are in use, so
/// that a block of the pool is to it what an allocation is. Memory is in use until it is poisoned.
/// Without ADVANCE_STEP_SANITIZE the calls check their arguments and do nothing else.
#ifndef ADVSTEP_ADVANCE_STEP_SANITIZER_H_
#define ADVSTEP_ADVANCE_STEP_SANITIZER_H_

#include <stddef.h>

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Marks bytes that nothing may use, as those of a block that the pool has taken back. With the
/// check "memory", queued or running work that uses them is a finding of kind freed_in_use, and
/// work that is queued later is one of kind poisoned. The bytes stay as they are. The end of the
/// allocation ends the marks.
/// @param[in] address  in device, pinned or registered memory
/// @param[in] bytes    0 marks nothing
/// @retval ACL_ERROR_RT_PARAM_INVALID  address is null, or the bytes are not inside one allocation
ADVSTEP_API aclError advstepPoisonMemory(const void* address, uint64_t bytes);

/// Takes the marks away: the bytes may be used again.
/// @param[in] address  as advstepPoisonMemory
/// @param[in] bytes    as advstepPoisonMemory
/// @retval ACL_ERROR_RT_PARAM_INVALID  as advstepPoisonMemory
ADVSTEP_API aclError advstepUnpoisonMemory(const void* address, uint64_t bytes);

/// Writes the frames of the interpreter that the calling thread is in, innermost first: lines such
/// as "train.py:12 in step", with an end of line between two. Another text is cut. It is called in
/// any thread and under locks of the library, so it must not wait for a lock, nor call the library.
/// @param[out] text  gets the lines, without a null at the end
/// @param[in] room   how many characters there is room for
/// @return how many characters it has written; 0: the thread is in no frame of the interpreter
typedef size_t (*AdvStepScriptFrames)(char* text, size_t room);

/// Makes call stacks show the lines of a program in another language, as Python, in the place of
/// the interpreter's own frames: those of findings, leaks, reports of hangs and crashes. The
/// package advance_step calls it under torch_npu. A later call replaces the function.
/// @param[in] frames  null: call stacks have no such lines from now on. Another thread may be in
///                    the earlier function when the call returns
ADVSTEP_API aclError advstepSetScriptFrames(AdvStepScriptFrames frames);

#ifdef __cplusplus
}
#endif

#endif /* ADVSTEP_ADVANCE_STEP_SANITIZER_H_ */
