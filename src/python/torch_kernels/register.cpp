// SPDX-License-Identifier: Apache-2.0
// Registers torch's operators for "npu": the extension's C functions, which the package calls.

#include <torch/library.h>

#include <cstdlib>
#include <deque>
#include <exception>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "copies.h"
#include "dropout.h"
#include "paged.h"
#include "run.h"

using namespace advstep_torch;

namespace {

using c10::DispatchKey;

// Returns whether an operator of memory, shapes or storages stays torch_npu's own.
bool IsTorchNpus(const std::string& base) {
    static const std::set<std::string> names{"empty",
                                             "empty_strided",
                                             "resize_",
                                             "set_",
                                             "as_strided",
                                             "view",
                                             "is_pinned",
                                             "_pin_memory",
                                             "_reshape_alias",
                                             "record_stream",
                                             "resize_as_",
                                             "empty_with_swapped_memory",
                                             "_resize_output_",
                                             "is_set_to",
                                             "alias",
                                             "detach",
                                             "unfold",
                                             "_efficientzerotensor",
                                             "_has_compatible_shallow_copy_type",
                                             "lift",
                                             "lift_fresh"};
    return names.count(base) != 0;
}

bool IsView(const c10::FunctionSchema& schema) {
    for (const c10::Argument& result : schema.returns()) {
        if (result.alias_info() != nullptr && !result.alias_info()->isWrite()) {
            return true;
        }
    }
    return false;
}

// Runs another kernel of the same operator: its composition, or torch's own gradient.
class OtherKernel : public c10::OperatorKernel {
 public:
    explicit OtherKernel(DispatchKey key) : key_(key) {}
    void operator()(const c10::OperatorHandle& handle, c10::DispatchKeySet,
                    torch::jit::Stack* stack) {
        handle.callBoxedForDispatchKey(key_, *stack);
    }

 private:
    const DispatchKey key_;
};

// The kernel of empty.memory_format, because torch_npu makes contiguous tensors only.
class EmptyKernel : public c10::OperatorKernel {
 public:
    explicit EmptyKernel(const c10::OperatorHandle& handle)
        : torchNpus_(handle.getComputedKernelForDispatchKey(DispatchKey::PrivateUse1)) {}
    void operator()(const c10::OperatorHandle& handle, c10::DispatchKeySet keys,
                    torch::jit::Stack* stack) {
        const std::optional<at::MemoryFormat> format =
            torch::jit::peek(*stack, 5, 6).toOptional<at::MemoryFormat>();
        torch::jit::peek(*stack, 5, 6) = c10::IValue();
        torchNpus_.callBoxed(handle, keys, stack);
        if (format == at::MemoryFormat::ChannelsLast ||
            format == at::MemoryFormat::ChannelsLast3d) {
            const at::Tensor made = stack->back().toTensor();
            made.unsafeGetTensorImpl()->empty_tensor_restride(*format);
        }
    }

 private:
    c10::SafeKernelFunction torchNpus_;
};

// histc counts integers on accelerators. torch's kernel for "cpu" has none for them.
class HistcKernel : public c10::OperatorKernel {
 public:
    explicit HistcKernel(const Operator& op) : host_(op) {}
    void operator()(const c10::OperatorHandle& handle, c10::DispatchKeySet keys,
                    torch::jit::Stack* stack) {
        const at::Tensor self = torch::jit::peek(*stack, 0, 4).toTensor();
        const bool integers = c10::isIntegralType(self.scalar_type(), /*includeBool=*/false);
        if (integers) {
            torch::jit::peek(*stack, 0, 4) = self.to(at::kDouble);
        }
        host_(handle, keys, stack);
        if (integers) {
            stack->back() = stack->back().toTensor().to(self.scalar_type());
        }
    }

 private:
    HostKernel host_;
};

class Registrar {
 public:
    explicit Registrar(std::set<std::string> kept) : kept_(std::move(kept)) {}

    size_t Run() {
        Silent silent;  // each registration replaces another one
        const c10::WarningUtils::WarningHandlerGuard quiet(&silent);
        size_t taken = 0;
        for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
            if (name.name.rfind("aten::", 0) == 0) {
                const auto handle = c10::Dispatcher::singleton().findOp(name);
                if (handle && handle->hasSchema() && Take(*handle, name)) {
                    ++taken;
                }
            }
        }
        return taken;
    }

 private:
    static std::string Full(const c10::OperatorName& name) {
        return name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
    }

    static torch::Library& For(DispatchKey key) {
        // They are never destroyed: the end of a library removes its kernels.
        static auto* const libraries = new std::map<DispatchKey, torch::Library*>;
        torch::Library*& library = (*libraries)[key];
        if (library == nullptr) {
            library = new torch::Library(torch::Library::IMPL, "aten", key, __FILE__, __LINE__);
        }
        return *library;
    }

    template <typename Kernel>
    static void Register(DispatchKey key, const c10::OperatorName& name,
                         std::unique_ptr<Kernel> kernel) {
        For(key).impl(Full(name).c_str(),
                      torch::CppFunction::makeFromBoxedFunctor(std::move(kernel)));
    }

    bool Take(const c10::OperatorHandle& handle, const c10::OperatorName& name) {
        const std::string base = name.name.substr(6);
        const bool ofTorchNpu = handle.hasKernelForDispatchKey(DispatchKey::PrivateUse1);
        const bool gradient = handle.hasKernelForDispatchKey(DispatchKey::AutogradPrivateUse1);
        const bool cpu = handle.hasKernelForDispatchKey(DispatchKey::CPU);
        const bool composed =
            handle.hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutograd);
        if (name.name == "aten::empty" && name.overload_name == "memory_format") {
            Register(DispatchKey::PrivateUse1, name, std::make_unique<EmptyKernel>(handle));
            return true;
        }
        if (kept_.count(base) != 0 || IsTorchNpus(base)) {
            return false;
        }
        const bool formula = handle.hasKernelForDispatchKey(DispatchKey::Autograd);
        if (handle.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd) &&
            !(cpu && formula)) {
            if (!ofTorchNpu && !gradient) {
                return false;
            }
            for (const DispatchKey key :
                 {DispatchKey::PrivateUse1, DispatchKey::AutogradPrivateUse1}) {
                Register(key, name,
                         std::make_unique<OtherKernel>(DispatchKey::CompositeImplicitAutograd));
            }
            return true;
        }
        if (gradient && formula) {
            Register(DispatchKey::AutogradPrivateUse1, name,
                     std::make_unique<OtherKernel>(DispatchKey::Autograd));
        }
        if (IsView(handle.schema()) || handle.hasTag(at::Tag::inplace_view)) {
            return false;
        }
        if (base == "copy_" || base == "_copy_from" || base == "_copy_from_and_resize") {
            Register(DispatchKey::PrivateUse1, name,
                     std::make_unique<CopyKernel>(Keep(handle), base == "copy_",
                                                  base == "_copy_from_and_resize"));
            return true;
        }
        if (base == "native_dropout" && name.overload_name.empty()) {
            Register(DispatchKey::PrivateUse1, name, std::make_unique<DropoutKernel>());
            return true;
        }
        if (name.name == "aten::histc" && name.overload_name.empty()) {
            Register(DispatchKey::PrivateUse1, name, std::make_unique<HistcKernel>(Keep(handle)));
            return true;
        }
        const Operator described = Describe(handle);
        // Their compositions name the types of device that they know.
        if ((base == "kaiser_window" && described.device >= 0) ||
            (base == "mode" && name.overload_name == "values")) {
            Register(DispatchKey::PrivateUse1, name, std::make_unique<HostKernel>(Keep(handle)));
            return true;
        }
        // The lengths of packed sequences are on "cpu", and so may be what is copied.
        const bool ofCpu = base == "clone" || base == "_pack_padded_sequence" ||
                           name.name == "aten::_foreach_copy_";
        if (composed && (described.device >= 0 || ofCpu)) {
            if (ofTorchNpu) {
                Register(DispatchKey::PrivateUse1, name,
                         std::make_unique<OtherKernel>(DispatchKey::CompositeExplicitAutograd));
            }
            return ofTorchNpu;
        }
        const bool functional =
            handle.hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutogradNonFunctional);
        if (!cpu && !(ofTorchNpu && (composed || functional))) {
            return false;
        }
        Register(DispatchKey::PrivateUse1, name, std::make_unique<HostKernel>(Keep(handle)));
        return true;
    }

    static const Operator& Keep(const c10::OperatorHandle& handle) {
        static auto* const operators = new std::deque<Operator>;  // queued work refers to them
        operators->push_back(Describe(handle));
        return operators->back();
    }

    const std::set<std::string> kept_;
};

thread_local std::string failure;

}  // namespace

extern "C" {

/// Binds the calls of the runtime, as addresses.
__attribute__((visibility("default"))) void advstep_torch_bind(void* captureInfo, void* query,
                                                               void* synchronize, void* launch,
                                                               void* launchShort, void* message) {
    runtime.captureInfo = reinterpret_cast<decltype(runtime.captureInfo)>(captureInfo);
    runtime.query = reinterpret_cast<decltype(runtime.query)>(query);
    runtime.synchronize = reinterpret_cast<decltype(runtime.synchronize)>(synchronize);
    runtime.launch = reinterpret_cast<decltype(runtime.launch)>(launch);
    runtime.launchShort = reinterpret_cast<decltype(runtime.launchShort)>(launchShort);
    runtime.message = reinterpret_cast<decltype(runtime.message)>(message);
}

__attribute__((visibility("default"))) void advstep_torch_set(int queueAlways, int blocking) {
    settings.queueAlways = queueAlways != 0;
    settings.blocking = blocking != 0;
}

/// Takes over torch's operators, except those with the names in `kept`, with a space between.
/// Returns the number of these operators, or -1: advstep_torch_failure has the reason.
__attribute__((visibility("default"))) int64_t advstep_torch_register(const char* kept) {
    try {
        std::istringstream words(kept);
        const std::set<std::string> names{std::istream_iterator<std::string>(words), {}};
        RegisterPaged();
        return static_cast<int64_t>(Registrar(names).Run());
    } catch (const std::exception& error) {
        failure = error.what();
        return -1;
    }
}

__attribute__((visibility("default"))) const char* advstep_torch_failure() {
    return failure.c_str();
}

/// The number of operators that draw random numbers in replays, recorded until now.
__attribute__((visibility("default"))) uint64_t advstep_torch_draws_recorded() {
    return drawsRecorded.load();
}

/// The number of random numbers drawn again until now, to get to the offset of a saved state.
__attribute__((visibility("default"))) uint64_t advstep_torch_draws_repeated() {
    return drawsRepeated.load();
}
}
