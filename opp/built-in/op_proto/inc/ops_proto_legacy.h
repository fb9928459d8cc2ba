// SPDX-License-Identifier: Apache-2.0
/// The operators of array_ops.h.
#ifndef ADVSTEP_OP_PROTO_OPS_PROTO_LEGACY_H_
#define ADVSTEP_OP_PROTO_OPS_PROTO_LEGACY_H_

#include "array_ops.h"

#endif  // ADVSTEP_OP_PROTO_OPS_PROTO_LEGACY_H_
