// SPDX-License-Identifier: Apache-2.0
// Views on "cpu" of the memory of "npu" tensors, and "npu" tensors for results on "cpu".

#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <utility>
#include <vector>

#include "torch_kernels/device/current_stream.h"

namespace advstep_torch {

inline bool IsNpu(const at::Tensor& tensor) {
    return tensor.defined() && tensor.device().type() == kNpu;
}

/// The views that one call needs. A tensor has one view, and tensors that share a storage have
/// views that share one, because kernels ask whether arguments are the same or overlap.
///
/// Python never sees a view, and a view owns no memory, so its end needs no lock. The memory
/// belongs to the "npu" storage. The allocator of torch_npu reuses it for work of the same stream
/// only.
class Views {
 public:
    at::Tensor Of(const at::Tensor& npu);

    /// Returns the "npu" tensor of a view, or an undefined one.
    at::Tensor TensorOf(const at::Tensor& view) const;

    /// Returns an "npu" tensor that has the memory of the view, or an undefined one.
    at::Tensor BaseOf(const at::Tensor& view) const;

    /// Gives outputs that a kernel has resized their new shape and contents.
    void TakeResized() const;

    /// Returns the bytes that the views show.
    size_t Bytes() const;

    /// Returns the memory of the views: their storages, and the bytes of each view that has no
    /// gaps. `use(view)` returns ADVSTEP_RANGE_READ, ADVSTEP_RANGE_WRITTEN or both.
    std::vector<AdvStepMemoryRange> Ranges(
        const std::function<uint64_t(const at::Tensor& view)>& use) const;

 private:
    c10::Storage StorageOf(const at::Tensor& npu);

    std::vector<std::pair<at::Tensor, at::Tensor>> tensors_;  // "npu", view
    std::vector<std::pair<const c10::StorageImpl*, c10::Storage>> storages_;
};

/// Refuses a quantized result.
void CheckPlain(const at::Tensor& result);

/// Makes a copy of a number of Python's count as one, too.
void CopyWrapped(const at::Tensor& from, const at::Tensor& to);

/// Returns a new tensor on the device.
at::Tensor NewTensor(c10::IntArrayRef sizes, c10::IntArrayRef strides, caffe2::TypeMeta dtype,
                     bool conj, bool neg, c10::Device device);

/// Returns a new tensor on the device with the metadata of another one.
at::Tensor NewLike(const at::Tensor& like, c10::Device device);

}  // namespace advstep_torch
