// SPDX-License-Identifier: Apache-2.0
/// Types, return codes and error messages shared by every acl, aclrt and aclnn call.
///
/// Names and values are interface facts of Ascend CANN (docs/internals/provenance.md); text and
/// code are this project's. C99 and C++11.
#ifndef ADVSTEP_ACL_BASE_CORE_H_
#define ADVSTEP_ACL_BASE_CORE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acl/error_codes/rt_error_codes.h"

#if defined(__GNUC__)
#define ADVSTEP_API __attribute__((visibility("default")))
#else
#define ADVSTEP_API
#endif

#ifndef ACL_FUNC_VISIBILITY
/// A mark of declarations in headers of clients. The library's own headers use ADVSTEP_API.
#define ACL_FUNC_VISIBILITY
#endif
#if defined(__GNUC__)
/// A mark of deprecated declarations, for headers of clients.
#define ACL_DEPRECATED __attribute__((deprecated))
/// ACL_DEPRECATED with a message that the compiler's warning shows.
#define ACL_DEPRECATED_MESSAGE(message) __attribute__((deprecated(message)))
#else
#define ACL_DEPRECATED
#define ACL_DEPRECATED_MESSAGE(message)
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef int aclError;
typedef uint16_t aclFloat16;

/* Handles are opaque values, never addresses. Calls return ACL_ERROR_RT_INVALID_HANDLE for a handle
 * that was destroyed, is of another kind or is not of this library. */
typedef void* aclrtStream;
typedef void* aclrtEvent;
typedef void* aclrtContext;
typedef void* aclrtNotify;
typedef void* aclrtDrvMemHandle;
typedef void* aclmdlRI; /* a captured model, ready to be replayed */
typedef void* aclrtTaskGrp;
typedef void* aclmdlRICondHandle;
typedef void* aclrtBinary;
typedef void* aclrtBinHandle;
typedef void* aclrtFuncHandle;
typedef void* aclrtArgsHandle;
typedef void* aclrtParamHandle;

/* ---- return codes ---------------------------------------------------------------------- */

#define ACL_SUCCESS 0
#define ACL_ERROR_NONE 0

/* Interface errors. */
#define ACL_ERROR_INVALID_PARAM 100000           /* an argument is null or out of its range */
#define ACL_ERROR_UNINITIALIZE 100001            /* never returned: calls work without aclInit */
#define ACL_ERROR_REPEAT_INITIALIZE 100002       /* it has begun already: aclInit, aclmdlInitDump */
#define ACL_ERROR_INVALID_FILE 100003            /* a file cannot be read; a package is unknown */
#define ACL_ERROR_PARSE_FILE 100006              /* a configuration file is no JSON object */
#define ACL_ERROR_FILE_ATTR_INVALID 100008       /* a setting has an invalid value */
#define ACL_ERROR_INVALID_DUMP_CONFIG 100009     /* a file has no object "dump" */
#define ACL_ERROR_UNSUPPORTED_DATA_TYPE 100026
#define ACL_ERROR_REPEAT_FINALIZE 100037         /* aclFinalize without aclInit before */
#define ACL_ERROR_DUMP_ALREADY_RUN 100044
#define ACL_ERROR_DUMP_NOT_RUN 100045            /* there was no aclmdlInitDump before */
#define ACL_ERROR_BAD_ALLOC 200000               /* the host is out of memory */
#define ACL_ERROR_API_NOT_SUPPORT 200001
#define ACL_ERROR_INVALID_DEVICE 200002
#define ACL_ERROR_INVALID_RESOURCE_HANDLE 200005
#define ACL_ERROR_FEATURE_UNSUPPORTED 200006
#define ACL_ERROR_PROF_MODULES_UNSUPPORTED 200007
#define ACL_ERROR_STORAGE_OVER_LIMIT 300000
#define ACL_ERROR_INTERNAL_ERROR 500000
#define ACL_ERROR_FAILURE 500001
#define ACL_ERROR_RT_FAILURE 500003
#define ACL_ERROR_PROFILING_FAILURE 500005

/* ---- tensors --------------------------------------------------------------------------- */

typedef enum {
    ACL_DT_UNDEFINED = -1,
    ACL_FLOAT = 0,
    ACL_FLOAT16 = 1,
    ACL_INT8 = 2,
    ACL_INT32 = 3,
    ACL_UINT8 = 4,
    ACL_INT16 = 6,
    ACL_UINT16 = 7,
    ACL_UINT32 = 8,
    ACL_INT64 = 9,
    ACL_UINT64 = 10,
    ACL_DOUBLE = 11,
    ACL_BOOL = 12,
    ACL_STRING = 13,
    ACL_COMPLEX64 = 16,
    ACL_COMPLEX128 = 17,
    ACL_BF16 = 27,
    ACL_INT4 = 29,
    ACL_UINT1 = 30,
    ACL_COMPLEX32 = 33,
    ACL_HIFLOAT8 = 34,
    ACL_FLOAT8_E5M2 = 35,
    ACL_FLOAT8_E4M3FN = 36,
    ACL_FLOAT8_E8M0 = 37,
    ACL_FLOAT6_E3M2 = 38,
    ACL_FLOAT6_E2M3 = 39,
    ACL_FLOAT4_E2M1 = 40,
    ACL_FLOAT4_E1M2 = 41
} aclDataType;

typedef enum {
    ACL_FORMAT_UNDEFINED = -1,
    ACL_FORMAT_NCHW = 0,
    ACL_FORMAT_NHWC = 1,
    ACL_FORMAT_ND = 2,
    ACL_FORMAT_NC1HWC0 = 3,
    ACL_FORMAT_FRACTAL_Z = 4,
    ACL_FORMAT_NC1HWC0_C04 = 12,
    ACL_FORMAT_HWCN = 16,
    ACL_FORMAT_NDHWC = 27,
    ACL_FORMAT_FRACTAL_NZ = 29,
    ACL_FORMAT_NCDHW = 30,
    ACL_FORMAT_NDC1HWC0 = 32,
    ACL_FRACTAL_Z_3D = 33,
    ACL_FORMAT_NC = 35,
    ACL_FORMAT_NCL = 47,
    ACL_FORMAT_FRACTAL_NZ_C0_16 = 50,
    ACL_FORMAT_FRACTAL_NZ_C0_32 = 51,
    ACL_FORMAT_FRACTAL_NZ_C0_2 = 52,
    ACL_FORMAT_FRACTAL_NZ_C0_4 = 53,
    ACL_FORMAT_FRACTAL_NZ_C0_8 = 54
} aclFormat;

/// Returns the size of one element of dataType in bytes; 0 for ACL_DT_UNDEFINED, ACL_STRING, types
/// with less than a byte per element (INT4, UINT1, FLOAT6, FLOAT4) and unknown values.
ADVSTEP_API size_t aclDataTypeSize(aclDataType dataType);

/// Returns the message of the thread's most recent failed call, or of the asynchronous failure that
/// this call reported. Its form is `<call>: <argument> <what it is>; expected <rule>`.
///
/// The call also clears the message: it returns NULL afterwards, until another call fails.
/// @return text valid until the thread's next acl call; NULL if there is no message
ADVSTEP_API const char* aclGetRecentErrMsg(void);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_BASE_CORE_H_ */
