// SPDX-License-Identifier: Apache-2.0
// Loads the module that computes.

#include "src/operators/entry/kernel_module.h"

#include <dlfcn.h>

#include <string_view>

namespace advstep_operators {
namespace {

constexpr std::string_view kFile = "libadvance_step_aten.so";

// Returns the path of the module, which stands beside this library.
std::string ModulePath() {
    Dl_info info;
    const bool found = dladdr(reinterpret_cast<const void*>(&LoadKernels), &info) != 0;
    const std::string_view own = found && info.dli_fname != nullptr ? info.dli_fname : "";
    return std::string(own.substr(0, own.rfind('/') + 1)).append(kFile);
}

struct Loaded {
    const Kernels* kernels = nullptr;
    std::string why;
};

Loaded Load() {
    const std::string path = ModulePath();
    void* const module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (module == nullptr) {
        const char* const error = dlerror();
        return {nullptr,
                "its kernels need libtorch (PyTorch for the CPU) and " + std::string(kFile) +
                    ", which cannot be loaded: " + (error != nullptr ? error : "unknown reason") +
                    "; docs/aclnn.md says how to get them"};
    }
    const auto kernels = reinterpret_cast<const Kernels* (*)()>(dlsym(module, Kernels::kSymbol));
    const Kernels* const found = kernels != nullptr ? kernels() : nullptr;
    if (found == nullptr || found->version != Kernels::kVersion) {
        return {nullptr, path + " is of another version than the library beside it"};
    }
    return {found, {}};
}

}  // namespace

const Kernels* LoadKernels(const std::string** why) {
    static const Loaded& loaded = *new const Loaded(Load());  // used by global destructors, too
    *why = &loaded.why;
    return loaded.kernels;
}

}  // namespace advstep_operators
