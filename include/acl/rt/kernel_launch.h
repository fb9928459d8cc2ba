// SPDX-License-Identifier: Apache-2.0
/// Launches of kernels that the program brings. Rules for every call: acl/acl_rt.h.
///
/// A launch runs a function once for each of its blocks, in stream order. The blocks are shared
/// among the simulated cores: as many run at a time as the launch has cores. The cores are those
/// that the calling thread may use (acl/rt/resource_limit.h): vector cores, or cube cores for a
/// binary of cube cores. There may be more blocks than cores. A launch that runs fails with
///   - ACL_ERROR_RT_VECTOR_CORE_EXCEPTION if a block reports a data fault or throws an exception;
///     ACL_ERROR_RT_AICORE_EXCEPTION for a binary of cube cores or engineType
///     ACL_RT_ENGINE_TYPE_AIC; ACL_ERROR_RT_AICPU_EXCEPTION for a CPU kernel
///   - ACL_ERROR_RT_VECTOR_CORE_TIMEOUT, or ACL_ERROR_RT_AICORE_TIMEOUT likewise, if it has taken
///     longer than its timeout. The timeout does not end it early.
/// A synchronisation reports the failure. A captured launch keeps a copy of arguments in host
/// memory; arguments in device memory are read in each replay. A kernel that crashes ends the
/// process, after a line on standard error with its name and block.
#ifndef ADVSTEP_ACL_RT_KERNEL_LAUNCH_H_
#define ADVSTEP_ACL_RT_KERNEL_LAUNCH_H_

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { ACL_RT_ENGINE_TYPE_AIC = 0, ACL_RT_ENGINE_TYPE_AIV = 1 } aclrtEngineType;

typedef enum {
    ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE = 1,
    ACL_RT_LAUNCH_KERNEL_ATTR_DYN_UBUF_SIZE = 2,
    ACL_RT_LAUNCH_KERNEL_ATTR_LOCAL_MEMORY_SIZE = 2,
    ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE = 3,
    ACL_RT_LAUNCH_KERNEL_ATTR_BLOCKDIM_OFFSET = 4,
    ACL_RT_LAUNCH_KERNEL_ATTR_BLOCK_TASK_PREFETCH = 5,
    ACL_RT_LAUNCH_KERNEL_ATTR_DATA_DUMP = 6,
    ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT = 7,
    ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US = 8,
    ACL_RT_LAUNCH_KERNEL_ATTR_ENABLE_PROFILING = 9
} aclrtLaunchKernelAttrId;

typedef struct {
    uint32_t timeoutLow;
    uint32_t timeoutHigh;
} aclrtTimeoutUs;

/// The value of an attribute, by its id.
typedef union {
    uint8_t schemMode; /* 0: blocks run as cores come free; 1: all at once, so one core for each */
    uint32_t localMemorySize;    /* no effect */
    uint32_t dynUBufSize;        /* no effect */
    aclrtEngineType engineType;  /* the kind of core whose codes a failure has */
    uint32_t blockDimOffset;     /* no effect */
    uint8_t isBlockTaskPrefetch; /* 0 or 1; no effect */
    uint8_t isDataDump;          /* 0 or 1; no effect */
    uint16_t timeout;            /* seconds; 0: none */
    aclrtTimeoutUs timeoutUs;    /* microseconds; 0: none */
    uint8_t enableProfiling;     /* 0 or 1; no effect */
    uint32_t rsv[4];
} aclrtLaunchKernelAttrValue;

typedef struct {
    aclrtLaunchKernelAttrId id;
    aclrtLaunchKernelAttrValue value;
} aclrtLaunchKernelAttr;

/// Attributes of a launch. The last one of an id counts, and unknown ids are ignored.
typedef struct {
    aclrtLaunchKernelAttr* attrs;
    size_t numAttrs;
} aclrtLaunchKernelCfg;

/// A place in hostArgs for an address: the kernel finds at addrOffset the address of the byte at
/// dataOffset. Both are in bytes.
typedef struct {
    uint32_t addrOffset;
    uint32_t dataOffset;
} aclrtPlaceHolderInfo;

/// Launches a kernel whose arguments are in device memory. The kernel reads them when it runs; the
/// program must not change them before. [context]
/// @param[in] numBlocks  1 to 65535
/// @param[in] argsData   argsSize bytes of device memory; the kernel's args
/// @param[in] argsSize   >= 1
/// @retval ACL_ERROR_RT_PARAM_INVALID  numBlocks or argsSize is not as above; argsData is not
///                                     memory of the stream's device, or is not inside one
///                                     allocation
ADVSTEP_API aclError aclrtLaunchKernel(aclrtFuncHandle funcHandle, uint32_t numBlocks,
                                       const void* argsData, size_t argsSize, aclrtStream stream);

/// As aclrtLaunchKernel, with attributes. [context]
/// @param[in] cfg  may be null
/// @retval ACL_ERROR_RT_PARAM_INVALID  as aclrtLaunchKernel; cfg has no attrs with numAttrs above
///                                     0; cfg has both timeouts; schemMode or a value that is 0 or
///                                     1 is above 1; engineType is unknown; schemMode is 1, and
///                                     there are more blocks than cores
ADVSTEP_API aclError aclrtLaunchKernelV2(aclrtFuncHandle funcHandle, uint32_t numBlocks,
                                         const void* argsData, size_t argsSize,
                                         aclrtLaunchKernelCfg* cfg, aclrtStream stream);

/// Launches a kernel with a copy of a block of acl/rt/kernel_args.h. [context]
/// @param[in] cfg      as aclrtLaunchKernelV2
/// @param[in] reserve  NULL
/// @retval ACL_ERROR_INVALID_PARAM     numBlocks is 0; reserve is not NULL
/// @retval ACL_ERROR_RT_PARAM_INVALID  as aclrtLaunchKernelV2; the block is not finalized, or was
///                                     made for another function
ADVSTEP_API aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle funcHandle, uint32_t numBlocks,
                                                 aclrtStream stream, aclrtLaunchKernelCfg* cfg,
                                                 aclrtArgsHandle argsHandle, void* reserve);

/// Launches a kernel with a copy of arguments in host memory. [context]
/// @param[in] cfg               as aclrtLaunchKernelV2
/// @param[in] hostArgs          argsSize bytes: parameters and data
/// @param[in] argsSize          1 to 65536
/// @param[in] placeHolderArray  placeHolderNum entries; may be null if that is 0
/// @param[in] placeHolderNum    at most 128
/// @retval ACL_ERROR_RT_PARAM_INVALID  as aclrtLaunchKernelV2; argsSize or placeHolderNum is not as
///                                     above; addrOffset + 8 is above argsSize; dataOffset is not
///                                     below argsSize
ADVSTEP_API aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle funcHandle, uint32_t numBlocks,
                                                   aclrtStream stream, aclrtLaunchKernelCfg* cfg,
                                                   void* hostArgs, size_t argsSize,
                                                   aclrtPlaceHolderInfo* placeHolderArray,
                                                   size_t placeHolderNum);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_RT_KERNEL_LAUNCH_H_ */
