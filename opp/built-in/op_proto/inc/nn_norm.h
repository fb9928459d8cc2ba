// SPDX-License-Identifier: Apache-2.0
/// Defines no operator; REG_OP may follow.
#ifndef ADVSTEP_OP_PROTO_NN_NORM_H_
#define ADVSTEP_OP_PROTO_NN_NORM_H_

#include "graph/operator_reg.h"

#endif  // ADVSTEP_OP_PROTO_NN_NORM_H_
