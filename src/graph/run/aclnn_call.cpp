// SPDX-License-Identifier: Apache-2.0
// Plans an operator call with its aclnn call.

#include "src/graph/run/aclnn_call.h"

#include "src/graph/run/device.h"

namespace advstep::graph {
namespace {

// Returns what has the shape that the operator has inferred for an update: an input, if one has it.
std::string OwnerOf(const RunPlan& plan, const PlannedCall& call, const ValueDesc& inferred) {
    for (size_t input = 0; input < call.inputs.size(); ++input) {
        const ValueDesc* desc =
            call.inputs[input] ? &plan.values[*call.inputs[input]].desc : nullptr;
        if (desc != nullptr && desc->dims == inferred.dims && desc->dataType == inferred.dataType) {
            return call.kind->inputs[input].name;
        }
    }
    return "the inferred shape";
}

// An output has the inferred type and shape, but its memory has the size of the input that it
// updates.
Outcome CheckInferredSizes(const RunPlan& plan, const PlannedCall& call, const std::string& name) {
    for (size_t output = 0; output < call.outputs.size(); ++output) {
        const OutputRule& rule = call.kind->outputs[output];
        if (rule.isNew()) {
            continue;
        }
        const ValueDesc& inferred = plan.values[call.outputs[output]].desc;
        const ValueDesc& updated = plan.values[*call.inputs[rule.input]].desc;
        if (inferred.bytes != updated.bytes || inferred.dataType != updated.dataType) {
            return Fail(kInnerError,
                        "Tiling func of op {} failed: operator {}: {} has {} bytes; expected "
                        "the data type and the {} bytes of {}",
                        call.kind->type, name, call.kind->inputs[rule.input].name, updated.bytes,
                        inferred.bytes, OwnerOf(plan, call, inferred));
        }
    }
    return {};
}

// Returns the tensors of the tied calls, in the order of the tie's table.
std::vector<const aclTensor*> InTableOrder(const PlannedCall& call,
                                           const std::vector<TensorHandle>& tensors) {
    std::vector<const aclTensor*> ordered;
    for (const OperatorKind::Place& place : call.kind->places) {
        const aclTensor* tensor = nullptr;
        if (place.input) {
            tensor = tensors[*place.input].get();
        } else if (place.output) {
            tensor = tensors[call.inputs.size() + *place.output].get();
        }
        ordered.push_back(tensor);
    }
    return ordered;
}

}  // namespace

Outcome PlanAclnn(const RunPlan& plan, const PlannedCall& call, const std::string& name,
                  const std::vector<void*>& addresses, PlannedExecutor* planned) {
    std::vector<TensorHandle> tensors(call.inputs.size() + call.outputs.size());
    std::vector<const ValueDesc*> inputs;
    for (size_t input = 0; input < call.inputs.size(); ++input) {
        const ValueDesc* desc =
            call.inputs[input] ? &plan.values[*call.inputs[input]].desc : nullptr;
        if (desc != nullptr) {
            tensors[input] = MakeTensor(*desc, addresses[input]);
            if (tensors[input] == nullptr) {
                return Outcome::OutOfMemory();
            }
        }
        inputs.push_back(desc);
    }
    for (size_t output = 0; output < call.outputs.size(); ++output) {
        if (call.kind->outputs[output].isNew()) {
            const size_t place = call.inputs.size() + output;
            tensors[place] = MakeTensor(plan.values[call.outputs[output]].desc, addresses[place]);
            if (tensors[place] == nullptr) {
                return Outcome::OutOfMemory();
            }
        }
    }
    ADVSTEP_GRAPH_RETURN_IF_ERROR(
        ChooseCalls(*call.kind, call.attributes->values.data(), inputs, &planned->calls));
    const int32_t code =
        planned->calls.plan(InTableOrder(call, tensors).data(), call.attributes->values.data(),
                            &planned->workspaceSize, &planned->executor);
    if (code != ACLNN_SUCCESS) {
        return Fail(kInnerError, "Tiling func of op {} failed: operator {}, code {}: {}",
                    call.kind->type, name, code, TakeAclMessage(code));
    }
    Outcome fits = CheckInferredSizes(plan, call, name);
    if (!fits.ok()) {
        aclDestroyAclOpExecutor(planned->executor);
        planned->executor = nullptr;
    }
    return fits;
}

Outcome OperatorFailure(const PlannedCall& call, const std::string& name, int32_t code) {
    return Fail(kInnerError, "operator {} of type {} failed: code {}: {}", name, call.kind->type,
                code, TakeAclMessage(code));
}

}  // namespace advstep::graph
