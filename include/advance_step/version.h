// SPDX-License-Identifier: Apache-2.0
/// The version of the project. This interface is the project's own. src/catalogue/make_pages.py
/// makes the file of the version in CMakeLists.txt.
#ifndef ADVSTEP_ADVANCE_STEP_VERSION_H_
#define ADVSTEP_ADVANCE_STEP_VERSION_H_

#include "acl/acl_base.h"

/// The first number of the version of these headers.
#define ADVSTEP_VERSION_MAJOR 0
/// The second number.
#define ADVSTEP_VERSION_MINOR 2
/// The third number.
#define ADVSTEP_VERSION_PATCH 0
/// All three as a text.
#define ADVSTEP_VERSION_STRING "0.2.0"
/// All three as one number for comparisons, such as `#if ADVSTEP_VERSION_NUMBER >= 2000` for 0.2.0
/// and later.
#define ADVSTEP_VERSION_NUMBER \
    (ADVSTEP_VERSION_MAJOR * 1000000 + ADVSTEP_VERSION_MINOR * 1000 + ADVSTEP_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

/// Returns the version of the library that the program runs with, which may be another one than
/// that of the headers. It may be called before aclInit.
/// @retval ACL_ERROR_INVALID_PARAM  majorVersion, minorVersion or patchVersion is NULL
ADVSTEP_API aclError advstepGetVersion(int32_t* majorVersion, int32_t* minorVersion,
                                       int32_t* patchVersion);

#ifdef __cplusplus
}
#endif

#endif /* ADVSTEP_ADVANCE_STEP_VERSION_H_ */
