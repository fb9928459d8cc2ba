// SPDX-License-Identifier: Apache-2.0
// The out= form of an operator, which writes its results into memory that is there already.

#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/enum_tag.h>

#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace advstep_torch {

inline const std::vector<c10::OperatorName>& OverloadsOf(const std::string& base) {
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

/// Returns whether the form has the same arguments, and then one tensor for each result.
inline bool IsOutForm(const c10::FunctionSchema& form, const c10::FunctionSchema& schema) {
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

/// Returns whether both forms have results with the same bits and strides. They have for operators
/// that work element by element, and for these; native_batch_norm and binary_cross_entropy differ.
inline bool FormsAgree(const c10::OperatorHandle& handle) {
    static const std::set<std::string> names{"aten::mm",           "aten::bmm",   "aten::addmm",
                                             "aten::baddbmm",      "aten::cat",   "aten::_softmax",
                                             "aten::_log_softmax", "aten::gather"};
    return handle.hasTag(at::Tag::pointwise) || names.count(handle.schema().name()) != 0;
}

/// Returns the out= form of an operator whose results are new tensors, if torch has a kernel of it
/// for "cpu". Shapes and strides of the results come from a kernel for "meta", which both forms
/// share.
inline std::optional<c10::OperatorHandle> OutFormOf(const c10::OperatorHandle& handle) {
    const c10::FunctionSchema& schema = handle.schema();
    for (const c10::Argument& result : schema.returns()) {
        if (result.alias_info() != nullptr || result.type()->kind() != c10::TypeKind::TensorType) {
            return std::nullopt;
        }
    }
    if (schema.returns().empty() || !FormsAgree(handle) ||
        !handle.hasKernelForDispatchKey(c10::DispatchKey::CPU) ||
        !handle.hasKernelForDispatchKey(c10::DispatchKey::Meta)) {
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

}  // namespace advstep_torch
