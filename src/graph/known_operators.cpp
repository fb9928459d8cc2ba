// Registers the types of the library's own headers, for programs that include none of them.
#include "opp/built-in/op_proto/inc/ops_proto_legacy.h"
#include "opp/built-in/op_proto/inc/ops_proto_nn.h"
