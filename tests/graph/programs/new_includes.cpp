// SPDX-License-Identifier: Apache-2.0
// The newer habit: names with folders, collections of operators, nothing in using.
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "experiment_ops.h"
#include "ge/ge_api.h"
#include "ge/ge_ir_build.h"
#include "graph/graph.h"
#include "graph/operator.h"
#include "graph/operator_reg.h"
#include "nn_other.h"
#include "ops_proto_legacy.h"
#include "ops_proto_nn.h"

int main() {
    auto tokens = ge::op::Data("tokens");
    auto value = ge::op::Const("value").set_attr_value(ge::Tensor());
    auto other = ge::op::Constant();
    auto advance = ge::op::AdvanceStep("advance");
    advance.set_input_input_tokens(tokens).set_input_seq_lens(tokens, 0);
    advance.set_input_block_tables(value, "y").set_input_slot_mapping_by_name(tokens, "y");
    auto step = ge::op::Step("step");
    step.set_input_stop_flags(other).set_input_input_ids(advance, "seq_lens");
    step.AddControlInput(advance);
    std::vector<std::pair<ge::Operator, std::vector<size_t>>> outputs = {{step, {0, 17}}};
    std::vector<std::pair<ge::Operator, ge::AscendString>> named = {{step, "free_list_out"}};
    ge::Graph graph("new");
    graph.SetInputs({tokens, value, other}).SetOutputs(outputs);
    graph.SetOutputs(named);
    auto session = std::make_unique<ge::Session>(std::map<ge::AscendString, ge::AscendString>{});
    const ge::Status status = session->RunGraphAsync(
        1, {},
        [](ge::Status ran, std::vector<ge::Tensor>& tensors) { (void)ran, tensors.clear(); });
    return status == ge::SUCCESS ? 1 : static_cast<int>(ge::GEFinalize());
}
