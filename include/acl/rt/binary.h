// SPDX-License-Identifier: Apache-2.0
/// Device binaries and their functions, which are kernels that the program brings. Rules for every
/// call: acl/acl_rt.h.
///
/// A device binary is a shared object for the host (advance_step/kernel.h). Binaries belong to the
/// process: every device runs their functions, and they live until aclrtBinaryUnLoad or the end of
/// the runtime. The reset of a device does not end them. A handle of a function lives as long as
/// its binary, and a second look-up returns the same handle. These calls may be made while work
/// runs.
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
    int32_t cpuKernelMode; /* CPU kernels: 1 from a .json file beside its .so, 2 from data */
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
/// loaded twice is one shared object with two handles. A file that has replaced another one at
/// binPath is an object of its own. [context]
/// @param[in] binPath  the shared object; with cpuKernelMode 1 the .json file beside the .so of the
///                     same name, which is loaded
/// @param[in] options  may be null. The last option of a type counts, and unknown types are
///                     ignored
/// @retval ACL_ERROR_RT_PARAM_INVALID        the file cannot be read, is empty, is no shared object
///                                           for this machine, is cut off or needs a symbol that is
///                                           missing; options has no array with numOpt above 0;
///                                           cpuKernelMode is not 0 or 1; it is 1, and binPath does
///                                           not end with .json
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  cpuKernelMode is 0: there are no built-in CPU
///                                           operators
ADVSTEP_API aclError aclrtBinaryLoadFromFile(const char* binPath, aclrtBinaryLoadOptions* options,
                                             aclrtBinHandle* binHandle);

/// Loads a binary from memory, which the program may free after the call. Every call makes a shared
/// object of its own. [context]
/// @param[in] options  as aclrtBinaryLoadFromFile. cpuKernelMode 2 makes a binary of CPU kernels,
///                     whose functions aclrtRegisterCpuFunc adds
/// @retval ACL_ERROR_RT_PARAM_INVALID        length is 0; the bytes are no shared object for this
///                                           machine, are cut off or need a symbol that is missing;
///                                           options has no array with numOpt above 0;
///                                           cpuKernelMode is not 0 or 2
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  as aclrtBinaryLoadFromFile
ADVSTEP_API aclError aclrtBinaryLoadFromData(const void* data, size_t length,
                                             const aclrtBinaryLoadOptions* options,
                                             aclrtBinHandle* binHandle);

/// Describes a binary in memory. Nothing is copied: data must live until aclrtBinaryLoad.
/// @return NULL if data is NULL or dataLen is 0, with a message
ADVSTEP_API aclrtBinary aclrtCreateBinary(const void* data, size_t dataLen);

/// Destroys the description. Binaries that were loaded with it stay loaded.
ADVSTEP_API aclError aclrtDestroyBinary(aclrtBinary binary);

/// Loads a described binary. [context]
/// @retval ACL_ERROR_RT_PARAM_INVALID  as aclrtBinaryLoadFromData
ADVSTEP_API aclError aclrtBinaryLoad(const aclrtBinary binary, aclrtBinHandle* binHandle);

/// Unloads a binary. Its handle and those of its functions are invalid at once. Launches that are
/// queued still run: the shared object stays open until all work that is queued now has ended. The
/// next aclrtBinaryLoad..., aclrtBinaryUnLoad or the end of the runtime then closes it. A later
/// replay of a captured launch of the binary returns ACL_ERROR_RT_INVALID_HANDLE.
ADVSTEP_API aclError aclrtBinaryUnLoad(aclrtBinHandle binHandle);

/// Finds a function of the binary.
/// @retval ACL_ERROR_RT_PARAM_INVALID  the binary has no function of that name
ADVSTEP_API aclError aclrtBinaryGetFunction(const aclrtBinHandle binHandle, const char* kernelName,
                                            aclrtFuncHandle* funcHandle);

/// Finds a function by the number that ADVSTEP_KERNEL_ENTRY of advance_step/kernel.h gives it.
/// @retval ACL_ERROR_RT_PARAM_INVALID  the binary has no function of that number
ADVSTEP_API aclError aclrtBinaryGetFunctionByEntry(aclrtBinHandle binHandle, uint64_t funcEntry,
                                                   aclrtFuncHandle* funcHandle);

/// Adds a function to a binary of CPU kernels. Its entry is `uint32_t funcName(void* args)`. A
/// launch fails with ACL_ERROR_RT_AICPU_EXCEPTION if the entry does not return 0.
/// @param[in] funcName    the symbol of the entry
/// @param[in] kernelName  the name of the function. A second call with the same name and entry
///                        returns the same handle
/// @retval ACL_ERROR_RT_PARAM_INVALID  handle is no binary of CPU kernels; it has no such symbol;
///                                     it has a function of that kernelName with another entry
ADVSTEP_API aclError aclrtRegisterCpuFunc(const aclrtBinHandle handle, const char* funcName,
                                          const char* kernelName, aclrtFuncHandle* funcHandle);

/// Copies the name of a function, with a NUL.
/// @param[in]  maxLen  the size of name in bytes
/// @retval ACL_ERROR_RT_PARAM_INVALID  maxLen is too small for the name and the NUL
ADVSTEP_API aclError aclrtGetFunctionName(aclrtFuncHandle funcHandle, uint32_t maxLen, char* name);

/// Returns the address of a function in aicAddr. aivAddr gets the same address for a binary of
/// vector cores, and NULL for another one.
/// @retval ACL_ERROR_RT_PARAM_INVALID  the function is a CPU kernel
ADVSTEP_API aclError aclrtGetFunctionAddr(aclrtFuncHandle funcHandle, void** aicAddr,
                                          void** aivAddr);

/// Returns the binary of a function.
ADVSTEP_API aclError aclrtFunctionGetBinary(const aclrtFuncHandle funcHandle,
                                            aclrtBinHandle* binHandle);

/// Returns an attribute of a function:
///   - KERNEL_TYPE: the aclrtKernelType, by the magic of the binary
///   - KERNEL_RATIO: two uint16_t, the numbers of vector cores and of cube cores: 1 and 1 for
///     AICORE, 1 and 0 for VECTOR, 0 and 1 for CUBE, 0 and 0 for AICPU
///   - KERNEL_SCHED_MODE: 0
/// @retval ACL_ERROR_RT_PARAM_INVALID  attrType is not a value of aclrtFuncAttribute
ADVSTEP_API aclError aclrtGetFunctionAttribute(aclrtFuncHandle funcHandle,
                                               aclrtFuncAttribute attrType, int64_t* attrValue);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_RT_BINARY_H_ */
