// SPDX-License-Identifier: Apache-2.0
// The handle of a stream and the default generator, for a torch that does not ask torch_npu for
// them.

#include "torch_kernels/device/torch_versions.h"

#include <ATen/Context.h>
#include <c10/util/Exception.h>
#include <dlfcn.h>

namespace advstep_torch {
namespace {

using HandleOf = void* (*)(const void* stream);
using DefaultOf = const at::Generator& (*)(c10::DeviceIndex device);

// Returns a function of torch_npu, or null.
template <typename Function>
Function Find(const char* name) {
    void* const library = dlopen("libtorch_npu.so", RTLD_NOW | RTLD_NOLOAD);
    return library == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library, name));
}

// Returns whether torch knows torch_npu's generators.
bool TorchHasGenerators(c10::Device device) {
    try {
        at::globalContext().defaultGenerator(device);
        return true;
    } catch (const c10::NotImplementedError&) {
        return false;
    }
}

}  // namespace

void* HandleByTorchNpu(const void* stream) {
    static const auto handleOf = Find<HandleOf>("_ZNK7c10_npu9NPUStream6streamEv");
    TORCH_CHECK(
        handleOf != nullptr,
        "the stream of an operator: libtorch_npu.so has no c10_npu::NPUStream::stream(); expected "
        "the torch_npu for this version of torch");
    return handleOf(stream);
}

const at::Generator& DefaultGenerator(c10::Device device) {
    static const DefaultOf generatorOf =
        TorchHasGenerators(device)
            ? nullptr
            : Find<DefaultOf>("_ZN6at_npu6detail22getDefaultNPUGeneratorEa");  // (signed char)
    return generatorOf != nullptr ? generatorOf(device.index())
                                  : at::globalContext().defaultGenerator(device);
}

}  // namespace advstep_torch
