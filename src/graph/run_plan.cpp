// SPDX-License-Identifier: Apache-2.0
// Plans a run: shapes and data types of all values, and calls in order.

#include "src/graph/run_plan.h"

#include <algorithm>

#include "src/graph/element_size.h"
#include "src/graph/node_order.h"

namespace advstep::graph {
namespace {

template <class T>
const T* FindAttr(const ModelNode& node, const std::string& name) {
    const auto found = node.attrs.find(name);
    return found == node.attrs.end() ? nullptr : std::get_if<T>(&found->second);
}

std::string Describe(const ModelNode& node) {
    return fmt::format("operator {} of type {}", node.name, node.type);
}

class Planner {
 public:
    Planner(const GraphModel& model, bool checkBytes, RunPlan* plan)
        : model_(model), checkBytes_(checkBytes), plan_(*plan) {}

    Outcome Make(const std::vector<ge::Tensor>& inputs) {
        plan_ = {};
        for (const ModelNode& node : model_.nodes) {
            firstValues_.push_back(plan_.values.size());
            plan_.values.resize(plan_.values.size() + node.outputs.size());
        }
        for (const ModelNode& node : model_.nodes) {  // first, since they explain what follows
            if (!node.faults.empty()) {
                return Fail(kInnerError, "{}", node.faults.front());
            }
        }
        for (const ModelNode& node : model_.nodes) {
            ADVSTEP_GRAPH_RETURN_IF_ERROR(CheckNode(node));
        }
        std::vector<size_t> order;
        ADVSTEP_GRAPH_RETURN_IF_ERROR(OrderNodes(model_, &order));
        ADVSTEP_GRAPH_RETURN_IF_ERROR(FeedData(inputs));
        for (const size_t node : order) {
            const ModelNode& planned = model_.nodes[node];
            if (planned.IsConst()) {
                ADVSTEP_GRAPH_RETURN_IF_ERROR(FeedConst(node));
            } else if (planned.IsVariable()) {
                ADVSTEP_GRAPH_RETURN_IF_ERROR(FeedVariable(node));
            } else if (!planned.IsData()) {
                ADVSTEP_GRAPH_RETURN_IF_ERROR(PlanCall(node));
            }
        }
        for (const ValueId& output : model_.outputs) {
            plan_.outputs.push_back(IndexOf(output));
            ++plan_.values[IndexOf(output)].uses;
        }
        return {};
    }

 private:
    size_t IndexOf(const ValueId& value) const { return firstValues_[value.node] + value.output; }

    // Makes the checks of a node that do not depend on the tensors.
    Outcome CheckNode(const ModelNode& node) const {
        if (node.IsSource()) {
            return node.outputs.size() == 1 ? Outcome()
                                            : Fail(kInnerError, "{} has {} outputs; expected 1",
                                                   Describe(node), node.outputs.size());
        }
        const OperatorKind* kind = FindOperatorKind(node.type);
        if (kind == nullptr) {
            return Fail(kUnsupported, "{} has no kernel here", Describe(node));
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

    static Outcome CheckLinks(const ModelNode& node, const OperatorKind& kind) {
        for (const ModelInput& input : node.inputs) {
            if (!input.source && input.isOptional && input.hasDesc) {
                return Fail(kUnlinkedInput,
                            "optional input {} of {} has a description and no link; expected both "
                            "or none",
                            input.name, Describe(node));
            }
            if (!input.source && !input.isOptional) {
                return Fail(kUnlinkedInput, "input {} of {} is not linked", input.name,
                            Describe(node));
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
                return Fail(kUnlinkedInput, "input {} of {} is not linked", rule.name,
                            Describe(node));
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

    static std::optional<ValueId> FindSource(const ModelNode& node, const std::string& name) {
        for (const ModelInput& input : node.inputs) {
            if (input.name == name) {
                return input.source;
            }
        }
        return std::nullopt;
    }

    Outcome AddSource(size_t node, const ge::Tensor& tensor, const std::string& what,
                      bool checkBytes, std::optional<size_t> input = {}) {
        const ge::TensorDesc desc = tensor.GetTensorDesc();
        ValueDesc& value = plan_.values[firstValues_[node]].desc;
        value.dims = desc.GetShape().GetDims();
        value.dataType = desc.GetDataType();
        const std::string shape =
            fmt::format("shape {} and data type {}", ShapeText(value.dims), NameOf(value.dataType));
        const std::optional<size_t> bytes = ByteSize(value.dims, value.dataType);
        if (!bytes) {
            return Fail(kBadTensor,
                        "{} has {}; expected dimensions >= 0 and elements of a known size", what,
                        shape);
        }
        if (checkBytes && tensor.GetSize() != *bytes) {
            return Fail(kBadTensor, "{} has {} bytes; expected {} for {}", what, tensor.GetSize(),
                        *bytes, shape);
        }
        value.bytes = *bytes;
        const size_t first = firstValues_[node];
        plan_.values[first].source = plan_.sources.size();
        plan_.sources.push_back({node, first, input, tensor, first});
        return {};
    }

    Outcome FeedData(const std::vector<ge::Tensor>& inputs) {
        const std::vector<size_t> data = OrderData(model_);
        if (inputs.size() != data.size()) {
            return Fail(kBadTensor,
                        "inputs has {} tensors; expected one for each of the {} Data operators of "
                        "graph {}",
                        inputs.size(), data.size(), model_.name);
        }
        for (size_t index = 0; index < data.size(); ++index) {
            ADVSTEP_GRAPH_RETURN_IF_ERROR(AddSource(
                data[index], inputs[index],
                fmt::format("inputs[{}], which feeds {},", index, model_.nodes[data[index]].name),
                checkBytes_, index));
        }
        return {};
    }

    Outcome FeedConst(size_t node) {
        const auto* tensor = FindAttr<ge::Tensor>(model_.nodes[node], "value");
        if (tensor == nullptr) {
            return Fail(kInnerError, "attribute value of {} is not set to a tensor",
                        Describe(model_.nodes[node]));
        }
        return AddSource(node, *tensor, "the value of " + Describe(model_.nodes[node]), true);
    }

    Outcome FeedVariable(size_t node) {
        const ModelNode& variable = model_.nodes[node];
        for (const ModelInput& input : variable.inputs) {
            if (input.source) {
                return Fail(kInnerError, "input {} of {} is linked; expected no link", input.name,
                            Describe(variable));
            }
        }
        const ge::Tensor initial = InitialValueOf(variable);
        ADVSTEP_GRAPH_RETURN_IF_ERROR(AddSource(
            node, initial, "the initial value of " + Describe(variable), initial.GetSize() > 0));
        plan_.sources.back().tensor = ge::Tensor();
        return {};
    }

    // An operator updates a value. The memory of a Variable or RefData has one state, so one
    // operator at most may make each next state of it.
    Outcome Update(const ModelNode& node, const char* input, size_t value, size_t updated) {
        PlannedValue& before = plan_.values[value];
        const PlannedSource& source = plan_.sources[before.source.value_or(0)];
        const bool isState = before.source && model_.nodes[source.node].IsState();
        if (isState && before.isUpdated) {
            return Fail(kInnerError,
                        "input {} of {} is updated in place, and another operator updates {} too; "
                        "expected one",
                        input, Describe(node), model_.nodes[source.node].name);
        }
        before.isUpdated = true;
        plan_.values[updated].source = before.source;
        if (isState) {
            plan_.sources[*before.source].last = updated;
        }
        return {};
    }

    Outcome PlanCall(size_t nodeIndex) {
        const ModelNode& node = model_.nodes[nodeIndex];
        PlannedCall call;
        call.node = nodeIndex;
        call.kind = FindOperatorKind(node.type);
        for (const InputRule& rule : call.kind->inputs) {
            const std::optional<ValueId> source = FindSource(node, rule.name);
            call.inputs.push_back(source ? std::optional(IndexOf(*source)) : std::nullopt);
            if (source) {
                ++plan_.values[*call.inputs.back()].uses;
            }
        }
        for (const OutputRule& rule : call.kind->outputs) {
            const std::optional<ValueId> alias =
                FindSource(node, call.kind->inputs[rule.input].name);
            if (model_.nodes[alias->node].IsConst()) {
                return Fail(kInnerError,
                            "input {} of {} is updated in place, and comes from {}; expected no "
                            "Const",
                            call.kind->inputs[rule.input].name, Describe(node),
                            model_.nodes[alias->node].name);
            }
            const auto output = std::find(node.outputs.begin(), node.outputs.end(), rule.name);
            size_t value = plan_.values.size();
            if (output == node.outputs.end()) {
                plan_.values.emplace_back();
            } else {
                value =
                    firstValues_[nodeIndex] + static_cast<size_t>(output - node.outputs.begin());
            }
            call.outputs.push_back(value);
            plan_.values[value].desc = plan_.values[*call.inputs[rule.like]].desc;
            ADVSTEP_GRAPH_RETURN_IF_ERROR(Update(node, rule.name, *call.inputs[rule.input], value));
        }
        for (const char* attr : call.kind->attrs) {
            call.attrs.push_back(*FindAttr<int64_t>(node, attr));
        }
        plan_.calls.push_back(std::move(call));
        return {};
    }

    const GraphModel& model_;
    const bool checkBytes_;
    RunPlan& plan_;
    std::vector<size_t> firstValues_;  // index of each node's first value
};

}  // namespace

ge::Tensor InitialValueOf(const ModelNode& variable) {
    if (const auto* value = FindAttr<ge::Tensor>(variable, "value");
        value != nullptr && value->GetSize() > 0) {
        return *value;
    }
    const ge::TensorDesc none;
    ge::TensorDesc desc = variable.outputDescs.empty() ? none : variable.outputDescs.front();
    if (desc.GetShape().GetDims().empty() && desc.GetDataType() == none.GetDataType() &&
        !variable.inputs.empty()) {
        desc = variable.inputs.front().desc;
    }
    return ge::Tensor(desc);
}

Outcome MakePlan(const GraphModel& model, const std::vector<ge::Tensor>& inputs, bool checkBytes,
                 RunPlan* plan) {
    return Planner(model, checkBytes, plan).Make(inputs);
}

}  // namespace advstep::graph
