// SPDX-License-Identifier: Apache-2.0
// Runs a plan: uploads inputs, calls the operators, downloads outputs.

#include "src/graph/graph_run.h"

#include <algorithm>
#include <memory>

#include "src/graph/device.h"
#include "src/graph/run_plan.h"
#include "src/graph/tensor_state.h"

namespace advstep::graph {
namespace {

using SharedMemory = std::shared_ptr<DeviceMemory>;

Outcome MakeMemory(size_t bytes, SharedMemory* memory) {
    *memory = std::make_shared<DeviceMemory>();
    return (*memory)->Allocate(bytes);
}

class GraphRun {
 public:
    GraphRun(const GraphModel& model, const RunPlan& plan)
        : model_(model), plan_(plan), memory_(plan.values.size()) {
        for (const PlannedValue& value : plan.values) {
            usesLeft_.push_back(value.uses);
        }
    }

    Outcome Run(std::vector<ge::Tensor>* outputs) {
        for (const PlannedSource& source : plan_.sources) {
            SharedMemory& memory = memory_[source.value];
            ADVSTEP_GRAPH_RETURN_IF_ERROR(
                MakeMemory(plan_.values[source.value].desc.bytes, &memory));
            ADVSTEP_GRAPH_RETURN_IF_ERROR(memory->Upload(source.tensor.GetData()));
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
        std::vector<SharedMemory> bound(count);
        std::vector<TensorHandle> tensors(count);
        OperatorArguments arguments;
        for (size_t input = 0; input < count; ++input) {
            if (!call.inputs[input]) {
                arguments.descs.push_back(nullptr);
                arguments.tensors.push_back(nullptr);
                continue;
            }
            const ValueDesc& desc = plan_.values[*call.inputs[input]].desc;
            ADVSTEP_GRAPH_RETURN_IF_ERROR(BindInput(call, input, &bound[input]));
            tensors[input] = MakeTensor(desc, *bound[input]);
            if (tensors[input] == nullptr) {
                return Fail(kInnerError, "the host is out of memory");
            }
            arguments.descs.push_back(&desc);
            arguments.tensors.push_back(tensors[input].get());
        }
        arguments.attrs = call.attrs;
        ADVSTEP_GRAPH_RETURN_IF_ERROR(CallAclnn(call, arguments));
        for (size_t output = 0; output < call.outputs.size(); ++output) {
            if (call.outputs[output]) {
                memory_[*call.outputs[output]] = bound[call.kind->outputs[output].input];
            }
        }
        for (const std::optional<size_t>& input : call.inputs) {
            if (input && --usesLeft_[*input] == 0) {
                memory_[*input].reset();
            }
        }
        return {};
    }

    Outcome CallAclnn(const PlannedCall& call, const OperatorArguments& arguments) {
        const char* type = call.kind->type;
        const std::string& name = model_.nodes[call.node].name;
        AclnnCalls aclnn{};
        ADVSTEP_GRAPH_RETURN_IF_ERROR(call.kind->choose(arguments, &aclnn));
        uint64_t workspaceSize = 0;
        aclOpExecutor* executor = nullptr;
        int32_t code = aclnn.plan(arguments, &workspaceSize, &executor);
        if (code != ACLNN_SUCCESS) {
            return Fail(kInnerError, "Tiling func of op {} failed: operator {}, code {}: {}", type,
                        name, code, TakeAclMessage(code));
        }
        Outcome fits = CheckInferredSizes(call);
        DeviceMemory workspace;
        if (!fits.ok()) {
            aclDestroyAclOpExecutor(executor);
            return fits;
        }
        if (workspaceSize > 0) {
            if (Outcome allocated = workspace.Allocate(workspaceSize); !allocated.ok()) {
                aclDestroyAclOpExecutor(executor);
                return allocated;
            }
        }
        code = aclnn.run(workspace.address(), workspaceSize, executor, nullptr);
        if (code == ACLNN_SUCCESS) {
            code = aclrtSynchronizeStream(nullptr);
        }
        return code == ACLNN_SUCCESS
                   ? Outcome()
                   : Fail(kInnerError, "operator {} of type {} failed: code {}: {}", name, type,
                          code, TakeAclMessage(code));
    }

    // An output has the inferred type and shape, but its memory has the size of the input that it
    // updates.
    Outcome CheckInferredSizes(const PlannedCall& call) const {
        for (const OutputRule& rule : call.kind->outputs) {
            const ValueDesc& like = plan_.values[*call.inputs[rule.like]].desc;
            const ValueDesc& updated = plan_.values[*call.inputs[rule.input]].desc;
            if (like.bytes != updated.bytes || like.dataType != updated.dataType) {
                return Fail(kInnerError,
                            "Tiling func of op {} failed: operator {}: {} has {} bytes; expected "
                            "the data type and the {} bytes of {}",
                            call.kind->type, model_.nodes[call.node].name,
                            call.kind->inputs[rule.input].name, updated.bytes, like.bytes,
                            call.kind->inputs[rule.like].name);
            }
        }
        return {};
    }

    Outcome Download(size_t value, ge::Tensor* tensor) const {
        const ValueDesc& desc = plan_.values[value].desc;
        HostBytes bytes = MakeHostBytes(desc.bytes);
        ADVSTEP_GRAPH_RETURN_IF_ERROR(memory_[value]->Download(bytes.get()));
        tensor->SetTensorDesc(ge::TensorDesc(ge::Shape(desc.dims), ge::FORMAT_ND, desc.dataType));
        const auto deleter = bytes.get_deleter();
        if (tensor->SetData(bytes.get(), desc.bytes, deleter) != ge::GRAPH_SUCCESS) {
            return Fail(kInnerError, "the host is out of memory");
        }
        bytes.release();  // the tensor owns them now
        return {};
    }

    const GraphModel& model_;
    const RunPlan& plan_;
    std::vector<SharedMemory> memory_;  // memory of each value, until its last use
    std::vector<size_t> usesLeft_;
};

}  // namespace

Outcome RunModel(const GraphModel& model, const std::vector<ge::Tensor>& inputs,
                 std::optional<int32_t> deviceId, std::vector<ge::Tensor>* outputs) {
    RunPlan plan;
    ADVSTEP_GRAPH_RETURN_IF_ERROR(MakePlan(model, inputs, true, &plan));
    DeviceContext context;  // destroyed after the memory
    ADVSTEP_GRAPH_RETURN_IF_ERROR(context.Open(deviceId));
    return GraphRun(model, plan).Run(outputs);
}

}  // namespace advstep::graph
