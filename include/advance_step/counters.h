// SPDX-License-Identifier: Apache-2.0
/// Counters of the operators' work on a device. This interface is the project's own.
#ifndef ADVSTEP_ADVANCE_STEP_COUNTERS_H_
#define ADVSTEP_ADVANCE_STEP_COUNTERS_H_

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The members from `advanced` to `recovered` are the sums of the operators' counters with these
/// names. An operator of another library may have counters of the same names, which add to them.
///
/// The counts start when the device is first set. The end of the device's last use
/// (aclrtResetDevice, aclFinalize) and advstepResetCounters set them to 0. A synchronisation that
/// waits for a launch returns after the launch is counted.
typedef struct {
    uint64_t launches;   /* launches of operators and kernels that ran, failed ones too */
    uint64_t advanced;   /* AdvanceStep and its kin: queries moved forward */
    uint64_t padded;     /* AdvanceStep and its kin: padding rows blanked */
    uint64_t released;   /* Step: finished slots whose blocks were freed */
    uint64_t needed;     /* Step: slots that needed a block for their next token */
    uint64_t preempted;  /* Step: slots preempted */
    uint64_t dispatched; /* Step: blocks given to slots that needed one */
    uint64_t recovered;  /* Step: slots recovered */
    uint64_t noProgress; /* launches that ended with ACL_ERROR_RT_RESOURCE_ALLOC_FAIL */
    uint64_t dataErrors; /* launches that ended with ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, or
                            with another exception of a kernel of the program */
} AdvStepCounters;

/// Reads the counters of a device. Launches that are still queued are not counted.
/// @retval ACL_ERROR_INVALID_PARAM        counters is NULL
/// @retval ACL_ERROR_RT_INVALID_DEVICEID  deviceId is not in [0, device count)
ADVSTEP_API aclError advstepReadCounters(int32_t deviceId, AdvStepCounters* counters);

/// Reads one counter of a device by its name: a member of AdvStepCounters, "stalled", or a counter
/// of an operator of another library that has run in this process. "stalled" counts the launches of
/// Step that left slots waiting for recovery while no slot generates: nothing changes any more
/// until the host stops a slot, or puts more blocks on the free list.
/// @retval ACL_ERROR_INVALID_PARAM        name or value is NULL, or there is no such counter
/// @retval ACL_ERROR_RT_INVALID_DEVICEID  deviceId is not in [0, device count)
ADVSTEP_API aclError advstepReadCounter(int32_t deviceId, const char* name, uint64_t* value);

/// Sets the counters of a device to 0.
/// @retval ACL_ERROR_RT_INVALID_DEVICEID  deviceId is not in [0, device count)
ADVSTEP_API aclError advstepResetCounters(int32_t deviceId);

#ifdef __cplusplus
}
#endif

#endif /* ADVSTEP_ADVANCE_STEP_COUNTERS_H_ */
