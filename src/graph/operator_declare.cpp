// SPDX-License-Identifier: Apache-2.0
// Declarations of inputs, outputs and attributes, for REG_OP. A second declaration of a name
// changes nothing.
#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "graph/operator.h"
#include "src/graph/operator_node.h"

namespace ge {
namespace {

using advstep::graph::InputSlot;
using advstep::graph::OperatorNode;

InputSlot MakeInput(const std::string& name, bool isOptional) {
    InputSlot slot;
    slot.name = name;
    slot.isOptional = isOptional;
    return slot;
}

void AddInput(OperatorNode* node, const std::string& name, bool isOptional) {
    if (node != nullptr && node->FindInput(name) == nullptr) {
        node->inputs.push_back(MakeInput(name, isOptional));
    }
}

void AddOutput(OperatorNode* node, const std::string& name) {
    if (node != nullptr && node->FindOutput(name) == nullptr) {
        node->outputs.push_back({name, {}});
    }
}

}  // namespace

void Operator::DeclareInput(const char* name) { AddInput(node_, name, false); }

void Operator::DeclareOptionalInput(const char* name) { AddInput(node_, name, true); }

void Operator::DeclareOutput(const char* name) { AddOutput(node_, name); }

void Operator::DeclareRequiredAttr(const char* name) {
    if (node_ != nullptr) {
        node_->requiredAttrs.emplace_back(name);
    }
}

void Operator::DeclareDynamicInputs(const char* name, uint32_t count, bool isPushBack) {
    if (node_ == nullptr) {
        return;
    }
    std::vector<InputSlot> slots;
    for (uint32_t index = 0; index < count; ++index) {
        const std::string input = fmt::format("{}{}", name, index);
        if (node_->FindInput(input) == nullptr) {
            slots.push_back(MakeInput(input, false));
        }
    }
    auto& inputs = node_->inputs;
    inputs.insert(isPushBack ? inputs.end() : inputs.begin(),
                  std::make_move_iterator(slots.begin()), std::make_move_iterator(slots.end()));
    uint32_t& created = node_->dynamicInputs[name];
    created = std::max(created, count);
}

void Operator::DeclareDynamicOutputs(const char* name, uint32_t count) {
    for (uint32_t index = 0; index < count; ++index) {
        AddOutput(node_, fmt::format("{}{}", name, index));
    }
}

}  // namespace ge
