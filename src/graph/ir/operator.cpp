// SPDX-License-Identifier: Apache-2.0
// Implements the public class Operator: its node, names, inputs, outputs, links and attributes.

#include "src/graph/ir/operator.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <limits>
#include <mutex>
#include <new>
#include <utility>

#include "src/base/fork.h"
#include "src/graph/ir/messages.h"

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

namespace ge {
namespace {

using advstep::graph::AddHandle;
using advstep::graph::AttrValue;
using advstep::graph::Boundary;
using advstep::graph::DropHandle;
using advstep::graph::InputSlot;
using advstep::graph::MakeNode;
using advstep::graph::OperatorNode;
using advstep::graph::OutputSlot;

const char* TextOf(const char* text) { return text == nullptr ? "" : text; }

std::string GeneratedName(const char* type) {
    static std::atomic<uint64_t> count{0};
    return fmt::format("{}_{}", type, count.fetch_add(1, std::memory_order_relaxed));
}

// Returns the index of the chosen output of source. It returns the number of outputs and sets *why
// on a fault.
size_t FindSourceOutput(OperatorNode* source, const char* output, std::string* why) {
    for (size_t index = 0; index < source->outputs.size(); ++index) {
        if (source->outputs[index].name == output) {
            return index;
        }
    }
    *why = fmt::format("output {} of {} is unknown", output, source->name);
    return source->outputs.size();
}

// Links an input with an output. A link with a fault still makes the two operators neighbours. So
// the graph has both of them, and reports the fault instead of leaving the operator out.
void Link(OperatorNode* node, const char* inputName, OperatorNode* source, size_t output,
          const std::string& why) {
    InputSlot* input = node->FindInput(inputName);
    const auto fault = [&](const std::string& text) {
        node->faults.push_back(fmt::format("input {} of {}: {}", inputName, node->name, text));
        if (source != nullptr) {
            Connect(node, source);
        }
    };
    if (input == nullptr) {
        fault("there is no such input");
    } else if (source == nullptr) {
        fault("is linked with an empty operator");
    } else if (!why.empty()) {
        fault(why);
    } else if (output >= source->outputs.size()) {
        fault(fmt::format("is linked with output {} of {}, which has {} outputs", output,
                          source->name, source->outputs.size()));
    } else if (input->source != nullptr) {
        fault(fmt::format("is linked a second time, with {}", source->name));
    } else {
        TensorDesc desc = source->outputs[output].desc;
        Connect(node, source);  // first: it may throw
        input->source = source;
        input->sourceOutput = output;
        input->desc = std::move(desc);
    }
}

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

Operator& Set(Operator& op, OperatorNode* node, const char* name, AttrValue value) {
    if (node != nullptr && name != nullptr) {
        node->attrs[name] = std::move(value);
    }
    return op;
}

// A program that reads a required attribute expects a value. get_attr_NAME cannot return a status,
// so only this message says that its zero is none.
void ReportIfRequired(const OperatorNode& node, const char* name) {
    const auto& required = node.requiredAttrs;
    if (std::find(required.begin(), required.end(), name) != required.end()) {
        Boundary("Operator::GetAttr", [&] {
            return Fail(advstep::graph::kInnerError,
                        "required attribute {} of operator {} of type {} was never set", name,
                        node.name, node.type);
        });
    }
}

// Returns the attribute, or null if it is missing or not a T.
template <class T>
const T* Find(const OperatorNode* node, const char* name) {
    if (node == nullptr || name == nullptr) {
        return nullptr;
    }
    const auto found = node->attrs.find(name);
    if (found == node->attrs.end()) {
        ReportIfRequired(*node, name);
        return nullptr;
    }
    return std::get_if<T>(&found->second);
}

template <class T>
graphStatus Get(const OperatorNode* node, const char* name, T& value) {
    const T* found = Find<T>(node, name);
    if (found == nullptr) {
        return GRAPH_FAILED;
    }
    value = *found;
    return GRAPH_SUCCESS;
}

template <class Narrow>
graphStatus GetNarrow(const OperatorNode* node, const char* name, Narrow& value) {
    const int64_t* found = Find<int64_t>(node, name);
    if (found == nullptr || *found < std::numeric_limits<Narrow>::min() ||
        *found > std::numeric_limits<Narrow>::max()) {
        return GRAPH_FAILED;
    }
    value = static_cast<Narrow>(*found);
    return GRAPH_SUCCESS;
}

AscendString ToAscend(const std::string& text) { return AscendString(text.data(), text.size()); }

std::string ToStd(const AscendString& text) { return {text.GetString(), text.GetLength()}; }

}  // namespace

Operator::Operator() : node_(nullptr) {}

Operator::Operator(const char* type)
    : node_(MakeNode(GeneratedName(TextOf(type)).c_str(), TextOf(type))) {}

Operator::Operator(const char* name, const char* type)
    : node_(MakeNode(TextOf(name), TextOf(type))) {}

Operator::Operator(const AscendString& name, const AscendString& type)
    : node_(MakeNode(name.GetString(), type.GetString())) {}

Operator::Operator(const Operator& other) : node_(other.node_) { AddHandle(node_); }

Operator::Operator(Operator&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}

// NOLINTNEXTLINE(bugprone-unhandled-self-assignment): the handle is counted before it is dropped
Operator& Operator::operator=(const Operator& other) {
    AddHandle(other.node_);  // before the drop, because both may be the same node
    DropHandle(node_);
    node_ = other.node_;
    return *this;
}

Operator& Operator::operator=(Operator&& other) noexcept {
    std::swap(node_, other.node_);
    return *this;
}

Operator::~Operator() { DropHandle(node_); }

bool Operator::IsEmpty() const { return node_ == nullptr; }

graphStatus Operator::GetName(AscendString& name) const {
    if (node_ == nullptr) {
        return GRAPH_FAILED;
    }
    name = AscendString(node_->name.c_str());
    return GRAPH_SUCCESS;
}

graphStatus Operator::GetOpType(AscendString& type) const {
    if (node_ == nullptr) {
        return GRAPH_FAILED;
    }
    type = AscendString(node_->type.c_str());
    return GRAPH_SUCCESS;
}

size_t Operator::GetInputsSize() const { return node_ == nullptr ? 0 : node_->inputs.size(); }

size_t Operator::GetOutputsSize() const { return node_ == nullptr ? 0 : node_->outputs.size(); }

Operator& Operator::SetInput(const char* dst, const Operator& src) {
    if (node_ != nullptr) {
        OperatorNode* source = src.node_;
        std::string why;
        if (source != nullptr && source->outputs.size() != 1) {
            why = fmt::format("is linked with {}, which has {} outputs, but not with one of them",
                              source->name, source->outputs.size());
        }
        Link(node_, TextOf(dst), source, 0, why);
    }
    return *this;
}

Operator& Operator::SetInput(const char* dst, const Operator& src, const char* srcOutput) {
    if (node_ != nullptr) {
        OperatorNode* source = src.node_;
        std::string why;
        const size_t output =
            source == nullptr ? 0 : FindSourceOutput(source, TextOf(srcOutput), &why);
        Link(node_, TextOf(dst), source, output, why);
    }
    return *this;
}

Operator& Operator::SetInput(const char* dst, const Operator& src, uint32_t srcIndex) {
    if (node_ != nullptr) {
        Link(node_, TextOf(dst), src.node_, srcIndex, "");
    }
    return *this;
}

Operator& Operator::AddControlInput(const Operator& src) {
    if (node_ != nullptr && src.node_ == nullptr) {
        node_->faults.push_back(
            fmt::format("{}: its control input is an empty operator", node_->name));
    } else if (node_ != nullptr) {
        Connect(node_, src.node_);  // first: it may throw
        node_->controlSources.push_back(src.node_);
    }
    return *this;
}

TensorDesc Operator::GetInputDescByName(const char* name) const {
    const InputSlot* input = node_ == nullptr ? nullptr : node_->FindInput(TextOf(name));
    return input == nullptr ? TensorDesc() : input->desc;
}

TensorDesc Operator::GetOutputDescByName(const char* name) const {
    const OutputSlot* output = node_ == nullptr ? nullptr : node_->FindOutput(TextOf(name));
    return output == nullptr ? TensorDesc() : output->desc;
}

graphStatus Operator::UpdateInputDesc(const char* name, const TensorDesc& desc) {
    InputSlot* input = node_ == nullptr ? nullptr : node_->FindInput(TextOf(name));
    if (input == nullptr) {
        return GRAPH_FAILED;
    }
    input->desc = desc;
    input->hasDesc = true;
    return GRAPH_SUCCESS;
}

graphStatus Operator::UpdateOutputDesc(const char* name, const TensorDesc& desc) {
    OutputSlot* output = node_ == nullptr ? nullptr : node_->FindOutput(TextOf(name));
    if (output == nullptr) {
        return GRAPH_FAILED;
    }
    output->desc = desc;
    return GRAPH_SUCCESS;
}

graphStatus Operator::UpdateDynamicInputDesc(const char* name, uint32_t index,
                                             const TensorDesc& desc) {
    return UpdateInputDesc(fmt::format("{}{}", TextOf(name), index).c_str(), desc);
}

// Attributes. Integers are kept as int64_t, strings as std::string.

Operator& Operator::SetAttr(const char* name, int64_t value) {
    return Set(*this, node_, name, value);
}
Operator& Operator::SetAttr(const char* name, int32_t value) {
    return Set(*this, node_, name, static_cast<int64_t>(value));
}
Operator& Operator::SetAttr(const char* name, uint32_t value) {
    return Set(*this, node_, name, static_cast<int64_t>(value));
}
Operator& Operator::SetAttr(const char* name, float value) {
    return Set(*this, node_, name, value);
}
Operator& Operator::SetAttr(const char* name, bool value) { return Set(*this, node_, name, value); }
Operator& Operator::SetAttr(const char* name, const char* value) {
    return Set(*this, node_, name, std::string(value == nullptr ? "" : value));
}
Operator& Operator::SetAttr(const char* name, const AscendString& value) {
    return Set(*this, node_, name, ToStd(value));
}
Operator& Operator::SetAttr(const char* name, const std::string& value) {
    return Set(*this, node_, name, value);
}
Operator& Operator::SetAttr(const char* name, const Tensor& value) {
    return Set(*this, node_, name, value);
}
Operator& Operator::SetAttr(const char* name, const DataType& value) {
    return Set(*this, node_, name, value);
}
Operator& Operator::SetAttr(const char* name, const std::vector<int64_t>& value) {
    return Set(*this, node_, name, value);
}
Operator& Operator::SetAttr(const char* name, const std::vector<float>& value) {
    return Set(*this, node_, name, value);
}
Operator& Operator::SetAttr(const char* name, const std::vector<bool>& value) {
    return Set(*this, node_, name, value);
}
Operator& Operator::SetAttr(const char* name, const std::vector<AscendString>& value) {
    std::vector<std::string> texts;
    texts.reserve(value.size());
    for (const AscendString& text : value) {
        texts.push_back(ToStd(text));
    }
    return Set(*this, node_, name, std::move(texts));
}
Operator& Operator::SetAttr(const char* name, const std::vector<std::string>& value) {
    return Set(*this, node_, name, value);
}
Operator& Operator::SetAttr(const char* name, const std::vector<Tensor>& value) {
    return Set(*this, node_, name, value);
}
Operator& Operator::SetAttr(const char* name, const std::vector<DataType>& value) {
    return Set(*this, node_, name, value);
}
Operator& Operator::SetAttr(const char* name, const std::vector<std::vector<int64_t>>& value) {
    return Set(*this, node_, name, value);
}

graphStatus Operator::GetAttr(const char* name, int64_t& value) const {
    return Get(node_, name, value);
}
graphStatus Operator::GetAttr(const char* name, int32_t& value) const {
    return GetNarrow(node_, name, value);
}
graphStatus Operator::GetAttr(const char* name, uint32_t& value) const {
    return GetNarrow(node_, name, value);
}
graphStatus Operator::GetAttr(const char* name, float& value) const {
    return Get(node_, name, value);
}
graphStatus Operator::GetAttr(const char* name, bool& value) const {
    return Get(node_, name, value);
}
graphStatus Operator::GetAttr(const char* name, AscendString& value) const {
    const auto* text = Find<std::string>(node_, name);
    if (text == nullptr) {
        return GRAPH_FAILED;
    }
    value = ToAscend(*text);
    return GRAPH_SUCCESS;
}
graphStatus Operator::GetAttr(const char* name, std::string& value) const {
    return Get(node_, name, value);
}
graphStatus Operator::GetAttr(const char* name, Tensor& value) const {
    return Get(node_, name, value);
}
graphStatus Operator::GetAttr(const char* name, DataType& value) const {
    return Get(node_, name, value);
}
graphStatus Operator::GetAttr(const char* name, std::vector<int64_t>& value) const {
    return Get(node_, name, value);
}
graphStatus Operator::GetAttr(const char* name, std::vector<float>& value) const {
    return Get(node_, name, value);
}
graphStatus Operator::GetAttr(const char* name, std::vector<bool>& value) const {
    return Get(node_, name, value);
}
graphStatus Operator::GetAttr(const char* name, std::vector<AscendString>& value) const {
    const auto* texts = Find<std::vector<std::string>>(node_, name);
    if (texts == nullptr) {
        return GRAPH_FAILED;
    }
    value.clear();
    for (const std::string& text : *texts) {
        value.push_back(ToAscend(text));
    }
    return GRAPH_SUCCESS;
}
graphStatus Operator::GetAttr(const char* name, std::vector<std::string>& value) const {
    return Get(node_, name, value);
}
graphStatus Operator::GetAttr(const char* name, std::vector<Tensor>& value) const {
    return Get(node_, name, value);
}
graphStatus Operator::GetAttr(const char* name, std::vector<DataType>& value) const {
    return Get(node_, name, value);
}
graphStatus Operator::GetAttr(const char* name, std::vector<std::vector<int64_t>>& value) const {
    return Get(node_, name, value);
}

// Declarations, for REG_OP. A second declaration of a name changes nothing.

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

void Operator::SetDynamicInput(const char* name, uint32_t index, const Operator& src,
                               const char* srcOutput) {
    if (node_ == nullptr) {
        return;
    }
    const auto created = node_->dynamicInputs.find(name);
    const uint32_t count = created == node_->dynamicInputs.end() ? 0 : created->second;
    const std::string dst = fmt::format("{}{}", name, index);
    if (index < count) {
        if (srcOutput == nullptr) {
            SetInput(dst.c_str(), src);
        } else {
            SetInput(dst.c_str(), src, srcOutput);
        }
        return;
    }
    node_->buildFaults.push_back(
        fmt::format("input {} of {}: dynamic input {} has {} inputs; expected a call of "
                    "create_dynamic_input_{} for at least {} before the link",
                    dst, node_->name, name, count, name, uint64_t{index} + 1));
    if (src.node_ != nullptr) {
        Connect(node_, src.node_);
    }
}

}  // namespace ge
