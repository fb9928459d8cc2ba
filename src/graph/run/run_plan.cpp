// SPDX-License-Identifier: Apache-2.0
// Plans a run: infers shapes, orders calls, and chooses the memory of each value on a stream.

#include "src/graph/run/run_plan.h"

#include <algorithm>
#include <map>
#include <utility>

#include "src/graph/ir/graph_model.h"
#include "src/graph/ir/tensor.h"
#include "src/graph/run/graph_run.h"
#include "src/graph/run/operator_kind.h"
#include "src/graph/run/plan_part.h"

namespace advstep::graph {
namespace {

// Makes the plan of a run.
class Planner {
 public:
    Planner(const GraphModel& model, PlanFor use, std::optional<int32_t> deviceId,
            const std::vector<ge::Tensor>* read, RunPlan* plan)
        : model_(model),
          use_(use),
          deviceId_(deviceId),
          read_(read),
          plan_(*plan),
          kinds_(model.nodes.size()) {}

    Outcome Make(const std::vector<ge::Tensor>& inputs) {
        plan_ = {};
        plan_.hasShapes = use_ != PlanFor::kLinks;
        for (const ModelNode& node : model_.nodes) {
            firstValues_.push_back(plan_.values.size());
            plan_.values.resize(plan_.values.size() + node.outputs.size());
        }
        for (const ModelNode& node : model_.nodes) {  // first, as they may cause later failures
            if (!node.faults.empty()) {
                return Fail(kInnerError, "{}", node.faults.front());
            }
        }
        for (size_t node = 0; node < model_.nodes.size(); ++node) {
            ADVSTEP_GRAPH_RETURN_IF_ERROR(CheckNode(model_.nodes[node], &kinds_[node]));
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
                        "{} has {}; expected dimensions >= 0, elements of a known size and fewer "
                        "than 2^63 bytes",
                        what, shape);
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
                use_ == PlanFor::kRun, index));
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

    // Notes that an operator updates a value. The memory of a Variable or RefData has one state, so
    // at most one operator may make each next state of it.
    Outcome Update(const ModelNode& node, const std::string& input, size_t value, size_t updated) {
        PlannedValue& before = plan_.values[value];
        const ModelNode* const source =
            before.source ? &model_.nodes[plan_.sources[*before.source].node] : nullptr;
        const bool isState = source != nullptr && source->IsState();
        if (isState && before.isUpdated) {
            return Fail(kInnerError,
                        "input {} of {} is updated in place, and another operator updates {} too; "
                        "expected one",
                        input, Describe(node), source->name);
        }
        before.isUpdated = true;
        plan_.values[updated].source = before.source;
        if (isState) {
            plan_.sources[*before.source].last = updated;
        }
        return {};
    }

    Outcome CheckUpdatable(const ModelNode& node, const OperatorKind& kind,
                           const OutputRule& rule) const {
        const std::optional<ValueId> updated =
            rule.isNew() ? std::nullopt : FindSource(node, kind.inputs[rule.input].name);
        if (updated && model_.nodes[updated->node].IsConst()) {
            return Fail(kInnerError,
                        "input {} of {} is updated in place, and comes from {}; expected no Const",
                        kind.inputs[rule.input].name, Describe(node),
                        model_.nodes[updated->node].name);
        }
        return {};
    }

    Outcome PlanCall(size_t nodeIndex) {
        const ModelNode& node = model_.nodes[nodeIndex];
        PlannedCall call;
        call.node = nodeIndex;
        call.kind = kinds_[nodeIndex];
        for (const InputRule& rule : call.kind->inputs) {
            const std::optional<ValueId> source = FindSource(node, rule.name);
            call.inputs.push_back(source ? std::optional(IndexOf(*source)) : std::nullopt);
            if (source) {
                ++plan_.values[*call.inputs.back()].uses;
            }
        }
        for (const OutputRule& rule : call.kind->outputs) {
            ADVSTEP_GRAPH_RETURN_IF_ERROR(CheckUpdatable(node, *call.kind, rule));
            const auto output = std::find(node.outputs.begin(), node.outputs.end(), rule.name);
            size_t value = plan_.values.size();
            if (output == node.outputs.end()) {
                plan_.values.emplace_back();
            } else {
                value =
                    firstValues_[nodeIndex] + static_cast<size_t>(output - node.outputs.begin());
            }
            call.outputs.push_back(value);
            if (!rule.isNew()) {
                plan_.values[value].desc = plan_.values[*call.inputs[rule.input]].desc;
                ADVSTEP_GRAPH_RETURN_IF_ERROR(
                    Update(node, rule.name, *call.inputs[rule.input], value));
            }
        }
        ADVSTEP_GRAPH_RETURN_IF_ERROR(AskOperator(node, &call));
        plan_.calls.push_back(std::move(call));
        return {};
    }

    // Finds the elements of an input on which the plan depends: those of a Const, of a tensor of
    // the run, or what operators make of these. The planner keeps them.
    Outcome FindElements(const ModelNode& node, const std::string& input, size_t value,
                         const uint8_t** bytes) {
        RunPlan part;
        ADVSTEP_GRAPH_RETURN_IF_ERROR(
            PartFor(model_, plan_, value, "input " + input + " of " + Describe(node), &part));
        bool areKnown = true;
        for (PlannedSource& source : part.sources) {
            if (source.input) {
                NoteRead(*source.input);
                source.tensor = read_ != nullptr ? (*read_)[*source.input] : source.tensor;
                // Whoever asks for links only may have tensors in device memory.
                plan_.hasShapes = plan_.hasShapes &&
                                  source.tensor.GetSize() == part.values[source.value].desc.bytes;
                areKnown = plan_.hasShapes;
            }
        }
        if (part.calls.empty()) {
            *bytes = areKnown ? part.sources.front().tensor.GetData() : nullptr;
            return {};
        }
        if (!plan_.hasShapes) {
            *bytes = nullptr;
            return {};
        }
        ge::Tensor& made = computed_[value];
        if (made.GetSize() == 0) {
            ADVSTEP_GRAPH_RETURN_IF_ERROR(RunPart(model_, part, deviceId_, &made));
        }
        *bytes = made.GetData();
        return {};
    }

    void NoteRead(size_t input) {
        const auto& known = plan_.readInputs;
        if (std::find(known.begin(), known.end(), input) == known.end()) {
            plan_.readInputs.push_back(input);
        }
    }

    // Reads the attributes of an operator, and asks it for shapes.
    Outcome AskOperator(const ModelNode& node, PlannedCall* call) {
        std::vector<KnownInput> known;
        std::vector<const ValueDesc*> inputs;
        for (size_t place = 0; place < call->inputs.size(); ++place) {
            const std::optional<size_t>& input = call->inputs[place];
            inputs.push_back(input ? &plan_.values[*input].desc : nullptr);
            known.push_back({inputs.back(), nullptr});
            if (input && call->kind->inputs[place].isRead) {
                ADVSTEP_GRAPH_RETURN_IF_ERROR(FindElements(node, call->kind->inputs[place].name,
                                                           *input, &known.back().bytes));
            }
        }
        ADVSTEP_GRAPH_RETURN_IF_ERROR(ReadAttributes(node, *call->kind, known, &call->attributes));
        std::vector<ValueDesc*> outputs;
        for (size_t output = 0; output < call->outputs.size(); ++output) {
            outputs.push_back(&plan_.values[call->outputs[output]].desc);
            if (call->kind->outputs[output].isNew()) {
                outputs.back()->dims = {0};  // stays if the shapes are unknown
            }
        }
        return plan_.hasShapes ? InferOutputs(node, *call->kind, call->attributes->values.data(),
                                              inputs, outputs)
                               : Outcome();
    }

    const GraphModel& model_;
    const PlanFor use_;
    const std::optional<int32_t> deviceId_;
    const std::vector<ge::Tensor>* const read_;
    RunPlan& plan_;
    std::map<size_t, ge::Tensor> computed_;  // elements of values that operators make
    std::vector<std::shared_ptr<const OperatorKind>> kinds_;  // of the nodes; null: a source
    std::vector<size_t> firstValues_;                         // index of each node's first value
};

// Makes the steps of a run on a stream.
class StreamPlanner {
 public:
    StreamPlanner(const GraphModel& model, const RunPlan& plan, const StreamMemory& memory,
                  std::vector<StreamStep>* steps)
        : model_(model), plan_(plan), memory_(memory), steps_(*steps), at_(plan.values.size()) {
        for (const PlannedValue& value : plan.values) {
            usesLeft_.push_back(value.uses);
        }
    }

    Outcome Make() {
        for (size_t source = 0; source < plan_.sources.size(); ++source) {
            at_[plan_.sources[source].value] = memory_.sources[source];
        }
        for (size_t call = 0; call < plan_.calls.size(); ++call) {
            ADVSTEP_GRAPH_RETURN_IF_ERROR(PlanCall(call));
        }
        for (size_t output = 0; output < plan_.outputs.size(); ++output) {
            const size_t value = plan_.outputs[output];
            --usesLeft_[value];
            uint8_t* const to = memory_.outputs[output];
            if (at_[value] != to) {
                ADVSTEP_GRAPH_RETURN_IF_ERROR(Vacate(to));
                Copy(value, to);
            }
        }
        return {};
    }

 private:
    void Copy(size_t value, uint8_t* to) {
        if (plan_.values[value].desc.bytes > 0) {
            StreamStep step;
            step.to = to;
            step.from = at_[value];
            step.bytes = plan_.values[value].desc.bytes;
            steps_.push_back(std::move(step));
        }
    }

    Outcome Save(size_t value) {
        uint8_t* saved = nullptr;
        ADVSTEP_GRAPH_RETURN_IF_ERROR(memory_.allocate(plan_.values[value].desc.bytes, &saved));
        Copy(value, saved);
        at_[value] = saved;
        return {};
    }

    // Saves the values at an address that are still read later.
    Outcome Vacate(const uint8_t* address) {
        for (size_t value = 0; value < at_.size(); ++value) {
            if (at_[value] == address && usesLeft_[value] > 0) {
                ADVSTEP_GRAPH_RETURN_IF_ERROR(Save(value));
            }
        }
        return {};
    }

    // Finds the memory in which an operator updates the value, and puts the value there.
    Outcome BindUpdated(size_t value, size_t updated, void** bound) {
        const PlannedValue& before = plan_.values[value];
        const bool isSource = before.source && plan_.sources[*before.source].value == value;
        const bool isState =
            before.source && model_.nodes[plan_.sources[*before.source].node].IsState();
        const auto output = std::find(plan_.outputs.begin(), plan_.outputs.end(), updated);
        uint8_t* to = nullptr;
        if (isState || (usesLeft_[value] == 1 && !isSource && output == plan_.outputs.end())) {
            to = at_[value];
        } else if (output != plan_.outputs.end()) {
            to = memory_.outputs[static_cast<size_t>(output - plan_.outputs.begin())];
        } else {
            ADVSTEP_GRAPH_RETURN_IF_ERROR(memory_.allocate(before.desc.bytes, &to));
        }
        const bool isThere = at_[value] == to;
        --usesLeft_[value];
        ADVSTEP_GRAPH_RETURN_IF_ERROR(Vacate(to));  // of this value too, if others read it
        if (!isThere) {
            Copy(value, to);
        }
        *bound = to;
        return {};
    }

    // Finds the memory of an output that is no update.
    Outcome BindNew(size_t value, void** bound) {
        const auto output = std::find(plan_.outputs.begin(), plan_.outputs.end(), value);
        uint8_t* to = nullptr;
        if (output == plan_.outputs.end()) {
            ADVSTEP_GRAPH_RETURN_IF_ERROR(memory_.allocate(plan_.values[value].desc.bytes, &to));
        } else {
            to = memory_.outputs[static_cast<size_t>(output - plan_.outputs.begin())];
            ADVSTEP_GRAPH_RETURN_IF_ERROR(Vacate(to));
        }
        *bound = to;
        return {};
    }

    Outcome PlanCall(size_t index) {
        const PlannedCall& call = plan_.calls[index];
        const auto& rules = call.kind->outputs;
        StreamStep step;
        step.call = index;
        const size_t inputs = call.inputs.size();
        step.addresses.resize(inputs + rules.size());
        const auto place = [&](size_t output) {
            return rules[output].isNew() ? inputs + output : rules[output].input;
        };
        for (size_t output = 0; output < rules.size(); ++output) {
            void** const bound = &step.addresses[place(output)];
            ADVSTEP_GRAPH_RETURN_IF_ERROR(
                rules[output].isNew()
                    ? BindNew(call.outputs[output], bound)
                    : BindUpdated(*call.inputs[rules[output].input], call.outputs[output], bound));
        }
        for (size_t input = 0; input < call.inputs.size(); ++input) {
            const bool isUpdated =
                std::any_of(rules.begin(), rules.end(),
                            [&](const OutputRule& rule) { return rule.input == input; });
            if (call.inputs[input] && !isUpdated) {
                step.addresses[input] = at_[*call.inputs[input]];
                --usesLeft_[*call.inputs[input]];
            }
        }
        for (size_t output = 0; output < rules.size(); ++output) {
            at_[call.outputs[output]] = static_cast<uint8_t*>(step.addresses[place(output)]);
        }
        steps_.push_back(std::move(step));
        return {};
    }

    const GraphModel& model_;
    const RunPlan& plan_;
    const StreamMemory& memory_;
    std::vector<StreamStep>& steps_;
    std::vector<uint8_t*> at_;  // where each value is, at the step that is being planned
    std::vector<size_t> usesLeft_;
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

Outcome MakePlan(const GraphModel& model, const std::vector<ge::Tensor>& inputs, PlanFor use,
                 std::optional<int32_t> deviceId, RunPlan* plan,
                 const std::vector<ge::Tensor>* read) {
    return Planner(model, use, deviceId, read, plan).Make(inputs);
}

Outcome PlanStream(const GraphModel& model, const RunPlan& plan, const StreamMemory& memory,
                   std::vector<StreamStep>* steps) {
    return StreamPlanner(model, plan, memory, steps).Make();
}

}  // namespace advstep::graph
