// SPDX-License-Identifier: Apache-2.0
// The public class GNode: reads the node of an operator.

#include "graph/gnode.h"

#include <algorithm>

#include "src/graph/ir/operator.h"

namespace ge {
namespace {

using advstep::graph::InputSlot;
using advstep::graph::OperatorAccess;
using advstep::graph::OperatorNode;

template <class Slot>
const Slot* SlotAt(const std::vector<Slot>& slots, int32_t index) {
    return index < 0 || static_cast<size_t>(index) >= slots.size()
               ? nullptr
               : &slots[static_cast<size_t>(index)];
}

template <class Slot>
graphStatus FindIndex(const std::vector<Slot>& slots, const AscendString& name, int32_t* index) {
    const auto found = std::find_if(slots.begin(), slots.end(), [&](const Slot& slot) {
        return slot.name == name.GetString();
    });
    if (found == slots.end()) {
        return GRAPH_FAILED;
    }
    *index = static_cast<int32_t>(found - slots.begin());
    return GRAPH_SUCCESS;
}

// The neighbours of a node, each once, in the order of their first link.
std::vector<OperatorNode*> Neighbours(const OperatorNode& node) {
    std::vector<OperatorNode*> once;
    for (OperatorNode* neighbour : node.neighbours) {
        if (std::find(once.begin(), once.end(), neighbour) == once.end()) {
            once.push_back(neighbour);
        }
    }
    return once;
}

const InputSlot* InputOf(const Operator& op, int32_t index) {
    const OperatorNode* node = OperatorAccess::NodeOf(op);
    return node == nullptr ? nullptr : SlotAt(node->inputs, index);
}

}  // namespace

GNode::GNode() = default;

graphStatus GNode::GetType(AscendString& type) const { return operator_.GetOpType(type); }

graphStatus GNode::GetName(AscendString& name) const { return operator_.GetName(name); }

std::pair<GNodePtr, int32_t> GNode::GetInDataNodesAndPortIndexs(int32_t index) const {
    const InputSlot* input = InputOf(operator_, index);
    if (input == nullptr || input->source == nullptr) {
        return {nullptr, -1};
    }
    return {OperatorAccess::MakeGNode(input->source), static_cast<int32_t>(input->sourceOutput)};
}

std::vector<GNodePtr> GNode::GetInControlNodes() const {
    std::vector<GNodePtr> nodes;
    if (const OperatorNode* node = OperatorAccess::NodeOf(operator_); node != nullptr) {
        for (OperatorNode* source : node->controlSources) {
            nodes.push_back(OperatorAccess::MakeGNode(source));
        }
    }
    return nodes;
}

std::vector<std::pair<GNodePtr, int32_t>> GNode::GetOutDataNodesAndPortIndexs(int32_t index) const {
    std::vector<std::pair<GNodePtr, int32_t>> readers;
    const OperatorNode* node = OperatorAccess::NodeOf(operator_);
    if (node == nullptr || index < 0) {
        return readers;
    }
    for (OperatorNode* neighbour : Neighbours(*node)) {
        for (size_t input = 0; input < neighbour->inputs.size(); ++input) {
            const InputSlot& slot = neighbour->inputs[input];
            if (slot.source == node && slot.sourceOutput == static_cast<size_t>(index)) {
                readers.emplace_back(OperatorAccess::MakeGNode(neighbour),
                                     static_cast<int32_t>(input));
            }
        }
    }
    return readers;
}

std::vector<GNodePtr> GNode::GetOutControlNodes() const {
    std::vector<GNodePtr> nodes;
    const OperatorNode* node = OperatorAccess::NodeOf(operator_);
    if (node == nullptr) {
        return nodes;
    }
    for (OperatorNode* neighbour : Neighbours(*node)) {
        const auto& sources = neighbour->controlSources;
        if (std::find(sources.begin(), sources.end(), node) != sources.end()) {
            nodes.push_back(OperatorAccess::MakeGNode(neighbour));
        }
    }
    return nodes;
}

size_t GNode::GetInputsSize() const { return operator_.GetInputsSize(); }

size_t GNode::GetOutputsSize() const { return operator_.GetOutputsSize(); }

graphStatus GNode::GetInputIndexByName(const AscendString& name, int32_t& index) {
    const OperatorNode* node = OperatorAccess::NodeOf(operator_);
    return node == nullptr ? GRAPH_FAILED : FindIndex(node->inputs, name, &index);
}

graphStatus GNode::GetOutputIndexByName(const AscendString& name, int32_t& index) {
    const OperatorNode* node = OperatorAccess::NodeOf(operator_);
    return node == nullptr ? GRAPH_FAILED : FindIndex(node->outputs, name, &index);
}

graphStatus GNode::GetInputDesc(int32_t index, TensorDesc& desc) const {
    const InputSlot* input = InputOf(operator_, index);
    if (input == nullptr) {
        return GRAPH_FAILED;
    }
    desc = input->desc;
    return GRAPH_SUCCESS;
}

graphStatus GNode::GetOutputDesc(int32_t index, TensorDesc& desc) const {
    const OperatorNode* node = OperatorAccess::NodeOf(operator_);
    const auto* output = node == nullptr ? nullptr : SlotAt(node->outputs, index);
    if (output == nullptr) {
        return GRAPH_FAILED;
    }
    desc = output->desc;
    return GRAPH_SUCCESS;
}

graphStatus GNode::GetInputConstData(int32_t index, Tensor& data) const {
    const InputSlot* input = InputOf(operator_, index);
    const OperatorNode* source = input == nullptr ? nullptr : input->source;
    if (source == nullptr || (source->type != "Const" && source->type != "Constant")) {
        return GRAPH_FAILED;
    }
    const auto value = source->attrs.find("value");
    const auto* tensor =
        value == source->attrs.end() ? nullptr : std::get_if<Tensor>(&value->second);
    if (tensor == nullptr) {
        return GRAPH_FAILED;
    }
    data = tensor->Clone();
    return GRAPH_SUCCESS;
}

bool GNode::HasAttr(const AscendString& name) const {
    const OperatorNode* node = OperatorAccess::NodeOf(operator_);
    return node != nullptr && node->attrs.count(name.GetString()) != 0;
}

}  // namespace ge
