// SPDX-License-Identifier: Apache-2.0
// Makes, links and frees operator nodes.

#include "src/graph/operator_node.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "src/base/fork.h"

namespace advstep::graph {
namespace {

// Guards the group of every node, and the handles of every group. No other lock is taken while it
// is held, and nothing is destroyed.
std::mutex groupsMutex;

// A thread of the parent of a fork may have held the mutex.
const ForkHook renewGroups([](void*) noexcept { new (&groupsMutex) std::mutex; });

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
        const std::lock_guard<std::mutex> lock(groupsMutex);
        ++node->group->handles;
    }
}

void DropHandle(OperatorNode* node) noexcept {
    std::unique_ptr<OperatorGroup> last;  // destroyed without the lock
    if (node != nullptr) {
        const std::lock_guard<std::mutex> lock(groupsMutex);
        if (--node->group->handles == 0) {
            last.reset(node->group);
        }
    }
}

void Connect(OperatorNode* one, OperatorNode* other) {
    std::unique_ptr<OperatorGroup> from;  // destroyed without the lock
    const std::lock_guard<std::mutex> lock(groupsMutex);
    OperatorGroup* to = one->group;
    OperatorGroup* small = other->group;
    if (to->members.size() < small->members.size()) {
        std::swap(to, small);  // the smaller group moves, so that a chain of n links costs n log n
    }
    const size_t joined = to->members.size() + (to == small ? 0 : small->members.size());
    if (to->members.capacity() < joined) {
        to->members.reserve(std::max(joined, 2 * to->members.size()));
    }
    one->neighbours.push_back(other);
    try {
        other->neighbours.push_back(one);
    } catch (...) {
        one->neighbours.pop_back();
        throw;
    }
    if (to == small) {
        return;
    }
    from.reset(small);
    for (std::unique_ptr<OperatorNode>& member : from->members) {
        member->group = to;
        to->members.push_back(std::move(member));
    }
    to->handles += from->handles;
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
