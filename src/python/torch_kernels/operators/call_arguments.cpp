// SPDX-License-Identifier: Apache-2.0
// Moves arguments of a call from "npu" to "cpu", and results back.

#include "torch_kernels/operators/call_arguments.h"

#include <ATen/EmptyTensor.h>
#include <ATen/MemoryOverlap.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>

#include "torch_kernels/device/torch_versions.h"

namespace advstep_torch {

std::optional<c10::Device> DeviceOf(const Operator& op, c10::ArrayRef<c10::IValue> arguments) {
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

void CheckScalars(const Operator& op, c10::ArrayRef<c10::IValue> arguments, c10::Device device) {
    for (size_t index = 0; index < arguments.size(); ++index) {
        const auto check = [&](const c10::IValue& value) {
            if (!value.isTensor() || static_cast<int>(index) == op.indices) {
                return;
            }
            const at::Tensor& tensor = value.toTensor();
            if (static_cast<int>(index) == op.scalars) {
                TORCH_CHECK(tensor.device().type() == c10::kCPU,
                            "Expected scalars to be on CPU, got ", tensor.device(), " instead. (",
                            op.name, ")");
                return;
            }
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

std::vector<c10::IValue> OnHost(const Operator& op, c10::ArrayRef<c10::IValue> arguments,
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

at::Generator GeneratorOf(const Operator& op, c10::ArrayRef<c10::IValue> arguments,
                          c10::Device device) {
    const c10::IValue& value = arguments[static_cast<size_t>(op.generator)];
    if (!value.isGenerator()) {
        return DefaultGenerator(device);
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

at::Tensor ResultOf(const at::Tensor& result, c10::Device device, const CurrentStream& stream,
                    const Views& views) {
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
