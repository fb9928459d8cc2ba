// SPDX-License-Identifier: Apache-2.0
// The public class Operator: names, inputs, outputs and links.

#include "graph/operator.h"

#include <fmt/core.h>

#include <atomic>
#include <utility>

#include "src/graph/operator_node.h"

namespace ge {
namespace {

using advstep::graph::AddHandle;
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

graphStatus Operator::UpdateDynamicInputDesc(const char* name, uint32_t index,
                                             const TensorDesc& desc) {
    return UpdateInputDesc(fmt::format("{}{}", TextOf(name), index).c_str(), desc);
}

graphStatus Operator::UpdateOutputDesc(const char* name, const TensorDesc& desc) {
    OutputSlot* output = node_ == nullptr ? nullptr : node_->FindOutput(TextOf(name));
    if (output == nullptr) {
        return GRAPH_FAILED;
    }
    output->desc = desc;
    return GRAPH_SUCCESS;
}

}  // namespace ge
