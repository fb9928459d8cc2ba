// SPDX-License-Identifier: Apache-2.0
// The public class Graph, a handle to a GraphState.

#include "graph/graph.h"

#include "src/graph/graph_state.h"

namespace ge {

using advstep::graph::GraphState;
using advstep::graph::OperatorAccess;

Graph::Graph() : Graph("") {}

Graph::Graph(const char* name) : state_(std::make_shared<GraphState>(name)) {}

Graph& Graph::SetInputs(const std::vector<Operator>& inputs) {
    state_->SetInputs(inputs);
    return *this;
}

Graph& Graph::SetOutputs(const std::vector<Operator>& outputs) {
    std::vector<GraphState::Selection> selections;
    selections.reserve(outputs.size());
    for (const Operator& op : outputs) {
        selections.push_back({op, {}});
    }
    state_->SetOutputs(selections);
    return *this;
}

Graph& Graph::SetOutputs(const std::vector<std::pair<Operator, std::vector<size_t>>>& outputs) {
    std::vector<GraphState::Selection> selections;
    selections.reserve(outputs.size());
    for (const auto& [op, indices] : outputs) {
        selections.push_back({op, indices});
    }
    state_->SetOutputs(selections);
    return *this;
}

Graph& Graph::SetOutputs(const std::vector<std::pair<Operator, AscendString>>& outputs) {
    state_->SetOutputs(outputs);
    return *this;
}

Graph& Graph::SetTargets(const std::vector<Operator>& targets) {
    state_->SetTargets(targets);
    return *this;
}

std::vector<GNode> Graph::GetAllNodes() const {
    std::vector<GNode> nodes;
    for (const Operator& op : state_->Operators(false)) {
        nodes.push_back(OperatorAccess::MakeNodeOf(op));
    }
    return nodes;
}

std::vector<GNode> Graph::GetDirectNode() const { return GetAllNodes(); }

GNodePtr Graph::FindNodeByName(const AscendString& name) const {
    for (const Operator& op : state_->Operators(false)) {
        if (OperatorAccess::NodeOf(op)->name == name.GetString()) {
            return std::make_shared<GNode>(OperatorAccess::MakeNodeOf(op));
        }
    }
    return nullptr;
}

graphStatus Graph::GetAllOpName(std::vector<AscendString>& names) const {
    names.clear();
    for (const Operator& op : state_->Operators(true)) {
        names.emplace_back(OperatorAccess::NodeOf(op)->name.c_str());
    }
    return GRAPH_SUCCESS;
}

graphStatus Graph::FindOpByType(const char* type, std::vector<Operator>& ops) const {
    if (type == nullptr) {
        return GRAPH_FAILED;
    }
    ops.clear();
    for (const Operator& op : state_->Operators(true)) {
        if (OperatorAccess::NodeOf(op)->type == type) {
            ops.push_back(op);
        }
    }
    return GRAPH_SUCCESS;
}

graphStatus Graph::AddOp(const Operator& op) {
    return state_->AddOp(op) ? GRAPH_SUCCESS : GRAPH_FAILED;
}

graphStatus Graph::FindOpByName(const char* name, Operator& op) const {
    const Operator found = state_->FindOp(name == nullptr ? "" : name);
    if (found.IsEmpty()) {
        return GRAPH_FAILED;
    }
    op = found;
    return GRAPH_SUCCESS;
}

graphStatus Graph::GetName(AscendString& name) const {
    name = AscendString(state_->Name().c_str());
    return GRAPH_SUCCESS;
}

bool Graph::IsValid() const { return state_->IsValid(); }

}  // namespace ge
