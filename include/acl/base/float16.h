// SPDX-License-Identifier: Apache-2.0
/// Conversions between float and half precision.
#ifndef ADVSTEP_ACL_BASE_FLOAT16_H_
#define ADVSTEP_ACL_BASE_FLOAT16_H_

#include "acl/base/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Converts a half to the float of the same value. An exponent of 31 is an ordinary one, as on the
/// device's host interface: 7C00h is 65536 and FC00h is -65536, not infinite.
ADVSTEP_API float aclFloat16ToFloat(aclFloat16 value);

/// Converts a float to the nearest half, and to the even one of two; subnormals too. A value beyond
/// 65504, an infinity and a NaN give the greatest half, 7BFFh, with the sign of the value.
ADVSTEP_API aclFloat16 aclFloatToFloat16(float value);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_BASE_FLOAT16_H_ */
