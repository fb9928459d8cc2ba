// SPDX-License-Identifier: Apache-2.0
/// All operators that have a header here.
#ifndef ADVSTEP_OP_PROTO_ALL_OPS_H_
#define ADVSTEP_OP_PROTO_ALL_OPS_H_

#include "array_ops.h"
#include "computed_ops.h"
#include "ops_proto_legacy.h"
#include "ops_proto_nn.h"

#endif  // ADVSTEP_OP_PROTO_ALL_OPS_H_
