// SPDX-License-Identifier: Apache-2.0
// Tensors on "cpu" that share the memory of "npu" tensors.

#include "torch_kernels/device/views.h"

#include <ATen/EmptyTensor.h>

namespace advstep_torch {

at::Tensor Views::Of(const at::Tensor& npu) {
    for (const auto& [known, view] : tensors_) {
        if (known.unsafeGetTensorImpl() == npu.unsafeGetTensorImpl()) {
            return view;
        }
    }
    at::Tensor view = at::detail::make_tensor<c10::TensorImpl>(
        StorageOf(npu), c10::DispatchKeySet(c10::DispatchKey::CPU), npu.dtype());
    view.unsafeGetTensorImpl()->set_sizes_and_strides(npu.sizes(), npu.strides(),
                                                      npu.storage_offset());
    if (npu.is_conj()) {
        view._set_conj(true);
    }
    if (npu.is_neg()) {
        view._set_neg(true);
    }
    tensors_.emplace_back(npu, view);
    return view;
}

at::Tensor Views::TensorOf(const at::Tensor& view) const {
    for (const auto& [npu, known] : tensors_) {
        if (known.unsafeGetTensorImpl() == view.unsafeGetTensorImpl()) {
            return npu;
        }
    }
    return {};
}

at::Tensor Views::BaseOf(const at::Tensor& view) const {
    for (const auto& [npu, known] : tensors_) {
        if (view.has_storage() &&
            known.storage().unsafeGetStorageImpl() == view.storage().unsafeGetStorageImpl() &&
            view.storage().data() == npu.storage().data()) {
            return npu;
        }
    }
    return {};
}

void Views::TakeResized() const {
    for (const auto& [npu, view] : tensors_) {
        const bool moved = view.storage().data() != npu.storage().data();
        if (!moved && view.sizes() == npu.sizes() && view.strides() == npu.strides()) {
            continue;
        }
        const size_t bytes =
            at::detail::computeStorageNbytes(view.sizes(), view.strides(), view.dtype().itemsize());
        npu.resize_({static_cast<int64_t>(bytes / view.dtype().itemsize())});
        npu.unsafeGetTensorImpl()->set_sizes_and_strides(view.sizes(), view.strides());
        if (moved && view.numel() != 0) {
            // torch_npu queues its copy of the old bytes, which would overwrite the new ones.
            CurrentStream(npu.device()).Wait();
            Views().Of(npu).copy_(view);
        }
    }
}

size_t Views::Bytes() const {
    size_t bytes = 0;
    for (const auto& [npu, view] : tensors_) {
        bytes += view.nbytes();
    }
    return bytes;
}

std::vector<AdvStepMemoryRange> Views::Ranges(
    const std::function<uint64_t(const at::Tensor& view)>& use) const {
    std::vector<AdvStepMemoryRange> ranges;
    for (const auto& [npuStorage, storage] : storages_) {
        if (storage.nbytes() != 0) {
            ranges.push_back({storage.data(), storage.nbytes() | ADVSTEP_RANGE_PARTLY});
        }
    }
    for (const auto& [npu, view] : tensors_) {
        if (view.nbytes() != 0 && view.is_non_overlapping_and_dense()) {
            ranges.push_back({view.data_ptr(), view.nbytes() | use(view)});
        }
    }
    return ranges;
}

c10::Storage Views::StorageOf(const at::Tensor& npu) {
    const c10::StorageImpl* const owner = npu.storage().unsafeGetStorageImpl();
    for (const auto& [known, storage] : storages_) {
        if (known == owner) {
            return storage;
        }
    }
    void* const memory = npu.storage().mutable_data();
    c10::Storage storage(c10::make_intrusive<c10::StorageImpl>(
        c10::StorageImpl::use_byte_size_t(), npu.storage().nbytes(),
        c10::DataPtr(memory, c10::Device(c10::kCPU)), c10::GetAllocator(c10::kCPU),
        /*resizable=*/true));
    storages_.emplace_back(owner, storage);
    return storage;
}

void CheckPlain(const at::Tensor& result) {
    TORCH_CHECK(!result.defined() || !result.is_quantized(), "the result is quantized, ",
                result.dtype(), "; host operators make plain tensors only");
}

void CopyWrapped(const at::Tensor& from, const at::Tensor& to) {
    if (from.unsafeGetTensorImpl()->is_wrapped_number()) {
        to.unsafeGetTensorImpl()->set_wrapped_number(true);
    }
}

at::Tensor NewTensor(c10::IntArrayRef sizes, c10::IntArrayRef strides, caffe2::TypeMeta dtype,
                     bool conj, bool neg, c10::Device device) {
    at::Tensor made =
        at::empty_strided(sizes, strides, at::TensorOptions().dtype(dtype).device(device));
    if (conj) {
        made._set_conj(true);
    }
    if (neg) {
        made._set_neg(true);
    }
    return made;
}

at::Tensor NewLike(const at::Tensor& like, c10::Device device) {
    return NewTensor(like.sizes(), like.strides(), like.dtype(), like.is_conj(), like.is_neg(),
                     device);
}

}  // namespace advstep_torch
