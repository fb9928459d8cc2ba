// SPDX-License-Identifier: Apache-2.0
// Compares the inputs, outputs and attributes of a node with its kind.

#include "src/graph/node_check.h"

#include <algorithm>

#include "src/graph/tied_kind.h"

namespace advstep::graph {
namespace {

Outcome CheckLinks(const ModelNode& node, const OperatorKind& kind) {
    for (const ModelInput& input : node.inputs) {
        if (!input.source && input.isOptional && input.hasDesc) {
            return Fail(kUnlinkedInput,
                        "optional input {} of {} has a description and no link; expected both "
                        "or none",
                        input.name, Describe(node));
        }
        if (!input.source && !input.isOptional) {
            return Fail(kUnlinkedInput, "input {} of {} is not linked", input.name, Describe(node));
        }
        if (std::none_of(kind.inputs.begin(), kind.inputs.end(),
                         [&](const InputRule& rule) { return input.name == rule.name; })) {
            return Fail(kInnerError, "{} has an input {}, which its kernel does not know",
                        Describe(node), input.name);
        }
    }
    for (const InputRule& rule : kind.inputs) {
        const bool isDeclared =
            std::any_of(node.inputs.begin(), node.inputs.end(),
                        [&](const ModelInput& input) { return input.name == rule.name; });
        if (!rule.isOptional && (!isDeclared || !FindSource(node, rule.name))) {
            return Fail(kUnlinkedInput, "input {} of {} is not linked", rule.name, Describe(node));
        }
    }
    for (const std::string& output : node.outputs) {
        if (std::none_of(kind.outputs.begin(), kind.outputs.end(),
                         [&](const OutputRule& rule) { return output == rule.name; })) {
            return Fail(kInnerError, "{} has an output {}, which its kernel does not know",
                        Describe(node), output);
        }
    }
    return {};
}

}  // namespace

std::string Describe(const ModelNode& node) {
    return fmt::format("operator {} of type {}", node.name, node.type);
}

std::optional<ValueId> FindSource(const ModelNode& node, const std::string& name) {
    for (const ModelInput& input : node.inputs) {
        if (input.name == name) {
            return input.source;
        }
    }
    return std::nullopt;
}

Outcome CheckNode(const ModelNode& node, std::shared_ptr<const OperatorKind>* made) {
    if (node.IsSource()) {
        return node.outputs.size() == 1 ? Outcome()
                                        : Fail(kInnerError, "{} has {} outputs; expected 1",
                                               Describe(node), node.outputs.size());
    }
    const OperatorKind* kind = FindOperatorKind(node.type);
    if (kind != nullptr) {
        *made = {std::shared_ptr<void>(), kind};  // it is never destroyed
    } else {
        ADVSTEP_GRAPH_RETURN_IF_ERROR(FindTiedKind(node, made));
        kind = made->get();
    }
    if (kind == nullptr) {
        return Fail(kUnsupported,
                    "{} has no kernel here; expected a loaded library that ties the type (linkers "
                    "drop a library that the program does not call, unless --no-as-needed is set)",
                    Describe(node));
    }
    ADVSTEP_GRAPH_RETURN_IF_ERROR(CheckLinks(node, *kind));
    for (const std::string& attr : node.requiredAttrs) {
        if (node.attrs.count(attr) == 0) {
            return Fail(kInnerError, "required attribute {} of {} is not set", attr,
                        Describe(node));
        }
    }
    for (const char* attr : kind->attrs) {
        if (FindAttr<int64_t>(node, attr) == nullptr) {
            return Fail(kInnerError, "attribute {} of {} is not set to an integer", attr,
                        Describe(node));
        }
    }
    return {};
}

}  // namespace advstep::graph
