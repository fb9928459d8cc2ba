// SPDX-License-Identifier: Apache-2.0
/// The operators that run here: AdvanceStep and Step. Data and Const are in array_ops.h.
#ifndef ADVSTEP_OP_PROTO_OPS_PROTO_NN_H_
#define ADVSTEP_OP_PROTO_OPS_PROTO_NN_H_

#include "op_graph/advance_step_proto.h"
#include "op_graph/step_proto.h"

#endif  // ADVSTEP_OP_PROTO_OPS_PROTO_NN_H_
