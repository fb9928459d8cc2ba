// SPDX-License-Identifier: Apache-2.0
/// All operators that have a header here.
#ifndef ADVSTEP_OP_PROTO_ALL_OPS_H_
#define ADVSTEP_OP_PROTO_ALL_OPS_H_

#include "array_ops.h"
#include "elewise_calculation_ops.h"
#include "matrix_calculation_ops.h"
#include "nn_norm_ops.h"
#include "nonlinear_fuc_ops.h"
#include "ops_proto_legacy.h"
#include "ops_proto_nn.h"
#include "reduce_ops.h"
#include "selection_ops.h"
#include "transformation_ops.h"

#endif  // ADVSTEP_OP_PROTO_ALL_OPS_H_
