// SPDX-License-Identifier: Apache-2.0
// A program that writes Data itself, behind every header but those that define it.
#include "ge_api.h"
#include "ge_ir_build.h"
#include "nn_other.h"
#include "ops_proto_nn.h"

#include "experiment_ops.h"

namespace ge {
REG_OP(Data)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(index, Int, 0)
    .OP_END_FACTORY_REG(Data)
}  // namespace ge

int main() {
    auto data = ge::op::Data("data").set_attr_index(1);
    data.update_input_desc_x(ge::TensorDesc());
    return data.get_attr_index() == 1 ? 0 : 1;
}
