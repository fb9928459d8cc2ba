// SPDX-License-Identifier: Apache-2.0
// The handle of a stream for a torch that does not ask torch_npu for it.

#include "torch_kernels/device/torch_versions.h"

#include <c10/util/Exception.h>
#include <dlfcn.h>

namespace advstep_torch {
namespace {

using HandleOf = void* (*)(const void* stream);

// Returns c10_npu::NPUStream::stream() const, or null.
HandleOf Find() {
    void* const library = dlopen("libtorch_npu.so", RTLD_NOW | RTLD_NOLOAD);
    return library == nullptr
               ? nullptr
               : reinterpret_cast<HandleOf>(dlsym(library, "_ZNK7c10_npu9NPUStream6streamEv"));
}

}  // namespace

void* HandleByTorchNpu(const void* stream) {
    static const HandleOf handleOf = Find();
    TORCH_CHECK(
        handleOf != nullptr,
        "the stream of an operator: libtorch_npu.so has no c10_npu::NPUStream::stream(); expected "
        "the torch_npu for this version of torch");
    return handleOf(stream);
}

}  // namespace advstep_torch
