// SPDX-License-Identifier: Apache-2.0
// Runs a plan: uploads inputs, calls the operators, downloads outputs.

#include "src/graph/run/graph_run.h"

#include <algorithm>
#include <memory>

#include "src/graph/ir/tensor.h"
#include "src/graph/run/aclnn_call.h"
#include "src/graph/run/device.h"
#include "src/graph/run/run_plan.h"

namespace advstep::graph {
namespace {

using SharedMemory = std::shared_ptr<DeviceMemory>;

Outcome MakeMemory(size_t bytes, SharedMemory* memory) {
    *memory = std::make_shared<DeviceMemory>();
    return (*memory)->Allocate(bytes);
}

class GraphRun {
 public:
    GraphRun(const GraphModel& model, const RunPlan& plan, const DeviceContext& context)
        : model_(model), plan_(plan), context_(context), memory_(plan.values.size()) {
        for (const PlannedValue& value : plan.values) {
            usesLeft_.push_back(value.uses);
        }
        for (const PlannedSource& source : plan.sources) {
            usesLeft_[source.last] += model.nodes[source.node].IsVariable() ? 1 : 0;
        }
    }

    // Runs the plan. Operators update copies of the variables. The new values replace the old ones
    // when nothing can fail any more.
    Outcome Run(VariableStore::Lease* variables, std::vector<ge::Tensor>* outputs) {
        for (const PlannedSource& source : plan_.sources) {
            SharedMemory& memory = memory_[source.value];
            ADVSTEP_GRAPH_RETURN_IF_ERROR(
                MakeMemory(plan_.values[source.value].desc.bytes, &memory));
            const ModelNode& node = model_.nodes[source.node];
            ADVSTEP_GRAPH_RETURN_IF_ERROR(memory->Upload(
                node.IsVariable() ? variables->BytesOf(node.name) : source.tensor.GetData()));
        }
        for (const PlannedCall& call : plan_.calls) {
            ADVSTEP_GRAPH_RETURN_IF_ERROR(RunCall(call));
        }
        std::vector<ge::Tensor> made;
        for (const size_t value : plan_.outputs) {
            ge::Tensor tensor;
            ADVSTEP_GRAPH_RETURN_IF_ERROR(Download(value, &tensor));
            made.push_back(tensor);
        }
        std::vector<std::pair<std::string, HostBytes>> states;
        for (const PlannedSource& source : plan_.sources) {
            const ModelNode& node = model_.nodes[source.node];
            if (node.IsVariable() && source.last != source.value) {
                HostBytes bytes = MakeHostBytes(plan_.values[source.last].desc.bytes);
                ADVSTEP_GRAPH_RETURN_IF_ERROR(memory_[source.last]->Download(bytes.get()));
                states.emplace_back(node.name, std::move(bytes));
            }
        }
        for (const auto& [name, bytes] : states) {
            variables->Replace(name, bytes.get());
        }
        outputs->swap(made);
        return {};
    }

 private:
    // Finds the memory of one input of the call. It is the value's own memory, except in two cases
    // that need a copy: the operator updates the input while others still read the value, or the
    // same value is an earlier input too, which aclnn calls refuse.
    Outcome BindInput(const PlannedCall& call, size_t input, SharedMemory* bound) {
        const size_t value = *call.inputs[input];
        const auto& outputs = call.kind->outputs;
        const bool isUpdated =
            std::any_of(outputs.begin(), outputs.end(),
                        [&](const OutputRule& rule) { return rule.input == input; });
        const auto here = call.inputs.begin() + static_cast<ptrdiff_t>(input);
        const bool isSecond = std::find(call.inputs.begin(), here, *here) != here;
        if (!isSecond && (!isUpdated || usesLeft_[value] == 1)) {
            *bound = memory_[value];
            return {};
        }
        ADVSTEP_GRAPH_RETURN_IF_ERROR(MakeMemory(memory_[value]->bytes(), bound));
        return (*bound)->CopyFrom(*memory_[value]);
    }

    Outcome RunCall(const PlannedCall& call) {
        const size_t count = call.inputs.size();
        std::vector<SharedMemory> bound(count + call.outputs.size());
        std::vector<void*> addresses(bound.size());
        for (size_t input = 0; input < count; ++input) {
            if (call.inputs[input] && !call.kind->inputs[input].hasDimsOnly) {
                ADVSTEP_GRAPH_RETURN_IF_ERROR(BindInput(call, input, &bound[input]));
                addresses[input] = bound[input]->address();
            }
        }
        for (size_t output = 0; output < call.outputs.size(); ++output) {
            if (call.kind->outputs[output].isNew()) {
                SharedMemory& made = bound[count + output];
                ADVSTEP_GRAPH_RETURN_IF_ERROR(
                    MakeMemory(plan_.values[call.outputs[output]].desc.bytes, &made));
                addresses[count + output] = made->address();
            }
        }
        ADVSTEP_GRAPH_RETURN_IF_ERROR(CallAclnn(call, addresses));
        for (size_t output = 0; output < call.outputs.size(); ++output) {
            const size_t value = call.outputs[output];
            const OutputRule& rule = call.kind->outputs[output];
            if (usesLeft_[value] > 0) {
                memory_[value] = bound[rule.isNew() ? count + output : rule.input];
            }
        }
        for (const std::optional<size_t>& input : call.inputs) {
            if (input && --usesLeft_[*input] == 0) {
                memory_[*input].reset();
            }
        }
        return {};
    }

    Outcome CallAclnn(const PlannedCall& call, const std::vector<void*>& addresses) {
        const std::string& name = model_.nodes[call.node].name;
        PlannedExecutor planned;
        ADVSTEP_GRAPH_RETURN_IF_ERROR(PlanAclnn(plan_, call, name, addresses, &planned));
        DeviceMemory workspace;
        if (planned.workspaceSize > 0) {
            if (Outcome allocated = workspace.Allocate(planned.workspaceSize); !allocated.ok()) {
                aclDestroyAclOpExecutor(planned.executor);
                return allocated;
            }
        }
        const uint64_t aborts = context_.aborts();
        int32_t code = planned.calls.run(workspace.address(), planned.workspaceSize,
                                         planned.executor, nullptr);
        if (code == ACLNN_SUCCESS) {
            code = aclrtSynchronizeStream(nullptr);
        }
        if (code == ACLNN_SUCCESS && context_.aborts() != aborts) {
            return Fail(kInnerError,
                        "operator {} of type {} failed: code {}: an aclrtDeviceTaskAbort may have "
                        "dropped it",
                        name, call.kind->type, int{ACL_ERROR_RT_DEVICE_TASK_ABORT});
        }
        return code == ACLNN_SUCCESS ? Outcome() : OperatorFailure(call, name, code);
    }

    Outcome Download(size_t value, ge::Tensor* tensor) const {
        const ValueDesc& desc = plan_.values[value].desc;
        HostBytes bytes = MakeHostBytes(desc.bytes);
        ADVSTEP_GRAPH_RETURN_IF_ERROR(memory_[value]->Download(bytes.get()));
        tensor->SetTensorDesc(ge::TensorDesc(ge::Shape(desc.dims), ge::FORMAT_ND, desc.dataType));
        const auto deleter = bytes.get_deleter();
        if (tensor->SetData(bytes.get(), desc.bytes, deleter) != ge::GRAPH_SUCCESS) {
            return Outcome::OutOfMemory();
        }
        bytes.release();  // the tensor owns them now
        return {};
    }

    const GraphModel& model_;
    const RunPlan& plan_;
    const DeviceContext& context_;
    std::vector<SharedMemory> memory_;  // memory of each value, until its last use
    std::vector<size_t> usesLeft_;
};

}  // namespace

Outcome RunModel(const GraphModel& model, const std::vector<ge::Tensor>& inputs,
                 std::optional<int32_t> deviceId, VariableStore* variables,
                 std::vector<ge::Tensor>* outputs) {
    RunPlan plan;
    ADVSTEP_GRAPH_RETURN_IF_ERROR(MakePlan(model, inputs, PlanFor::kRun, deviceId, &plan));
    VariableStore::Lease lease;
    ADVSTEP_GRAPH_RETURN_IF_ERROR(variables->Acquire(model, &lease));
    DeviceContext context;  // destroyed after the memory
    ADVSTEP_GRAPH_RETURN_IF_ERROR(context.Open(deviceId));
    return GraphRun(model, plan, context).Run(&lease, outputs);
}

Outcome RunPart(const GraphModel& model, const RunPlan& part, std::optional<int32_t> deviceId,
                ge::Tensor* output) {
    const SavedContext saved;
    DeviceContext context;
    ADVSTEP_GRAPH_RETURN_IF_ERROR(context.Open(deviceId));
    VariableStore::Lease none;
    std::vector<ge::Tensor> outputs;
    ADVSTEP_GRAPH_RETURN_IF_ERROR(GraphRun(model, part, context).Run(&none, &outputs));
    *output = outputs.front();
    return {};
}

}  // namespace advstep::graph
