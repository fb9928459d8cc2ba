// SPDX-License-Identifier: Apache-2.0
// Makes, links and frees operator nodes.

#include "src/graph/operator_node.h"

#include <algorithm>

namespace advstep::graph {
namespace {

template <class Slot>
Slot* FindByName(std::vector<Slot>& slots, const std::string& name) {
    const auto found = std::find_if(slots.begin(), slots.end(),
                                    [&](const Slot& slot) { return slot.name == name; });
    return found == slots.end() ? nullptr : &*found;
}

}  // namespace

InputSlot* OperatorNode::FindInput(const std::string& inputName) {
    return FindByName(inputs, inputName);
}

OutputSlot* OperatorNode::FindOutput(const std::string& outputName) {
    return FindByName(outputs, outputName);
}

OperatorNode* MakeNode(const char* name, const char* type) {
    auto group = std::make_unique<OperatorGroup>();
    group->members.push_back(std::make_unique<OperatorNode>());
    OperatorNode* node = group->members.front().get();
    node->name = name;
    node->type = type;
    group->handles = 1;
    node->group = group.release();
    return node;
}

void AddHandle(OperatorNode* node) noexcept {
    if (node != nullptr) {
        node->group->handles.fetch_add(1, std::memory_order_relaxed);
    }
}

void DropHandle(OperatorNode* node) noexcept {
    // acq_rel: the thread that drops the last handle must see all changes of the group by others.
    if (node != nullptr && node->group->handles.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        delete node->group;
    }
}

void Connect(OperatorNode* one, OperatorNode* other) {
    one->neighbours.push_back(other);
    other->neighbours.push_back(one);
    OperatorGroup* to = one->group;
    OperatorGroup* from = other->group;
    if (to == from) {
        return;
    }
    if (to->members.size() < from->members.size()) {
        std::swap(to, from);  // the smaller group moves, so that a chain of n links costs n log n
    }
    to->members.reserve(to->members.size() + from->members.size());
    for (std::unique_ptr<OperatorNode>& member : from->members) {
        member->group = to;
        to->members.push_back(std::move(member));
    }
    to->handles += from->handles;
    delete from;
}

ge::Operator OperatorAccess::HandleOf(OperatorNode* node) {
    ge::Operator handle;
    AddHandle(node);
    handle.node_ = node;
    return handle;
}

ge::GNode OperatorAccess::MakeNodeOf(const ge::Operator& op) {
    ge::GNode made;
    made.operator_ = op;
    return made;
}

ge::GNodePtr OperatorAccess::MakeGNode(OperatorNode* node) {
    return std::make_shared<ge::GNode>(MakeNodeOf(HandleOf(node)));
}

}  // namespace advstep::graph
