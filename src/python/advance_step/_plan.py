# SPDX-License-Identifier: Apache-2.0
"""Plans: the tensors and the repeatable executor of one call on the same arrays.

Making a plan costs some 20 us, running it again less than one. So each thread keeps the plans of
its latest calls, by operator, stream, arrays (by id) and attributes. A plan is used again only if
memory, shape, strides, dtype and permission to write of the arrays are those for which it was made.

A plan belongs to a thread, or to a PreparedCall, which runs it under its stream's lock, because
only one thread at a time may use an executor.
"""

from __future__ import annotations

import ctypes
import functools
import operator
import sys
import weakref
from ctypes import byref, c_int64, c_uint64, c_void_p
from typing import Any, Sequence

from . import _host_memory, _library
from ._arguments import integer
from ._arrays import ArrayView, describe, plain_torch, refuse
from ._errors import TILING_ERROR
from ._runtime import Generation

_FORMAT_ND = 2
_INT64 = (-(1 << 63), (1 << 63) - 1)


class Operator:
    """An operator of the library.

    Args:
        name: the name as in aclnn<name>.
        tensors: names of the tensors, in signature order; a name with "*" is in/out, a name with
            "?" may be None.
        attributes: names of the integers.
    """

    def __init__(self, name: str, tensors: Sequence[str], attributes: Sequence[str]) -> None:
        self.name = name
        self.tensors = tuple(tensor.rstrip("*?") for tensor in tensors)
        self.written = tuple(tensor.endswith("*") for tensor in tensors)
        self.optional = tuple(tensor.endswith("?") for tensor in tensors)
        self.attributes = tuple(attributes)
        self.shown = tuple(f"{name}: {tensor}" for tensor in self.tensors)  # in messages
        self.plan, self.run = _library.bind_operator(name, len(tensors), len(attributes))

    def integers(self, given: Sequence[Any]) -> tuple[int, ...]:
        """Returns the attributes as numbers of 64 bits."""
        return tuple([integer(self.name, name, value, *_INT64, TILING_ERROR)
                      for name, value in zip(self.attributes, given)])


_numpy_state = operator.attrgetter("shape", "strides", "dtype", "flags.writeable")
_torch_state = operator.attrgetter("shape", "dtype")


class _NumpyWatches:
    """Checks that numpy arrays still have the memory and geometry of the plan.

    It uses no weak references, because numpy does not resize an array that has one. The public
    access to the address is slow (0.5 us). But in numpy's C interface an ndarray begins with the
    object header and the address, so a ctypes cell over that field reads the address; `of` returns
    None if the cell does not show it. A cell is read only while its ndarray exists: plans are found
    by the ids of living arrays, and a PreparedCall owns its arrays.
    """

    __slots__ = ("entries", "kind")

    def __init__(self, kind: type, entries: list[Any]) -> None:
        self.kind = kind
        self.entries = entries

    @classmethod
    def of(cls, kind: type, arrays: Sequence[Any],
           views: Sequence[ArrayView]) -> _NumpyWatches | None:
        if sys.implementation.name != "cpython":
            return None
        entries = []
        for array, view in zip(arrays, views):
            cell = ctypes.c_size_t.from_address(id(array) + object.__basicsize__)
            if cell.value != view.address:
                return None
            entries.append((cell, view.address, _numpy_state(array)))
        return cls(kind, entries)

    def hold(self, arrays: Sequence[Any]) -> bool:
        """Returns whether the arrays are unchanged. They have the ids of the plan's arrays."""
        kind = self.kind
        for (cell, address, state), array in zip(self.entries, arrays):
            if type(array) is not kind or cell.value != address or _numpy_state(array) != state:
                return False
        return True

    def in_place(self) -> bool:
        """Returns whether the memory has not moved. The arrays must exist."""
        for cell, address, _ in self.entries:
            if cell.value != address:
                return False
        return True


class _TorchWatches:
    """Checks that torch tensors still have the memory and geometry of the plan."""

    __slots__ = ("entries", "plain", "subclassed")

    def __init__(self, torch: Any, tensors: Sequence[Any], views: Sequence[ArrayView]) -> None:
        self.plain = plain_torch(torch)
        self.subclassed = any(type(tensor) is not torch.Tensor for tensor in tensors)
        with self.plain():
            self.entries = [(weakref.ref(tensor), view.address, tensor.stride(),
                             _torch_state(tensor))
                            for tensor, view in zip(tensors, views)]

    def hold(self, tensors: Sequence[Any]) -> bool:
        if self.subclassed:
            with self.plain():
                return self._hold(tensors)
        return self._hold(tensors)

    def _hold(self, tensors: Sequence[Any]) -> bool:
        for (ref, address, strides, state), tensor in zip(self.entries, tensors):
            if ref() is not tensor:
                return False
            known: Any = tensor
            if (known.data_ptr() != address or known.stride() != strides
                    or _torch_state(known) != state):
                return False
        return True

    def in_place(self) -> bool:
        if self.subclassed:
            with self.plain():
                return self._in_place()
        return self._in_place()

    def _in_place(self) -> bool:
        for ref, address, _, _ in self.entries:
            tensor = ref()
            if tensor is None or tensor.data_ptr() != address:
                return False
        return True


def _watch(arrays: Sequence[Any],
           views: Sequence[ArrayView]) -> _NumpyWatches | _TorchWatches | None:
    torch = sys.modules.get("torch")
    if torch is not None and all(isinstance(array, torch.Tensor) for array in arrays):
        return _TorchWatches(torch, arrays, views)
    numpy = sys.modules.get("numpy")
    if numpy is not None and all(type(array) is numpy.ndarray for array in arrays):
        return _NumpyWatches.of(numpy.ndarray, arrays, views)
    return None  # checking other kinds costs more than a new plan, or may be wrong


class Plan:
    """One call of an operator that is checked and planned, for any number of runs."""

    __slots__ = ("views", "watches", "ranges", "run", "executor", "workspace",
                 "_partial", "_generation")

    def __init__(self, op: Operator, arrays: Sequence[Any], attributes: Sequence[int]) -> None:
        self.executor = c_void_p()  # the library fills both
        self.workspace = c_void_p()
        self._generation = Generation.current
        attributes = op.integers(attributes)
        self.views = [_view(op, at, array) for at, array in enumerate(arrays)]
        views = [view for view in self.views if view is not None]
        self.ranges = [(view.begin, view.end) for view in views]
        self.watches = _watch([array for array in arrays if array is not None], views)
        self._partial = len(views) < len(arrays)
        _host_memory.ensure(self.ranges)
        self._plan(op, attributes)

    def _plan(self, op: Operator, attributes: Sequence[int]) -> None:
        tensors: list[int | None] = []
        size = c_uint64()
        executor = self.executor
        try:
            for view in self.views:
                tensors.append(None if view is None else _tensor(view))
            _library.check(op.plan(*tensors, *attributes, byref(size), byref(executor)),
                           f"aclnn{op.name}GetWorkspaceSize")
        finally:
            for tensor in tensors:
                _library.destroy_tensor(tensor)
        _library.check(_library.set_repeatable(executor), "aclSetAclOpExecutorRepeatable")
        if size.value:
            _library.check(_library.malloc(byref(self.workspace), size, 0), "aclrtMalloc")
        # The arguments of phase two, except the stream.
        self.run = functools.partial(op.run, self.workspace, size, executor)

    def holds(self, arrays: Sequence[Any]) -> bool:
        """Returns whether the plan fits these arrays in their present state."""
        if self.watches is None:
            return False
        if self._partial:
            arrays = [array for array in arrays if array is not None]
        return self.watches.hold(arrays)

    def __del__(self, destroy: Any = _library.destroy_executor, free: Any = _library.free) -> None:
        executor, workspace = (getattr(self, name, None) for name in ("executor", "workspace"))
        if executor:  # not after an __init__ that was interrupted
            destroy(executor)
        # If the runtime has ended since, the address may belong to other memory.
        if workspace and self._generation == Generation.current:
            free(workspace)


def _view(op: Operator, at: int, array: Any) -> ArrayView | None:
    if array is None:
        return None  # phase one checks whether it may be None
    view = describe(array, op.shown[at])
    if op.written[at] and not view.writable:
        raise refuse(op.shown[at], "is read-only", "an array that can be written")
    return view


def _tensor(view: ArrayView) -> int:
    rank = len(view.shape)
    shape = (c_int64 * rank)(*view.shape)
    strides = (c_int64 * rank)(*view.strides)
    tensor = _library.create_tensor(shape, rank, view.dtype, strides, 0, _FORMAT_ND, shape, rank,
                                    view.address)
    if not tensor:
        raise MemoryError("aclCreateTensor")
    return int(tensor)
