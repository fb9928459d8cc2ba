/// What the operators have done on a device so far. The project's own interface.
#ifndef ADVSTEP_ADVANCE_STEP_COUNTERS_H_
#define ADVSTEP_ADVANCE_STEP_COUNTERS_H_

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Counts since the device was first set, last reset (aclrtResetDevice to 0 uses, aclFinalize) or
/// last given to advstepResetCounters. A launch is counted when a synchronisation has covered it.
typedef struct {
    uint64_t launches;   /* operator launches that ran, failed ones included */
    uint64_t advanced;   /* AdvanceStep and its kin: queries moved forward */
    uint64_t padded;     /* AdvanceStep and its kin: padding rows blanked */
    uint64_t released;   /* Step: finished slots that gave blocks back */
    uint64_t needed;     /* Step: entries of the need list */
    uint64_t preempted;  /* Step: slots preempted */
    uint64_t dispatched; /* Step: blocks handed to slots that needed one */
    uint64_t recovered;  /* Step: slots recovered */
    uint64_t noProgress; /* launches that ended with ACL_ERROR_RT_RESOURCE_ALLOC_FAIL */
    uint64_t dataErrors; /* launches that ended with ACL_ERROR_RT_VECTOR_CORE_EXCEPTION */
} AdvStepCounters;

/// Reads the counters of a device; launches still queued are not in them.
/// @retval ACL_ERROR_INVALID_PARAM        counters is NULL
/// @retval ACL_ERROR_RT_INVALID_DEVICEID  deviceId is not in [0, device count)
ADVSTEP_API aclError advstepReadCounters(int32_t deviceId, AdvStepCounters* counters);

/// Sets the counters of a device to 0.
/// @retval ACL_ERROR_RT_INVALID_DEVICEID  deviceId is not in [0, device count)
ADVSTEP_API aclError advstepResetCounters(int32_t deviceId);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ADVANCE_STEP_COUNTERS_H_ */
