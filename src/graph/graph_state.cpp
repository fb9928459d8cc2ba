// SPDX-License-Identifier: Apache-2.0
// Collects a graph's operators and makes the model from them.

#include "src/graph/graph_state.h"

#include <algorithm>
#include <set>

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

bool GraphState::IsMember(const OperatorNode* node) const { return places_.count(node) != 0; }

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

bool GraphState::IsSelectable(const OperatorNode* node) {
    if (node == nullptr || IsMember(node)) {
        return node != nullptr;
    }
    for (const auto* faults : {&node->buildFaults, &node->faults}) {
        faults_.insert(faults_.end(), faults->begin(), faults->end());
    }
    return false;
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

}  // namespace advstep::graph
