// SPDX-License-Identifier: Apache-2.0
/// An operator compiler: its options, which are kept, and its calls, which are refused.
///
/// libadvance_step does not have these functions. The libraries of the install prefix that is laid
/// out like CANN's have them (docs/packaging.md). Any thread may call them.
#ifndef ADVSTEP_ACL_ACL_OP_COMPILER_H_
#define ADVSTEP_ACL_ACL_OP_COMPILER_H_

#include "acl/acl_base.h"
#include "acl/acl_op.h"
#include "acl/acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct aclGraphDumpOption aclGraphDumpOption;

/// The place where a compiler looks for an operator. It has no effect here.
typedef enum aclCompileType {
    ACL_COMPILE_SYS = 0,
    ACL_COMPILE_UNREGISTERED = 1,
} aclopCompileType;

/// The way in which shapes are compiled. It has no effect here.
typedef enum aclOpCompileFlag {
    ACL_OP_COMPILE_DEFAULT = 0,
    ACL_OP_COMPILE_FUZZ = 1,
} aclOpCompileFlag;

typedef enum {
    ACL_PRECISION_MODE = 0,
    ACL_AICORE_NUM = 1,
    ACL_AUTO_TUNE_MODE = 2,
    ACL_OP_SELECT_IMPL_MODE = 3,
    ACL_OPTYPELIST_FOR_IMPLMODE = 4,
    ACL_OP_DEBUG_LEVEL = 5,
    ACL_DEBUG_DIR = 6,
    ACL_OP_COMPILER_CACHE_MODE = 7,
    ACL_OP_COMPILER_CACHE_DIR = 8,
    ACL_OP_PERFORMANCE_MODE = 9,
    ACL_OP_JIT_COMPILE = 10,
    ACL_OP_DETERMINISTIC = 11,
    ACL_CUSTOMIZE_DTYPES = 12,
    ACL_OP_PRECISION_MODE = 13,
    ACL_ALLOW_HF32 = 14,
    ACL_PRECISION_MODE_V2 = 15,
    ACL_OP_DEBUG_OPTION = 16,
} aclCompileOpt;

/// Keeps the value of an option for the process. It has no further effect.
/// @param[in] value  the text; it is copied
/// @retval ACL_ERROR_INVALID_PARAM  opt is unknown; value is null
/// @retval ACL_ERROR_BAD_ALLOC      the host is out of memory
ADVSTEP_PREFIX_API aclError aclSetCompileopt(aclCompileOpt opt, const char* value);

/// Returns the size of an option's value in bytes, with the final zero; 0 for an unknown option.
/// The initial value of ACL_OP_JIT_COMPILE is "disable", that of every other option "".
ADVSTEP_PREFIX_API size_t aclGetCompileoptSize(aclCompileOpt opt);

/// Writes the value of an option, with the final zero.
/// @param[out] value  room for at least aclGetCompileoptSize(opt) bytes
/// @param[in] length  the size of value in bytes
/// @retval ACL_ERROR_INVALID_PARAM  opt is unknown; value is null; length is too small
ADVSTEP_PREFIX_API aclError aclGetCompileopt(aclCompileOpt opt, char* value, size_t length);

/// Checks the flag. The call has no further effect, because nothing is compiled.
/// @retval ACL_ERROR_INVALID_PARAM  flag is no aclOpCompileFlag
ADVSTEP_PREFIX_API aclError aclopSetCompileFlag(aclOpCompileFlag flag);

/// Refused like aclopExecuteV2: there is no operator compiler.
/// @retval ACL_ERROR_INVALID_PARAM    opType is null; a number of tensors is below 0
/// @retval ACL_ERROR_API_NOT_SUPPORT  otherwise
ADVSTEP_PREFIX_API aclError aclopCompile(const char* opType, int numInputs,
                                         const aclTensorDesc* const inputDesc[], int numOutputs,
                                         const aclTensorDesc* const outputDesc[],
                                         const aclopAttr* attr, aclopEngineType engineType,
                                         aclopCompileType compileFlag, const char* opPath);
/// As aclopCompile.
ADVSTEP_PREFIX_API aclError aclopCompileAndExecute(
    const char* opType, int numInputs, const aclTensorDesc* const inputDesc[],
    const aclDataBuffer* const inputs[], int numOutputs, const aclTensorDesc* const outputDesc[],
    aclDataBuffer* const outputs[], const aclopAttr* attr, aclopEngineType engineType,
    aclopCompileType compileFlag, const char* opPath, aclrtStream stream);
/// As aclopCompileAndExecute, with parameters that are not const.
ADVSTEP_PREFIX_API aclError
aclopCompileAndExecuteV2(const char* opType, int numInputs, aclTensorDesc* inputDesc[],
                         aclDataBuffer* inputs[], int numOutputs, aclTensorDesc* outputDesc[],
                         aclDataBuffer* outputs[], aclopAttr* attr, aclopEngineType engineType,
                         aclopCompileType compileFlag, const char* opPath, aclrtStream stream);

/// Refused like aclopCompile: there is no graph of an operator to write.
/// @param[in] graphDumpOpt  may be NULL
ADVSTEP_PREFIX_API aclError aclGenGraphAndDumpForOp(
    const char* opType, int numInputs, const aclTensorDesc* const inputDesc[],
    const aclDataBuffer* const inputs[], int numOutputs, const aclTensorDesc* const outputDesc[],
    aclDataBuffer* const outputs[], const aclopAttr* attr, aclopEngineType engineType,
    const char* graphDumpPath, const aclGraphDumpOption* graphDumpOpt);

/// Creates options for aclGenGraphAndDumpForOp. Returns NULL if the host is out of memory.
ADVSTEP_PREFIX_API aclGraphDumpOption* aclCreateGraphDumpOpt(void);

/// Destroys the options.
/// @retval ACL_ERROR_INVALID_PARAM  graphDumpOpt is null
ADVSTEP_PREFIX_API aclError aclDestroyGraphDumpOpt(const aclGraphDumpOption* graphDumpOpt);

/// Refused: the arguments of operators are not written to files.
/// @retval ACL_ERROR_INVALID_PARAM    path is null
/// @retval ACL_ERROR_API_NOT_SUPPORT  otherwise
ADVSTEP_PREFIX_API aclError aclopStartDumpArgs(uint32_t dumpType, const char* path);

/// Refused, because no dump can be under way.
/// @retval ACL_ERROR_API_NOT_SUPPORT  always
ADVSTEP_PREFIX_API aclError aclopStopDumpArgs(uint32_t dumpType);

#ifdef __cplusplus
}
#endif

#endif /* ADVSTEP_ACL_ACL_OP_COMPILER_H_ */
