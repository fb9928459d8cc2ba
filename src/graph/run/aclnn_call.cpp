// SPDX-License-Identifier: Apache-2.0
// Plans an operator call with its aclnn call.

#include "src/graph/run/aclnn_call.h"

#include "src/graph/run/device.h"

namespace advstep::graph {
namespace {

// An output has the inferred type and shape, but its memory has the size of the input that it
// updates.
Outcome CheckInferredSizes(const RunPlan& plan, const PlannedCall& call, const std::string& name) {
    for (const OutputRule& rule : call.kind->outputs) {
        if (rule.isNew()) {
            continue;
        }
        const ValueDesc& like = plan.values[*call.inputs[rule.like]].desc;
        const ValueDesc& updated = plan.values[*call.inputs[rule.input]].desc;
        if (like.bytes != updated.bytes || like.dataType != updated.dataType) {
            return Fail(kInnerError,
                        "Tiling func of op {} failed: operator {}: {} has {} bytes; expected "
                        "the data type and the {} bytes of {}",
                        call.kind->type, name, call.kind->inputs[rule.input].name, updated.bytes,
                        like.bytes, call.kind->inputs[rule.like].name);
        }
    }
    return {};
}

// Makes the call of phase one of an operator of another library, with the tensors of its table.
aclnnStatus PlanTied(const PlannedCall& call, const std::vector<TensorHandle>& tensors,
                     PlannedExecutor* planned) {
    std::vector<const aclTensor*> tied;
    for (const OperatorKind::TiedPlace& place : call.kind->places) {
        const aclTensor* tensor = nullptr;
        if (place.input) {
            tensor = tensors[*place.input].get();
        } else if (place.output) {
            tensor = tensors[call.inputs.size() + *place.output].get();
        }
        tied.push_back(tensor);
    }
    planned->calls.run = call.kind->tie->run;
    return call.kind->tie->plan(tied.data(), call.tiedAttrs->values.data(), &planned->workspaceSize,
                                &planned->executor);
}

}  // namespace

Outcome PlanAclnn(const RunPlan& plan, const PlannedCall& call, const std::string& name,
                  const std::vector<void*>& addresses, PlannedExecutor* planned) {
    std::vector<TensorHandle> tensors(call.inputs.size() + call.outputs.size());
    OperatorArguments arguments;
    for (size_t input = 0; input < call.inputs.size(); ++input) {
        const ValueDesc* desc =
            call.inputs[input] ? &plan.values[*call.inputs[input]].desc : nullptr;
        if (desc != nullptr) {
            tensors[input] = MakeTensor(*desc, addresses[input]);
            if (tensors[input] == nullptr) {
                return Outcome::OutOfMemory();
            }
        }
        arguments.descs.push_back(desc);
        arguments.tensors.push_back(tensors[input].get());
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
    int32_t code = ACLNN_SUCCESS;
    if (call.kind->tie != nullptr) {
        code = PlanTied(call, tensors, planned);
    } else {
        arguments.attrs = call.attrs;
        ADVSTEP_GRAPH_RETURN_IF_ERROR(call.kind->choose(arguments, &planned->calls));
        code = planned->calls.plan(arguments, &planned->workspaceSize, &planned->executor);
    }
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
