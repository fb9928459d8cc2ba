// SPDX-License-Identifier: Apache-2.0
// One call of an operator: its arguments on "cpu" or "meta", and its results on "npu".

#pragma once

#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ctc.h"
#include "generators.h"
#include "out_form.h"
#include "trials.h"
#include "views.h"

namespace advstep_torch {

/// The properties of an operator that are known before any call.
struct Operator {
    std::string name;  // "aten::add.Tensor"; lives as long as the process
    c10::OperatorHandle handle;
    std::vector<bool> fresh;  // of the returns: a new tensor, not an argument
    bool onlyTensors = true;  // the returns are tensors or lists of them
    bool pointwise = false;
    Disagree disagree = Disagree::kNever;
    bool dynamicShape = false;  // the shapes of the returns depend on data
    bool anyFresh = false;
    bool writes = false;   // it may resize its outputs: it has an out= argument
    bool factors = false;  // of linear algebra: "meta" gives its outputs other strides than "cpu"
    bool grows = false;    // it resizes empty tensors that it writes in place
    bool computesInDefault = false;  // it may compute integers in torch's default dtype
    bool alerts = false;             // it asks for the deterministic mode, and may refuse
    bool addsInOrder = false;        // in the deterministic mode: by one thread
    bool ctc = false;                // its targets are checked; it always runs at once
    std::vector<size_t> inPlace;     // tensors that it writes, except out= arguments
    int generator = -1;              // the index of that argument
    int device = -1;
    int pinMemory = -1;
    bool boolIndices = false;                // the shapes depend on data only if an index is a mask
    int outputSize = -1;                     // the shapes depend on data only without that argument
    int indices = -1;                        // a list of indices, which may be on "cpu"
    std::optional<c10::OperatorHandle> out;  // its out= form; none if it draws
};

/// Returns whether torch's kernel for "cpu" refuses the deterministic mode, at least with some
/// arguments. The mode is one for the process, so no other thread can have that of the call.
inline bool IsNotDeterministic(const std::string& name) {
    static const std::set<std::string> names{"aten::put", "aten::put_", "aten::max_unpool2d",
                                             "aten::max_unpool3d"};
    return names.count(name) != 0;
}

inline Operator Describe(const c10::OperatorHandle& handle) {
    const c10::FunctionSchema& schema = handle.schema();
    Operator described{c10::toString(handle.operator_name()), handle, {}};
    for (const c10::Argument& result : schema.returns()) {
        const bool fresh = result.alias_info() == nullptr;
        described.fresh.push_back(fresh);
        described.anyFresh = described.anyFresh || fresh;
        const c10::TypePtr& type = result.type();
        const bool list =
            type->kind() == c10::TypeKind::ListType &&
            type->castRaw<c10::ListType>()->getElementType()->kind() == c10::TypeKind::TensorType;
        described.onlyTensors =
            described.onlyTensors && (list || type->kind() == c10::TypeKind::TensorType);
    }
    described.boolIndices = schema.name() == "aten::index";
    described.disagree = DisagreeOf(schema.name());
    if (described.disagree == Disagree::kNever) {
        described.disagree = DisagreeOf(described.name);
    }
    // Quantization aware training: the first call gives the statistics of each channel their size.
    described.grows = schema.name() == "aten::_fused_moving_avg_obs_fq_helper";
    described.factors = IsOfMatrices(schema.name());
    described.ctc = IsCtc(schema.name());
    described.pointwise = handle.hasTag(at::Tag::pointwise);
    described.computesInDefault = described.pointwise || schema.name() == "aten::logsumexp" ||
                                  schema.name().rfind("aten::_foreach_", 0) == 0;
    described.alerts = IsNotDeterministic(schema.name());
    described.addsInOrder = schema.name() == "aten::index_put" ||
                            schema.name() == "aten::index_put_" ||
                            schema.name() == "aten::_index_put_impl_";
    described.dynamicShape = handle.hasTag(at::Tag::dynamic_output_shape) ||
                             handle.hasTag(at::Tag::data_dependent_output);
    for (size_t index = 0; index < schema.arguments().size(); ++index) {
        const c10::Argument& argument = schema.arguments()[index];
        c10::TypePtr type = argument.type();
        if (type->kind() == c10::TypeKind::OptionalType) {
            type = type->castRaw<c10::OptionalType>()->getElementType();
        }
        described.writes = described.writes || argument.is_out();
        if (!argument.is_out() && argument.alias_info() != nullptr &&
            argument.alias_info()->isWrite()) {
            described.inPlace.push_back(index);
        }
        if (type->kind() == c10::TypeKind::GeneratorType) {
            described.generator = static_cast<int>(index);
        } else if (type->kind() == c10::TypeKind::DeviceObjType) {
            described.device = static_cast<int>(index);
        } else if (argument.name() == "pin_memory") {
            described.pinMemory = static_cast<int>(index);
        } else if (argument.name() == "output_size" && schema.name() == "aten::repeat_interleave") {
            described.outputSize = static_cast<int>(index);
        } else if (argument.name() == "indices" && type->kind() == c10::TypeKind::ListType) {
            described.indices = static_cast<int>(index);
        }
    }
    if (described.generator < 0 && !described.dynamicShape) {
        described.out = OutFormOf(handle);
    }
    return described;
}

/// Calls `use` on every tensor among the values, and puts its result in the tensor's place.
template <typename Use>
void MapTensors(c10::ArrayRef<c10::IValue> from, std::vector<c10::IValue>* to, Use&& use) {
    to->reserve(from.size());
    for (const c10::IValue& value : from) {
        if (value.isTensor()) {
            to->emplace_back(use(value.toTensor()));
        } else if (value.isTensorList()) {
            c10::List<at::Tensor> list;
            for (const at::Tensor& tensor : value.toTensorVector()) {
                list.push_back(use(tensor));
            }
            to->emplace_back(std::move(list));
        } else if (value.isList() && value.toListRef().size() != 0 &&
                   value.type()->castRaw<c10::ListType>()->getElementType()->kind() ==
                       c10::TypeKind::OptionalType) {
            c10::List<std::optional<at::Tensor>> list;
            for (const c10::IValue& element : value.toListRef()) {
                list.push_back(element.isTensor()
                                   ? std::optional<at::Tensor>(use(element.toTensor()))
                                   : std::nullopt);
            }
            to->emplace_back(std::move(list));
        } else {
            to->push_back(value);
        }
    }
}

/// Returns the device of the call: that of its "npu" tensors, its device argument, or that of its
/// generator.
inline std::optional<c10::Device> DeviceOf(const Operator& op,
                                           c10::ArrayRef<c10::IValue> arguments) {
    std::optional<c10::Device> device;
    const auto look = [&](const at::Tensor& tensor) {
        if (!IsNpu(tensor)) {
            return;
        }
        TORCH_CHECK(
            !device || *device == tensor.device(),
            "Expected all tensors to be on the same device, but found at least two devices, ",
            *device, " and ", tensor.device(), "! (", op.name, ")");
        device = tensor.device();
    };
    for (const c10::IValue& value : arguments) {
        if (value.isTensor()) {
            look(value.toTensor());
        } else if (value.isList()) {
            for (const c10::IValue& element : value.toListRef()) {
                if (element.isTensor()) {
                    look(element.toTensor());
                }
            }
        }
    }
    if (!device && op.device >= 0) {
        const c10::IValue& value = arguments[static_cast<size_t>(op.device)];
        if (value.isDevice()) {
            device = value.toDevice();
        }
    }
    if (!device && op.generator >= 0) {
        const c10::IValue& value = arguments[static_cast<size_t>(op.generator)];
        if (value.isGenerator()) {
            device = value.toGenerator().device();
        }
    }
    return device;
}

/// Returns whether an argument, a tensor or a list of them, is written.
inline bool IsWritten(const c10::Argument& argument) {
    const c10::AliasInfo* const info = argument.alias_info();
    return info != nullptr && info->isWrite();
}

/// Refuses tensors of "cpu" among those of "npu", unless they are scalars that are read, or
/// indices. The operator would write into a copy. The kernel for "meta" would refuse them in other
/// words.
inline void CheckScalars(const Operator& op, c10::ArrayRef<c10::IValue> arguments,
                         c10::Device device) {
    for (size_t index = 0; index < arguments.size(); ++index) {
        const auto check = [&](const c10::IValue& value) {
            if (!value.isTensor() || static_cast<int>(index) == op.indices) {
                return;
            }
            const at::Tensor& tensor = value.toTensor();
            TORCH_CHECK(
                !tensor.defined() || tensor.device().type() != c10::kCPU ||
                    (tensor.dim() == 0 && !IsWritten(op.handle.schema().arguments()[index])),
                "Expected all tensors to be on the same device, but found at least two devices, ",
                device, " and ", tensor.device(), "! (", op.name, ")");
        };
        const c10::IValue& value = arguments[index];
        if (value.isList()) {
            std::for_each(value.toListRef().begin(), value.toListRef().end(), check);
        } else {
            check(value);
        }
    }
}

/// Returns the arguments on "cpu". `copyScalars`: tensors of "cpu" are copied, because the operator
/// runs after the caller's call has returned.
inline std::vector<c10::IValue> OnHost(const Operator& op, c10::ArrayRef<c10::IValue> arguments,
                                       Views* views, bool copyScalars) {
    std::vector<c10::IValue> host;
    MapTensors(arguments, &host, [&](const at::Tensor& tensor) {
        if (IsNpu(tensor)) {
            return views->Of(tensor);
        }
        if (!copyScalars || !tensor.defined()) {
            return tensor;
        }
        at::Tensor copy = tensor.clone();
        CopyWrapped(tensor, copy);
        return copy;
    });
    if (op.device >= 0) {
        host[static_cast<size_t>(op.device)] = c10::Device(c10::kCPU);
    }
    if (op.pinMemory >= 0) {
        host[static_cast<size_t>(op.pinMemory)] = c10::IValue();
    }
    return host;
}

/// Returns the generator of an operator that draws: the argument, or that of the device.
inline at::Generator GeneratorOf(const Operator& op, c10::ArrayRef<c10::IValue> arguments,
                                 c10::Device device) {
    const c10::IValue& value = arguments[static_cast<size_t>(op.generator)];
    if (!value.isGenerator()) {
        return at::globalContext().defaultGenerator(device);
    }
    at::Generator generator = value.toGenerator();
    TORCH_CHECK(generator.device().type() == kNpu,
                "Expected a 'npu' device type for generator but found '", generator.device().type(),
                "' (", op.name, ")");
    const c10::Device here =
        device.has_index() ? device : c10::impl::VirtualGuardImpl(kNpu).getDevice();
    TORCH_CHECK(!generator.device().has_index() || generator.device() == here, "Expected a '", here,
                "' generator device but found '", generator.device(), "' (", op.name, ")");
    return generator;
}

/// Returns the "npu" tensor for a result on "cpu".
inline at::Tensor ResultOf(const at::Tensor& result, c10::Device device,
                           const CurrentStream& stream, const Views& views) {
    if (!result.defined() || result.device().type() != c10::kCPU) {
        return result;
    }
    if (at::Tensor argument = views.TensorOf(result); argument.defined()) {
        return argument;
    }
    CheckPlain(result);
    const auto fits = [&](const at::Tensor& base) {
        return base.defined() && base.dtype() == result.dtype() &&
               at::detail::computeStorageNbytes(
                   result.sizes(), result.strides(), result.dtype().itemsize(),
                   static_cast<size_t>(result.storage_offset())) <= base.storage().nbytes();
    };
    if (at::Tensor base = views.BaseOf(result); fits(base)) {
        at::Tensor alias =
            at::as_strided(base, result.sizes(), result.strides(), result.storage_offset());
        return alias;
    }
    TORCH_CHECK(result.layout() == c10::kStrided, "the result is ", result.layout(),
                "; host operators make strided tensors only");
    const bool overlaps = at::has_internal_overlap(result) == at::MemOverlap::Yes;
    at::Tensor made = NewLike(overlaps ? result.contiguous() : result, device);
    if (result.numel() != 0) {
        stream.WaitForOthers();
        Views().Of(made).copy_(result);
    }
    return made;
}

}  // namespace advstep_torch
