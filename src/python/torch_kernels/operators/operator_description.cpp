// SPDX-License-Identifier: Apache-2.0
// Describes operators of torch's dispatcher, and finds their out= forms.

#include "torch_kernels/operators/operator_description.h"

#include <ATen/core/enum_tag.h>

#include <unordered_map>

namespace advstep_torch {
namespace {

const std::vector<c10::OperatorName>& OverloadsOf(const std::string& base) {
    static const auto* const all = [] {
        auto* const names = new std::unordered_map<std::string, std::vector<c10::OperatorName>>;
        for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
            (*names)[name.name].push_back(name);
        }
        return names;
    }();
    static const std::vector<c10::OperatorName> none;
    const auto found = all->find(base);
    return found == all->end() ? none : found->second;
}

// Returns whether the form has the same arguments, and then one tensor for each result.
bool IsOutForm(const c10::FunctionSchema& form, const c10::FunctionSchema& schema) {
    const std::vector<c10::Argument>& arguments = schema.arguments();
    const std::vector<c10::Argument>& more = form.arguments();
    if (more.size() != arguments.size() + schema.returns().size()) {
        return false;
    }
    for (size_t index = 0; index < more.size(); ++index) {
        if (index >= arguments.size()) {
            if (!more[index].is_out() || more[index].type()->kind() != c10::TypeKind::TensorType) {
                return false;
            }
        } else if (more[index].name() != arguments[index].name() ||
                   *more[index].type() != *arguments[index].type()) {
            return false;
        }
    }
    return true;
}

// Returns the out= form of an operator whose results are new tensors, if torch has a kernel of it
// for "cpu", and both forms have results with the same bits and strides. Shapes and strides of the
// results come from a kernel for "meta", which both forms share.
std::optional<c10::OperatorHandle> OutFormOf(const Operator& op) {
    const c10::FunctionSchema& schema = op.handle.schema();
    for (const c10::Argument& result : schema.returns()) {
        if (result.alias_info() != nullptr || result.type()->kind() != c10::TypeKind::TensorType) {
            return std::nullopt;
        }
    }
    if (schema.returns().empty() || !(op.pointwise || op.Has(Flag::kOutFormAgrees)) ||
        !op.handle.hasKernelForDispatchKey(c10::DispatchKey::CPU) ||
        !op.handle.hasKernelForDispatchKey(c10::DispatchKey::Meta)) {
        return std::nullopt;
    }
    for (const c10::OperatorName& name : OverloadsOf(schema.name())) {
        const auto form = c10::Dispatcher::singleton().findOp(name);
        if (form && form->hasSchema() && IsOutForm(form->schema(), schema) &&
            form->hasKernelForDispatchKey(c10::DispatchKey::CPU)) {
            return form;
        }
    }
    return std::nullopt;
}

void DescribeReturns(Operator* op) {
    for (const c10::Argument& result : op->handle.schema().returns()) {
        const bool fresh = result.alias_info() == nullptr;
        op->fresh.push_back(fresh);
        op->anyFresh = op->anyFresh || fresh;
        const c10::TypePtr& type = result.type();
        const bool list =
            type->kind() == c10::TypeKind::ListType &&
            type->castRaw<c10::ListType>()->getElementType()->kind() == c10::TypeKind::TensorType;
        op->onlyTensors = op->onlyTensors && (list || type->kind() == c10::TypeKind::TensorType);
    }
}

void DescribeArgument(Operator* op, const c10::Argument& argument, size_t index) {
    c10::TypePtr type = argument.type();
    if (type->kind() == c10::TypeKind::OptionalType) {
        type = type->castRaw<c10::OptionalType>()->getElementType();
    }
    op->writes = op->writes || argument.is_out();
    if (!argument.is_out() && IsWritten(argument)) {
        op->inPlace.push_back(index);
    }
    if (type->kind() == c10::TypeKind::GeneratorType) {
        op->generator = static_cast<int>(index);
    } else if (type->kind() == c10::TypeKind::DeviceObjType) {
        op->device = static_cast<int>(index);
    } else if (argument.name() == "pin_memory") {
        op->pinMemory = static_cast<int>(index);
    } else if (argument.name() == "output_size" && op->Has(Flag::kOutputSize)) {
        op->outputSize = static_cast<int>(index);
    } else if (argument.name() == "indices" && type->kind() == c10::TypeKind::ListType) {
        op->indices = static_cast<int>(index);
    } else if (argument.name() == "scalars" && type->kind() == c10::TypeKind::TensorType) {
        op->scalars = static_cast<int>(index);
    }
}

}  // namespace

Operator Describe(const c10::OperatorHandle& handle) {
    Operator op{
        c10::toString(handle.operator_name()), handle, Flags::Of(handle.operator_name()), {}};
    DescribeReturns(&op);
    op.pointwise = handle.hasTag(at::Tag::pointwise);
    op.computesInDefault = op.pointwise || op.Has(Flag::kDefaultDtype);
    op.dynamicShape = handle.hasTag(at::Tag::dynamic_output_shape) ||
                      handle.hasTag(at::Tag::data_dependent_output);
    const std::vector<c10::Argument>& arguments = handle.schema().arguments();
    for (size_t index = 0; index < arguments.size(); ++index) {
        DescribeArgument(&op, arguments[index], index);
    }
    if (op.generator < 0 && !op.dynamicShape) {
        op.out = OutFormOf(op);
    }
    return op;
}

}  // namespace advstep_torch
