// SPDX-License-Identifier: Apache-2.0
// Registers the operator types of the library's own headers for programs that do not include them.
#include "opp/built-in/op_proto/inc/ops_proto_legacy.h"
#include "opp/built-in/op_proto/inc/ops_proto_nn.h"
