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

// Forks between the first process and this one. It is written while the child has one thread.
uint64_t generation = 0;

// Groups from before a fork whose handles were dropped since, so that they are no leaks. Guarded by
// groupsMutex.
OperatorGroup* abandonedGroups = nullptr;

// A thread of the parent of a fork may have held the mutex.
const ForkHook renewGroups([](void*) noexcept {
    new (&groupsMutex) std::mutex;
    ++generation;
});

// Another thread of the parent may have been linking or changing operators of the group, so its
// count of handles may be wrong and its members in two groups or in none. It is never destroyed.
void AbandonLocked(OperatorGroup* group) {
    if (!group->isAbandoned) {
        group->isAbandoned = true;
        group->nextAbandoned = abandonedGroups;
        abandonedGroups = group;
    }
}

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
    group->generation = generation;
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
        if (node->group->generation != generation) {
            AbandonLocked(node->group);
        } else if (--node->group->handles == 0) {
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
    // A group from before a fork may have half of another's members. It stays as it is, and as it
    // is never destroyed, the other one must not be.
    const uint64_t oldest = std::min(to->generation, small->generation);
    const bool join = to != small && oldest == generation;
    if (join) {
        const size_t joined = to->members.size() + small->members.size();
        if (to->members.capacity() < joined) {
            to->members.reserve(std::max(joined, 2 * to->members.size()));
        }
    }
    one->neighbours.push_back(other);
    try {
        other->neighbours.push_back(one);
    } catch (...) {
        one->neighbours.pop_back();
        throw;
    }
    if (!join) {
        to->generation = small->generation = oldest;
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
