// SPDX-License-Identifier: Apache-2.0
/// Options of the process and of contexts, the handling of overflow, time limits of operators, and
/// cache operations. Rules for every call: acl/acl_rt.h.
///
/// The library keeps options, and calls can read them. They do not change the results of operators.
/// Options of the process have their defaults again after aclFinalize.
#ifndef ADVSTEP_ACL_RT_OPTIONS_H_
#define ADVSTEP_ACL_RT_OPTIONS_H_

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    ACL_OPT_DETERMINISTIC = 0,            /* 0 to 3 */
    ACL_OPT_ENABLE_DEBUG_KERNEL = 1,      /* 0 or 1 */
    ACL_OPT_STRONG_CONSISTENCY = 2,       /* 0 or 1 */
    ACL_OPT_ENABLE_KERNEL_EARLY_START = 3 /* 0 or 1; contexts do not have it */
} aclSysParamOpt;

typedef enum {
    ACL_RT_OVERFLOW_MODE_SATURATION = 0,
    ACL_RT_OVERFLOW_MODE_INFNAN = 1,
    ACL_RT_OVERFLOW_MODE_UNDEF = 2
} aclrtFloatOverflowMode;

typedef enum {
    ACL_RT_CMO_TYPE_PREFETCH = 0,
    ACL_RT_CMO_TYPE_WRITEBACK = 1,
    ACL_RT_CMO_TYPE_INVALID = 2,
    ACL_RT_CMO_TYPE_FLUSH = 3
} aclrtCmoType;

/// Returns an option of the process; 0 until it is set.
/// @retval ACL_ERROR_INVALID_PARAM  opt is no aclSysParamOpt; value is NULL
ADVSTEP_API aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t* value);

/// Sets an option of the process.
/// @retval ACL_ERROR_INVALID_PARAM     opt is no aclSysParamOpt
/// @retval ACL_ERROR_RT_PARAM_INVALID  value is out of the option's range
ADVSTEP_API aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value);

/// Returns an option of the current context. Options of contexts and of the process are
/// independent. [context]
/// @retval ACL_ERROR_INVALID_PARAM           opt is not one of the first three; value is NULL
/// @retval ACL_ERROR_RT_SYSPARAMOPT_NOT_SET  the context's option has not been set
ADVSTEP_API aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t* value);

/// Sets an option of the current context. [context]
/// @retval ACL_ERROR_INVALID_PARAM     opt is not one of the first three
/// @retval ACL_ERROR_RT_PARAM_INVALID  value is out of the option's range
ADVSTEP_API aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value);

/// Sets the way in which the process handles overflow: SATURATION or INFNAN.
/// @retval ACL_ERROR_RT_PARAM_INVALID  mode is neither SATURATION nor INFNAN
ADVSTEP_API aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode);

/// Returns the mode that was set last; INFNAN until one is set.
ADVSTEP_API aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode* mode);

/// Writes the overflow status in stream order. It is 64 bytes of 0, because no operator overflows.
/// [context]
/// @param[in] outputAddr  64 bytes of device memory or of pinned host memory
/// @param[in] outputSize  64
/// @retval ACL_ERROR_RT_PARAM_INVALID    outputSize or outputAddr is not as above
/// @retval ACL_ERROR_RT_STREAM_CAPTURED  the stream is being captured
ADVSTEP_API aclError aclrtGetOverflowStatus(void* outputAddr, size_t outputSize,
                                            aclrtStream stream);

/// Clears the overflow status in stream order: a task without an effect. [context]
/// @retval ACL_ERROR_RT_STREAM_CAPTURED  the stream is being captured
ADVSTEP_API aclError aclrtResetOverflowStatus(aclrtStream stream);

/// As aclrtGetOverflowStatus and aclrtResetOverflowStatus. checkMode has no effect.
ADVSTEP_API aclError aclrtGetFloatOverflowStatus(void* outputAddr, uint64_t outputSize,
                                                 aclrtStream stream);
ADVSTEP_API aclError aclrtResetFloatOverflowStatus(aclrtStream stream);
ADVSTEP_API aclError aclrtNpuGetFloatOverFlowStatus(void* outputAddr, uint64_t outputSize,
                                                    uint32_t checkMode, aclrtStream stream);
ADVSTEP_API aclError aclrtNpuClearFloatOverFlowStatus(uint32_t checkMode, aclrtStream stream);

/// Switches the overflow check of a stream on or off. The switch is the attribute
/// ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK. [context]
/// @param[in] flag  0 or 1, else ACL_ERROR_INVALID_PARAM
/// @retval ACL_ERROR_RT_STREAM_CAPTURED  the stream is being captured
ADVSTEP_API aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag);

/// Returns the switch; 0 until it is set. [context]
ADVSTEP_API aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t* flag);

/// Sets the time limit of operators, in seconds, milliseconds or microseconds. The limit is rounded
/// up to a multiple of aclrtGetOpTimeOutInterval; the greatest limit is 254 times that, and 0 means
/// the greatest limit, which is the default. It applies to later launches of the program's kernels
/// that have no timeout of their own, whose codes acl/rt/kernel_launch.h has, and of operators: one
/// that takes longer runs to its end, and then fails with ACL_ERROR_RT_VECTOR_CORE_TIMEOUT. The
/// operators of this library are far faster than the least limit.
ADVSTEP_API aclError aclrtSetOpExecuteTimeOut(uint32_t seconds);
ADVSTEP_API aclError aclrtSetOpExecuteTimeOutWithMs(uint32_t ms);
/// As aclrtSetOpExecuteTimeOut, in microseconds. [context]
/// @param[out] actualTimeout  the limit that is set, in microseconds
ADVSTEP_API aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeoutUs, uint64_t* actualTimeout);

/// Returns the unit of which time limits of operators are multiples, in microseconds. [context]
ADVSTEP_API aclError aclrtGetOpTimeOutInterval(uint64_t* interval);

/// Returns the time limit of operators in milliseconds. [context]
ADVSTEP_API aclError aclrtGetOpExecuteTimeout(uint32_t* const timeoutMs);

/// Queues a cache operation: a task in stream order without an effect. [context]
/// @retval ACL_ERROR_INVALID_PARAM           src is NULL; size is 0
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  cmoType is no aclrtCmoType
ADVSTEP_API aclError aclrtCmoAsync(void* src, size_t size, aclrtCmoType cmoType,
                                   aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif /* ADVSTEP_ACL_RT_OPTIONS_H_ */
