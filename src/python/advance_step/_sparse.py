# SPDX-License-Identifier: Apache-2.0
"""Operators of sparse "npu" tensors, which torch's kernels for "cpu" run at once.

torch_npu makes sparse tensors of dense "npu" tensors, takes their parts, and copies them; these
operators stay its own. The others wait for their stream: how many elements a result has depends on data,
so none of them can be captured. Dense arguments are views, and sparse ones are copied.
"""

from __future__ import annotations

from typing import Any

from . import _aclnn_operators
from ._python_form.views import Views

_registered: list[Any] = []  # a registration ends with its object

# By the key on "npu": the key on "cpu".
_KEYS = {"SparsePrivateUse1": "SparseCPU", "SparseCsrPrivateUse1": "SparseCsrCPU"}
# Operators of torch_npu that make, take apart, copy or resize sparse tensors.
_TORCH_NPUS = frozenset((
    "_coalesced_", "_dimI", "_dimV", "_indices", "_nnz", "_sparse_coo_tensor_with_dims",
    "_sparse_coo_tensor_with_dims_and_tensors", "_values", "ccol_indices", "clone", "col_indices", "copy_",
    "copy_sparse_to_sparse_", "crow_indices", "dense_dim", "empty", "empty_like", "indices",
    "is_coalesced", "is_same_size", "resize_", "resize_as_sparse_", "row_indices", "sparse_dim",
    "sparse_resize_", "sparse_resize_and_clear_", "values", "zeros"))
# Operators of dense tensors whose results are sparse.
_FROM_DENSE = ("_to_sparse", "_to_sparse.sparse_dim", "_to_sparse_csr", "_to_sparse_csc",
               "_to_sparse_bsr", "_to_sparse_bsc")

# Refused as before: torch's kernel for the gradient reads what only some reductions give it.
_REFUSED = frozenset(("_sparse_mm_reduce_impl", "_sparse_mm_reduce_impl_backward"))


class _Call:
    """One call: its arguments on "cpu", and its results on "npu"."""

    def __init__(self, torch: Any, name: str) -> None:
        self.torch, self.name = torch, name
        self.views = Views(torch)
        self.copies: list[tuple[Any, Any]] = []  # sparse: on "npu", on "cpu"
        self.device: Any = None

    def host(self, value: Any) -> Any:
        torch = self.torch
        if isinstance(value, torch.Tensor) and value.device.type == "npu":
            self._wait(value.device)
            if value.layout == torch.strided:
                return self.views.of(value)
            self.copies.append((value, value.cpu()))
            return self.copies[-1][1]
        if isinstance(value, torch.device):
            return torch.device("cpu")
        if isinstance(value, (list, tuple)):
            return type(value)(self.host(element) for element in value)
        return value

    def _wait(self, device: Any) -> None:
        if self.device is None:
            self.device = device
            if self.torch.npu.is_current_stream_capturing():
                raise RuntimeError(f"{self.name} cannot be captured: it has sparse tensors, whose "
                                   "elements depend on data; expected it outside the capture")
            self.torch.npu.current_stream(device).synchronize()
        elif self.device != device:
            raise RuntimeError("Expected all tensors to be on the same device, but found at least two "
                               f"devices, {self.device} and {device}! ({self.name})")

    def take_written(self, written: list[Any]) -> None:
        """Gives sparse arguments that the operator has written their new elements."""
        for npu, cpu in self.copies:
            if not any(npu is value for value in written):
                continue
            if cpu.layout == self.torch.sparse_coo:
                self.torch.ops.aten.copy_sparse_to_sparse_(npu, cpu, False)
            else:
                npu.copy_(cpu)
        self.views.take_resized()

    def result(self, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value)(self.result(element) for element in value)
        if isinstance(value, self.torch.Tensor) and value.layout != self.torch.strided:
            for npu, cpu in self.copies:
                if cpu is value:
                    return npu
            return value.to(self.device)
        return self.views.result(value, self.device)


def _kernel(torch: Any, op: Any) -> Any:
    name = op._schema.name + (f".{op._overloadname}" if op._overloadname != "default" else "")
    names = [argument.name for argument in op._schema.arguments]
    written = {argument.name for argument in op._schema.arguments
               if argument.alias_info is not None and argument.alias_info.is_write}

    def kernel(*arguments: Any, **options: Any) -> Any:
        given = {**dict(zip(names, arguments)), **options}
        with torch._C._AutoDispatchBelowADInplaceOrView():
            call = _Call(torch, name)
            host = {key: call.host(value) for key, value in given.items()}
            result = op(**host)
            call.take_written([value for key, value in given.items() if key in written])
            return call.result(result)

    return kernel


def _overload(torch: Any, full: str) -> Any:
    base, _, overload = full.removeprefix("aten::").partition(".")
    return getattr(getattr(torch.ops.aten, base), overload or "default")


def _bag_backward(torch: Any) -> Any:
    """Returns the kernel of _embedding_bag_backward, which is that of "cpu" unless the gradient is
    sparse: then it is composed."""
    op = torch.ops.aten._embedding_bag_backward.default
    names = [argument.name for argument in op._schema.arguments]
    dense = torch.library.get_kernel(op, "PrivateUse1")
    keys = torch._C.DispatchKeySet(torch._C.DispatchKey.PrivateUse1)

    def kernel(*arguments: Any, **options: Any) -> Any:
        given = {**dict(zip(names, arguments)), **options}
        if not given.pop("sparse"):
            return dense.call_boxed(keys, *arguments, **options)
        indices, offsets = given["indices"], given["offsets"]
        if indices.numel() and not given["offset2bag"].numel():  # the kernel for "cpu" spares them
            places = torch.arange(indices.numel(), dtype=offsets.dtype, device=offsets.device)
            bags = torch.searchsorted(offsets, places, right=True) - 1
            given["offset2bag"] = bags.to(offsets.dtype)
        del given["maximum_indices"]
        return torch.ops.aten._embedding_bag_sparse_backward(**given)

    return kernel


def register(torch: Any) -> None:
    """Registers the operators, except those that an aclnn function computes."""
    kept = _TORCH_NPUS | _REFUSED | _aclnn_operators.names()
    library = torch.library.Library("aten", "IMPL")
    _registered.append(library)
    for key, of_cpu in _KEYS.items():
        for full in torch._C._dispatch_get_registrations_for_dispatch_key(of_cpu):
            base = full.removeprefix("aten::").partition(".")[0]
            if full.startswith("aten::") and base not in kept:
                op = _overload(torch, full)
                library.impl(op, _kernel(torch, op), key, allow_override=True)
    for name in _FROM_DENSE:
        op = _overload(torch, name)
        library.impl(op, _kernel(torch, op), "PrivateUse1", allow_override=True)
    if "embedding_bag_backward" not in kept:
        library.impl(torch.ops.aten._embedding_bag_backward.default, _bag_backward(torch), "PrivateUse1",
                     allow_override=True)
