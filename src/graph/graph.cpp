// SPDX-License-Identifier: Apache-2.0
// The public class Graph, a handle to a GraphState.

#include "graph/graph.h"

#include "src/graph/graph_state.h"

namespace ge {

using advstep::graph::GraphState;

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
