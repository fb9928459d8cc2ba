// SPDX-License-Identifier: Apache-2.0
/// Conversions between float and half precision.
#ifndef ADVSTEP_ACL_BASE_FLOAT16_H_
#define ADVSTEP_ACL_BASE_FLOAT16_H_

#include "acl/base/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Converts a half to the float of the same value. There are no infinities and NaNs: the exponent
/// 31 is read like any other, as CANN's function does, so 7C00h is 65536 and FC00h is -65536.
ADVSTEP_API float aclFloat16ToFloat(aclFloat16 value);

/// Converts a float to the nearest half, which may be subnormal; of two that are equally near, to
/// the even one. A magnitude above 65504, an infinity and a NaN give the greatest half, 7BFFh, with
/// the sign of the value.
ADVSTEP_API aclFloat16 aclFloatToFloat16(float value);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_BASE_FLOAT16_H_ */
