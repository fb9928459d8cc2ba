// SPDX-License-Identifier: Apache-2.0
// Registers a kernel for each operator that torch's dispatcher knows and that is not kept.

#include "torch_kernels/dispatch/registrar.h"

#include <torch/library.h>

#include <deque>
#include <map>
#include <memory>
#include <utility>

#include "torch_kernels/dispatch/copy_kernel.h"
#include "torch_kernels/dispatch/own_kernels.h"

namespace advstep_torch {
namespace {

using c10::DispatchKey;

bool IsView(const c10::OperatorHandle& handle) {
    for (const c10::Argument& result : handle.schema().returns()) {
        if (result.alias_info() != nullptr && !result.alias_info()->isWrite()) {
            return true;
        }
    }
    return handle.hasTag(at::Tag::inplace_view);
}

const Operator& Keep(const c10::OperatorHandle& handle) {
    static auto* const operators = new std::deque<Operator>;  // queued work refers to them
    operators->push_back(Describe(handle));
    return operators->back();
}

torch::Library& LibraryFor(DispatchKey key) {
    // They are never destroyed: the end of a library removes its kernels.
    static auto* const libraries = new std::map<DispatchKey, torch::Library*>;
    torch::Library*& library = (*libraries)[key];
    if (library == nullptr) {
        library = new torch::Library(torch::Library::IMPL, "aten", key, __FILE__, __LINE__);
    }
    return *library;
}

template <typename Kernel>
void Register(DispatchKey key, const c10::OperatorHandle& handle, std::unique_ptr<Kernel> kernel) {
    const c10::OperatorName& name = handle.operator_name();
    const std::string full =
        name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
    LibraryFor(key).impl(full.c_str(), torch::CppFunction::makeFromBoxedFunctor(std::move(kernel)));
}

template <typename Kernel>
void RegisterOwn(const c10::OperatorHandle& handle) {
    Register(DispatchKey::PrivateUse1, handle, std::make_unique<Kernel>(Keep(handle)));
}

// Registers the kernel that a single operator has. Returns false if it has none.
bool TakeSingle(const c10::OperatorHandle& handle) {
    const std::string full = c10::toString(handle.operator_name());
    // Forms with out= are composed of these.
    if (full == "aten::copy_" || full == "aten::_copy_from" ||
        full == "aten::_copy_from_and_resize") {
        RegisterOwn<CopyKernel>(handle);
    } else if (full == "aten::histc") {
        RegisterOwn<HistcKernel>(handle);
    } else if (full == "aten::native_dropout") {
        Register(DispatchKey::PrivateUse1, handle, std::make_unique<DropoutKernel>());
    } else {
        return false;
    }
    return true;
}

// Registers the composition for an operator that torch_npu has taken over.
void TakeComposed(const c10::OperatorHandle& handle) {
    for (const DispatchKey key : {DispatchKey::PrivateUse1, DispatchKey::AutogradPrivateUse1}) {
        Register(key, handle,
                 std::make_unique<OtherKernel>(DispatchKey::CompositeImplicitAutograd));
    }
}

// Registers a kernel that runs torch's kernel for "cpu", or the composition. Returns false if torch
// has none of them, or composes the operator on "npu" anyway.
bool TakeHost(const c10::OperatorHandle& handle) {
    const bool ofTorchNpu = handle.hasKernelForDispatchKey(DispatchKey::PrivateUse1);
    const bool composed = handle.hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutograd);
    const Operator described = Describe(handle);
    if (!described.Has(Flag::kNamesDevices)) {
        if (composed && (described.device >= 0 || described.Has(Flag::kTakesCpuTensors))) {
            if (ofTorchNpu) {
                Register(DispatchKey::PrivateUse1, handle,
                         std::make_unique<OtherKernel>(DispatchKey::CompositeExplicitAutograd));
            }
            return ofTorchNpu;
        }
        const bool functional =
            handle.hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutogradNonFunctional);
        if (!handle.hasKernelForDispatchKey(DispatchKey::CPU) &&
            !(ofTorchNpu && (composed || functional))) {
            return false;
        }
    }
    RegisterOwn<HostKernel>(handle);
    return true;
}

// Names are those of all overloads, "add", or of one, "add.Tensor" and "relu.default".
bool IsKept(const c10::OperatorName& name, const std::set<std::string>& kept) {
    const std::string base = name.name.substr(6);
    return kept.count(base) != 0 ||
           kept.count(base + "." + (name.overload_name.empty() ? "default" : name.overload_name)) !=
               0;
}

// Returns whether the operator is registered.
bool Take(const c10::OperatorHandle& handle, const std::set<std::string>& kept) {
    const c10::OperatorName& name = handle.operator_name();
    if (name.name == "aten::empty" && name.overload_name == "memory_format") {
        Register(DispatchKey::PrivateUse1, handle, std::make_unique<EmptyKernel>(handle));
        return true;
    }
    if (IsKept(name, kept) || Flags::Of(name).Has(Flag::kTorchNpus)) {
        return false;
    }
    const bool gradient = handle.hasKernelForDispatchKey(DispatchKey::AutogradPrivateUse1);
    const bool formula = handle.hasKernelForDispatchKey(DispatchKey::Autograd);
    if (handle.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd) &&
        !(handle.hasKernelForDispatchKey(DispatchKey::CPU) && formula)) {
        const bool taken = gradient || handle.hasKernelForDispatchKey(DispatchKey::PrivateUse1);
        if (taken) {
            TakeComposed(handle);
        }
        return taken;
    }
    if (gradient && formula) {
        Register(DispatchKey::AutogradPrivateUse1, handle,
                 std::make_unique<OtherKernel>(DispatchKey::Autograd));
    }
    return !IsView(handle) && (TakeSingle(handle) || TakeHost(handle));
}

}  // namespace

size_t RegisterOperators(const std::set<std::string>& kept) {
    const NoWarnings noWarnings;  // each registration replaces another one
    size_t taken = 0;
    for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
        if (name.name.rfind("aten::", 0) == 0) {
            const auto handle = c10::Dispatcher::singleton().findOp(name);
            taken += handle && handle->hasSchema() && Take(*handle, kept) ? 1 : 0;
        }
    }
    return taken;
}

}  // namespace advstep_torch
