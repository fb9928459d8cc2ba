// SPDX-License-Identifier: Apache-2.0
// What differs between the versions of torch that the extension is built for.
//
// torch 2.9 and 2.10 lack names that later ones have. A type is asked for a name; no number of a
// version decides.

#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/Device.h>

namespace advstep_torch {

/// Returns the handle of an "npu" stream by torch_npu's own code, which a torch without
/// Stream::native_handle does not know. `stream` is a c10::Stream, the only member of torch_npu's
/// class of streams. Raises where torch_npu is not loaded, or does not have the call.
void* HandleByTorchNpu(const void* stream);

/// Returns the handle of an "npu" stream. torch_npu launches before what it has queued.
template <typename Stream>
void* NativeHandle(const Stream& stream) {
    if constexpr (requires { stream.native_handle(); }) {
        return stream.native_handle();
    } else {
        return HandleByTorchNpu(&stream);
    }
}

/// Returns the default generator of an "npu" device; without an index, that of the current one. A
/// torch_npu for an older torch has not told it where to ask, and is asked itself.
const at::Generator& DefaultGenerator(c10::Device device);

/// Returns the type that a work of reduce_scatter_tensor_coalesced has. A torch without one of its
/// own takes that of coalesced works.
template <typename OpType>
constexpr OpType ReduceScatterTensorCoalesced() {
    if constexpr (requires { OpType::REDUCE_SCATTER_TENSOR_COALESCED; }) {
        return OpType::REDUCE_SCATTER_TENSOR_COALESCED;
    } else {
        return OpType::COALESCED;
    }
}

}  // namespace advstep_torch
