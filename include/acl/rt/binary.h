// SPDX-License-Identifier: Apache-2.0
/// Device binaries and their functions: kernels of the program's own. Rules for every call:
/// acl/acl_rt.h.
///
/// A device binary is a shared object for the host (advance_step/kernel.h). Binaries belong to the
/// process: every device runs their functions, and they live until aclrtBinaryUnLoad or the end of
/// the runtime, also when a device is reset. A handle of a function lives as long as its binary,
/// and a second look-up gives the same handle. These calls may be made while work runs.
#ifndef ADVSTEP_ACL_RT_BINARY_H_
#define ADVSTEP_ACL_RT_BINARY_H_

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ACL_RT_BINARY_MAGIC_ELF_AICORE 0x43554245U
#define ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE 0x41415246U
#define ACL_RT_BINARY_MAGIC_ELF_CUBE_CORE 0x41494343U

typedef enum {
    ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD = 1,
    ACL_RT_BINARY_LOAD_OPT_MAGIC = 2,
    ACL_RT_BINARY_LOAD_OPT_LAZY_MAGIC = 2, /* an old spelling */
    ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE = 3
} aclrtBinaryLoadOptionType;

/// The value of an option, by its type.
typedef union {
    uint32_t isLazyLoad;   /* 1: symbols that the binary needs are looked up when they are used */
    uint32_t magic;        /* the cores that the binary is for; unknown values mean AICORE */
    int32_t cpuKernelMode; /* 1: a .json beside the .so of its name; 2: of data, a CPU binary */
    uint32_t rsv[4];
} aclrtBinaryLoadOptionValue;

typedef struct {
    aclrtBinaryLoadOptionType type;
    aclrtBinaryLoadOptionValue value;
} aclrtBinaryLoadOption;

typedef struct {
    aclrtBinaryLoadOption* options;
    size_t numOpt;
} aclrtBinaryLoadOptions;

typedef enum {
    ACL_FUNC_ATTR_KERNEL_TYPE = 1,
    ACL_FUNC_ATTR_KERNEL_RATIO = 2,
    ACL_FUNC_ATTR_KERNEL_SCHED_MODE = 3
} aclrtFuncAttribute;

typedef enum {
    ACL_KERNEL_TYPE_AICORE = 0,
    ACL_KERNEL_TYPE_CUBE = 1,
    ACL_KERNEL_TYPE_VECTOR = 2,
    ACL_KERNEL_TYPE_MIX = 3,
    ACL_KERNEL_TYPE_AICPU = 100
} aclrtKernelType;

/// Loads a binary from a file. Constructors of the shared object run in this call. A file that is
/// loaded twice is one shared object with two handles. [context]
/// @param[in] options  may be null. The last option of a type counts, and unknown types are
///                     ignored
/// @retval ACL_ERROR_RT_PARAM_INVALID  the file cannot be read, is empty, is no shared object for
///                                     this machine, is cut off or needs a symbol that is missing;
///                                     options has no options array with numOpt > 0, or a
///                                     cpuKernelMode that is not 0, 1 or, for a file, is 2
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  cpuKernelMode is 0: there are no built-in CPU
/// operators
ADVSTEP_API aclError aclrtBinaryLoadFromFile(const char* binPath, aclrtBinaryLoadOptions* options,
                                             aclrtBinHandle* binHandle);

/// Loads a binary from memory, which is free when the call returns. Every call makes a shared
/// object of its own. [context]
/// @param[in] options  as aclrtBinaryLoadFromFile. cpuKernelMode 2 makes a binary of CPU kernels,
///                     whose functions aclrtRegisterCpuFunc adds
/// @retval ACL_ERROR_RT_PARAM_INVALID  length is 0, or as aclrtBinaryLoadFromFile
ADVSTEP_API aclError aclrtBinaryLoadFromData(const void* data, size_t length,
                                             const aclrtBinaryLoadOptions* options,
                                             aclrtBinHandle* binHandle);

/// Describes a binary in memory. Nothing is copied: data must live until aclrtBinaryLoad.
/// @return NULL if data is NULL or dataLen is 0, with a message
ADVSTEP_API aclrtBinary aclrtCreateBinary(const void* data, size_t dataLen);

/// Destroys the description. Binaries that were loaded with it stay.
ADVSTEP_API aclError aclrtDestroyBinary(aclrtBinary binary);

/// Loads a described binary. [context]
/// @retval ACL_ERROR_RT_PARAM_INVALID  as aclrtBinaryLoadFromData
ADVSTEP_API aclError aclrtBinaryLoad(const aclrtBinary binary, aclrtBinHandle* binHandle);

/// Unloads a binary. Its handle and those of its functions are unknown at once. Launches that are
/// queued still run: the shared object stays until all work that is queued now has ended, and a
/// later call of this header, or the end of the runtime, closes it then. A captured launch of it
/// fails when it is replayed later, with ACL_ERROR_RT_INVALID_HANDLE.
ADVSTEP_API aclError aclrtBinaryUnLoad(aclrtBinHandle binHandle);

/// Finds a function of the binary.
/// @retval ACL_ERROR_RT_PARAM_INVALID  the binary has no function of that name
ADVSTEP_API aclError aclrtBinaryGetFunction(const aclrtBinHandle binHandle, const char* kernelName,
                                            aclrtFuncHandle* funcHandle);

/// Finds a function by its number, which ADVSTEP_KERNEL_ENTRY of advance_step/kernel.h gives it.
/// @retval ACL_ERROR_RT_PARAM_INVALID  the binary has no function of that number
ADVSTEP_API aclError aclrtBinaryGetFunctionByEntry(aclrtBinHandle binHandle, uint64_t funcEntry,
                                                   aclrtFuncHandle* funcHandle);

/// Adds a function to a binary of CPU kernels. Its entry is `uint32_t funcName(void* args)`, and a
/// launch fails with ACL_ERROR_RT_AICPU_EXCEPTION if it returns another value than 0.
/// @param[in] funcName    the symbol of the entry
/// @param[in] kernelName  the name of the function, which may be in the binary already: the same
///                        entry gives the same handle again
/// @retval ACL_ERROR_RT_PARAM_INVALID  handle is no binary of cpuKernelMode 2, or has no such
///                                     symbol, or has another function of that kernelName
ADVSTEP_API aclError aclrtRegisterCpuFunc(const aclrtBinHandle handle, const char* funcName,
                                          const char* kernelName, aclrtFuncHandle* funcHandle);

/// Copies the name of a function, with a NUL.
/// @retval ACL_ERROR_RT_PARAM_INVALID  maxLen has no room for the name and the NUL
ADVSTEP_API aclError aclrtGetFunctionName(aclrtFuncHandle funcHandle, uint32_t maxLen, char* name);

/// Returns the address of a function: aicAddr always, aivAddr only for a binary of vector cores,
/// otherwise NULL.
/// @retval ACL_ERROR_RT_PARAM_INVALID  the function is a CPU kernel
ADVSTEP_API aclError aclrtGetFunctionAddr(aclrtFuncHandle funcHandle, void** aicAddr,
                                          void** aivAddr);

/// Returns an attribute of a function: its aclrtKernelType, by the magic of its binary; the ratio
/// of cores as two uint16_t, vector cores first; or the schedule mode, which is 0.
/// @retval ACL_ERROR_RT_PARAM_INVALID  attrType is not one of these
ADVSTEP_API aclError aclrtGetFunctionAttribute(aclrtFuncHandle funcHandle,
                                               aclrtFuncAttribute attrType, int64_t* attrValue);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_RT_BINARY_H_ */
