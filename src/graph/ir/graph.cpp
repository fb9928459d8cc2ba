// SPDX-License-Identifier: Apache-2.0
// Implements the public class Graph, whose state becomes a model and is made of one.

#include "src/graph/ir/graph.h"

#include <algorithm>
#include <set>
#include <utility>

namespace advstep::graph {
namespace {

bool IsSource(const OperatorNode& node) {
    return std::all_of(node.inputs.begin(), node.inputs.end(),
                       [](const InputSlot& input) { return input.source == nullptr; });
}

}  // namespace

GraphState::GraphState(const char* name) : name_(name == nullptr ? "" : name) {}

std::string GraphState::Name() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return name_;
}

void GraphState::SetInputs(const std::vector<ge::Operator>& inputs) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (hasInputs_) {
        faults_.emplace_back("SetInputs was called a second time");
        return;
    }
    bool hasSource = false;
    for (const ge::Operator& input : inputs) {
        OperatorNode* node = OperatorAccess::NodeOf(input);
        if (node == nullptr) {
            faults_.emplace_back("SetInputs was given an empty operator");
            continue;
        }
        hasSource = hasSource || IsSource(*node);
        if (places_.emplace(node, members_.size()).second) {
            members_.push_back(input);
        }
    }
    if (!hasSource) {
        faults_.emplace_back("SetInputs was given no operator without linked inputs, as Data is");
    }
    hasInputs_ = true;
    for (size_t next = 0; next < members_.size(); ++next) {
        for (OperatorNode* neighbour : OperatorAccess::NodeOf(members_[next])->neighbours) {
            if (places_.emplace(neighbour, members_.size()).second) {
                members_.push_back(OperatorAccess::HandleOf(neighbour));
            }
        }
    }
}

void GraphState::SetOutputs(const std::vector<Selection>& selections) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!hasInputs_) {
        return;
    }
    outputs_.clear();
    for (const Selection& selection : selections) {
        const OperatorNode* node = OperatorAccess::NodeOf(selection.op);
        if (!IsSelectable(node)) {
            continue;
        }
        std::vector<size_t> indices = selection.indices;
        for (size_t index = 0; selection.indices.empty() && index < node->outputs.size(); ++index) {
            indices.push_back(index);
        }
        for (const size_t index : indices) {
            if (index < node->outputs.size()) {
                outputs_.push_back({places_.at(node), index});
            }
        }
    }
}

void GraphState::SetOutputs(
    const std::vector<std::pair<ge::Operator, ge::AscendString>>& selections) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!hasInputs_) {
        return;
    }
    outputs_.clear();
    for (const auto& [op, name] : selections) {
        OperatorNode* node = OperatorAccess::NodeOf(op);
        if (!IsSelectable(node)) {
            continue;
        }
        const OutputSlot* output = node->FindOutput(name.GetString());
        if (output == nullptr) {
            faults_.push_back(
                fmt::format("SetOutputs was given output {} of {}, which has none "
                            "of this name",
                            name.GetString(), node->name));
        } else {
            outputs_.push_back(
                {places_.at(node), static_cast<size_t>(output - node->outputs.data())});
        }
    }
}

void GraphState::SetTargets(const std::vector<ge::Operator>& targets) {
    std::vector<ge::Operator> replaced = targets;  // destroyed after the lock is released
    const std::lock_guard<std::mutex> lock(mutex_);
    targets_.swap(replaced);
}

bool GraphState::AddOp(const ge::Operator& op) {
    const OperatorNode* node = OperatorAccess::NodeOf(op);
    if (node == nullptr) {
        return false;
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto [place, isNew] = addedOps_.emplace(node->name, op);
    return isNew || OperatorAccess::NodeOf(place->second) == node;
}

ge::Operator GraphState::FindOp(const std::string& name) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const ge::Operator& member : members_) {
        if (OperatorAccess::NodeOf(member)->name == name) {
            return member;
        }
    }
    const auto added = addedOps_.find(name);
    return added == addedOps_.end() ? ge::Operator() : added->second;
}

std::vector<ge::Operator> GraphState::Operators(bool withAdded) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<ge::Operator> operators = members_;
    if (withAdded) {
        for (const auto& [name, op] : addedOps_) {
            if (!IsMember(OperatorAccess::NodeOf(op))) {
                operators.push_back(op);
            }
        }
    }
    return operators;
}

bool GraphState::IsValid() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return hasInputs_ && faults_.empty() &&
           std::all_of(targets_.begin(), targets_.end(), [&](const ge::Operator& target) {
               return IsMember(OperatorAccess::NodeOf(target));
           });
}

Outcome GraphState::MakeModel(std::shared_ptr<const GraphModel>* model) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return MakeModelLocked(model);
}

Outcome GraphState::MakeModelOnce(bool isCopy, std::shared_ptr<const GraphModel>* model) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (wasAdded_ && !isCopy) {
        return Fail(kInnerError, "graph {} was added to a session before; expected a new one",
                    name_);
    }
    ADVSTEP_GRAPH_RETURN_IF_ERROR(MakeModelLocked(model));
    std::set<std::string> names;
    for (const ModelNode& node : (*model)->nodes) {
        if (!names.insert(node.name).second) {
            return Fail(kDuplicateName,
                        "graph {} has two operators with the name \"{}\"; expected unique names",
                        name_, node.name);
        }
    }
    wasAdded_ = wasAdded_ || !isCopy;
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

bool GraphState::IsMember(const OperatorNode* node) const { return places_.count(node) != 0; }

bool GraphState::IsSelectable(const OperatorNode* node) {
    if (node == nullptr || IsMember(node)) {
        return node != nullptr;
    }
    for (const auto* faults : {&node->buildFaults, &node->faults}) {
        faults_.insert(faults_.end(), faults->begin(), faults->end());
    }
    return false;
}

ModelNode GraphState::CopyLocked(const OperatorNode& from) const {
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
    return node;
}

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
        made->nodes.push_back(CopyLocked(from));
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

}  // namespace advstep::graph

namespace ge {

// CANN's size, which a program compiled against its header reserves.
static_assert(sizeof(Graph) == 16, "CANN's ge::Graph has one shared_ptr");

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
