// SPDX-License-Identifier: Apache-2.0
// Copies a graph's operators to a model, and makes operators of a model.

#include <utility>

#include "src/graph/graph_state.h"

namespace advstep::graph {

Outcome GraphState::MakeModelLocked(std::shared_ptr<const GraphModel>* model) const {
    if (!hasInputs_) {
        return Fail(kInnerError, "graph {} has no inputs; expected a call of SetInputs before",
                    name_);
    }
    if (!faults_.empty()) {
        return Fail(kInnerError, "graph {}: {}", name_, faults_.front());
    }
    auto made = std::make_shared<GraphModel>();
    made->name = name_;
    made->outputs = outputs_;
    for (const ge::Operator& member : members_) {
        const OperatorNode& from = *OperatorAccess::NodeOf(member);
        if (!from.buildFaults.empty()) {
            return Fail(kInnerError, "graph {}: {}", name_, from.buildFaults.front());
        }
        ModelNode node;
        node.name = from.name;
        node.type = from.type;
        node.attrs = from.attrs;
        node.requiredAttrs = from.requiredAttrs;
        node.faults = from.faults;
        for (auto& [name, value] : node.attrs) {
            if (auto* tensor = std::get_if<ge::Tensor>(&value)) {
                *tensor = tensor->Clone();
            }
        }
        const auto fromOutside = [&](const OperatorNode* source) {
            node.faults.push_back(
                fmt::format("{} was linked with {} after SetInputs", from.name, source->name));
        };
        for (const InputSlot& input : from.inputs) {
            ModelInput copy{input.name, input.isOptional, input.hasDesc, input.desc, {}};
            if (IsMember(input.source)) {
                copy.source = {places_.at(input.source), input.sourceOutput};
            } else if (input.source != nullptr) {
                fromOutside(input.source);
            }
            node.inputs.push_back(std::move(copy));
        }
        for (const OutputSlot& output : from.outputs) {
            node.outputs.push_back(output.name);
            node.outputDescs.push_back(output.desc);
        }
        for (const OperatorNode* source : from.controlSources) {
            if (IsMember(source)) {
                node.controlSources.push_back(places_.at(source));
            } else {
                fromOutside(source);
            }
        }
        made->nodes.push_back(std::move(node));
    }
    for (const ge::Operator& target : targets_) {
        const OperatorNode* node = OperatorAccess::NodeOf(target);
        if (!IsMember(node)) {
            return Fail(kInnerError,
                        "graph {}: SetTargets was given {}; expected an operator of the "
                        "graph",
                        name_, node == nullptr ? "an empty operator" : node->name);
        }
        made->targets.push_back(places_.at(node));
    }
    *model = std::move(made);
    return {};
}

Outcome GraphState::Restore(const GraphModel& model) {
    std::vector<OperatorNode*> nodes;
    std::vector<ge::Operator> members;
    for (const ModelNode& from : model.nodes) {
        ge::Operator op(from.name.c_str(), from.type.c_str());
        OperatorNode* node = OperatorAccess::NodeOf(op);
        node->attrs = from.attrs;
        node->requiredAttrs = from.requiredAttrs;
        for (size_t output = 0; output < from.outputs.size(); ++output) {
            node->outputs.push_back({from.outputs[output], from.outputDescs[output]});
        }
        nodes.push_back(node);
        members.push_back(std::move(op));
    }
    for (size_t place = 0; place < nodes.size(); ++place) {
        for (const ModelInput& from : model.nodes[place].inputs) {
            InputSlot slot;
            slot.name = from.name;
            slot.isOptional = from.isOptional;
            slot.hasDesc = from.hasDesc;
            slot.desc = from.desc;
            if (from.source) {
                slot.source = nodes[from.source->node];
                slot.sourceOutput = from.source->output;
                Connect(nodes[place], slot.source);
            }
            nodes[place]->inputs.push_back(std::move(slot));
        }
        for (const size_t source : model.nodes[place].controlSources) {
            nodes[place]->controlSources.push_back(nodes[source]);
            Connect(nodes[place], nodes[source]);
        }
    }
    std::vector<ge::Operator> targets;
    for (const size_t target : model.targets) {
        targets.push_back(members[target]);
    }
    std::map<const OperatorNode*, size_t> places;
    for (size_t place = 0; place < nodes.size(); ++place) {
        places.emplace(nodes[place], place);
    }
    std::string name = model.name;
    std::vector<ValueId> outputs = model.outputs;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (hasInputs_) {
        return Fail(kInnerError, "graph {} has inputs already; expected a new graph", name_);
    }
    hasInputs_ = true;
    name_.swap(name);
    members_.swap(members);
    places_.swap(places);
    outputs_.swap(outputs);
    targets_.swap(targets);
    return {};
}

}  // namespace advstep::graph
