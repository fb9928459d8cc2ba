# SPDX-License-Identifier: Apache-2.0
"""Describes arrays of any kind: memory, dtype, shape and strides.

It accepts torch tensors on the CPU, objects with ``__array_interface__`` (numpy arrays and others)
and objects with the buffer protocol (array.array, bytearray, ctypes arrays, memoryview). It uses
numpy and torch only if the program has imported them.
"""

from __future__ import annotations

import ctypes
import sys
from operator import index
from typing import Any, Callable

from ._errors import PARAM_INVALID, AdvanceStepError, ArgumentError

_ACL = {  # typestr without byte order -> aclDataType, bytes
    "f4": (0, 4), "f2": (1, 2), "i1": (2, 1), "i4": (3, 4), "u1": (4, 1), "i2": (6, 2),
    "u2": (7, 2), "u4": (8, 4), "i8": (9, 8), "u8": (10, 8), "f8": (11, 8), "b1": (12, 1),
    "c8": (16, 8), "c16": (17, 16),
}
_TORCH = {  # attribute of torch -> the same
    "float32": (0, 4), "float16": (1, 2), "int8": (2, 1), "int32": (3, 4), "uint8": (4, 1),
    "int16": (6, 2), "int64": (9, 8), "float64": (11, 8), "bool": (12, 1), "complex64": (16, 8),
    "complex128": (17, 16), "bfloat16": (27, 2),
}
_FORMAT = {  # struct format -> kind; the size comes from itemsize
    **dict.fromkeys("bhilqn", "i"), **dict.fromkeys("BHILQN", "u"), **dict.fromkeys("efd", "f"),
    "?": "b",
}


class ArrayView:
    """An array as the C library needs it. `begin` and `end` bound the memory to register: the
    memory of the owning object, so that views of one array share a registration."""

    __slots__ = ("address", "shape", "strides", "dtype", "itemsize", "writable", "begin", "end",
                 "export")

    def __init__(self, address: int, shape: tuple[int, ...], strides: tuple[int, ...],
                 dtype: tuple[int, int], writable: bool) -> None:
        self.address = address
        self.shape = shape
        self.strides = strides  # elements
        self.dtype, self.itemsize = dtype
        self.writable = writable
        self.export: Any = None  # another object that must live while the address is used
        if 0 in shape:
            self.begin = self.end = address
            return
        reach = [(extent - 1) * stride * dtype[1] for extent, stride in zip(shape, strides)]
        self.begin = address + sum(step for step in reach if step < 0)
        self.end = address + sum(step for step in reach if step > 0) + dtype[1]

    def widen(self, begin: int, end: int) -> None:
        if self.begin != self.end:
            self.begin, self.end = min(self.begin, begin), max(self.end, end)


def refuse(name: str, what: str, expected: str) -> ArgumentError:
    return ArgumentError(PARAM_INVALID, f"{name} {what}; expected {expected}")


def _elements(name: str, strides: tuple[int, ...], size: int) -> tuple[int, ...]:
    if any(stride % size for stride in strides):
        raise refuse(name, f"has byte strides {list(strides)} with elements of {size} bytes",
                     "strides of whole elements")
    return tuple(stride // size for stride in strides)


def _contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides: list[int] = []
    step = 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


# ---- torch -----------------------------------------------------------------------------------

_torch_dtypes: dict[Any, tuple[int, int]] = {}


def plain_torch(torch: Any) -> Any:
    """Returns the context manager in which subclasses of tensors use the methods of
    torch.Tensor."""
    name = "DisableTorchFunctionSubclass"  # since torch 2.0 the old name has a wider meaning
    return getattr(torch._C, name, torch._C.DisableTorchFunction)


def _view_of_tensor(torch: Any, tensor: Any, name: str) -> ArrayView:
    if not _torch_dtypes:
        _torch_dtypes.update({getattr(torch, key): value for key, value in _TORCH.items()})
    with plain_torch(torch)():
        if tensor.is_nested:
            raise refuse(name, "is a nested tensor", "a plain one")
        if tensor.device.type != "cpu":
            raise refuse(name, f"is on device {tensor.device}", "memory of the CPU")
        if tensor.layout is not torch.strided:
            raise refuse(name, f"has layout {tensor.layout}", "torch.strided")
        if tensor.is_neg() or tensor.is_conj():  # memory holds the values before that
            raise refuse(name, "is negated or conjugated only when it is read",
                         "a tensor of resolve_neg() and resolve_conj()")
        dtype = _torch_dtypes.get(tensor.dtype)
        if dtype is None:
            raise refuse(name, f"has dtype {tensor.dtype}", "a dtype of aclDataType")
        try:
            address = tensor.data_ptr()
        except RuntimeError as failure:  # tensors of torch.compile and torch.func
            raise refuse(name, f"has no memory ({failure})", "a plain tensor") from None
        if address == 0 and tensor.numel():
            raise refuse(name, "has no memory", "a plain tensor")
        view = ArrayView(address, tuple(tensor.shape), tuple(tensor.stride()), dtype, writable=True)
        storage = getattr(tensor, "untyped_storage", tensor.storage)()
        begin, end = storage.data_ptr(), storage.data_ptr() + storage.nbytes()
        if view.begin != view.end and not begin <= view.begin <= view.end <= end:
            raise refuse(name, f"reaches beyond its storage, which has {end - begin} bytes",
                         "a storage that was not made smaller")
        view.widen(begin, end)
    return view


# ---- __array_interface__ -----------------------------------------------------------------------


def _is_integer(value: Any, low: int, high: int) -> bool:
    try:
        return low <= index(value) < high
    except TypeError:
        return False


def _integers(name: str, what: str, given: Any, low: int, most: int) -> tuple[int, ...]:
    """Returns a tuple of the interface. ctypes would cut numbers that are too large."""
    if not isinstance(given, (tuple, list)) or not all(
            _is_integer(value, low, most) for value in given):
        raise refuse(name, f"has __array_interface__ with {what} {given!r}",
                     f"a tuple of integers from {low} to {most - 1}")
    return tuple([index(value) for value in given])


def _view_of_interface(interface: Any, name: str) -> ArrayView:
    def wrong(key: str, expected: str) -> ArgumentError:
        return refuse(name, f"has __array_interface__ with {key} {interface.get(key)!r}", expected)

    if not isinstance(interface, dict):
        raise refuse(name, f"has an __array_interface__ of type {type(interface).__name__}", "a dict")
    typestr = interface.get("typestr")
    if not (isinstance(typestr, str) and typestr):
        raise wrong("typestr", "a str such as '<i8'")
    native = "<" if sys.byteorder == "little" else ">"
    dtype = _ACL.get(typestr[1:]) if typestr[0] in (native, "|", "=") else None
    if dtype is None:
        raise refuse(name, f"has typestr {typestr}", "a dtype of aclDataType in native byte order")
    shape = _integers(name, "shape", interface.get("shape"), 0, 1 << 63)
    data = interface.get("data")
    if not (isinstance(data, tuple) and len(data) == 2 and _is_integer(data[0], 0, 1 << 64)):
        raise wrong("data", "a tuple of an address and whether it is read-only")
    if interface.get("mask") is not None:
        raise wrong("mask", "none, because operators use all elements")
    given = interface.get("strides")
    if given is None:
        strides = _contiguous(shape)
    else:
        steps = _integers(name, "strides", given, -(1 << 63), 1 << 63)
        if len(steps) != len(shape):
            raise wrong("strides", f"one for each of the {len(shape)} dimensions")
        strides = _elements(name, steps, dtype[1])
    view = ArrayView(index(data[0]), shape, strides, dtype, not data[1])
    if view.end > 1 << 64 or view.begin < 0 or max(strides, default=0) >= 1 << 63:
        raise refuse(name, f"reaches from address {view.begin} to {view.end}",
                     "addresses of 64 bits")
    return view


def _view_of_numpy(numpy: Any, array: Any, name: str) -> ArrayView:
    masked = sys.modules.get("numpy.ma")
    if masked is not None and isinstance(array, masked.MaskedArray):
        raise refuse(name, "is a masked array, whose mask operators do not know",
                     "a plain array, such as that of filled()")
    view = _view_of_interface(array.__array_interface__, name)
    owner = array
    while isinstance(owner.base, numpy.ndarray):
        owner = owner.base
    if owner is not array:
        low, high = _numpy_bounds(owner)
        view.widen(low, high)
    return view


def _numpy_bounds(array: Any) -> tuple[int, int]:
    address = array.__array_interface__["data"][0]
    reach = [(extent - 1) * stride for extent, stride in zip(array.shape, array.strides)]
    return (address + sum(step for step in reach if step < 0),
            address + sum(step for step in reach if step > 0) + array.itemsize)


# ---- the buffer protocol -----------------------------------------------------------------------


class _PyBuffer(ctypes.Structure):
    _fields_ = [
        ("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p), ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t), ("readonly", ctypes.c_int), ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p), ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
        ("strides", ctypes.POINTER(ctypes.c_ssize_t)), ("suboffsets", ctypes.c_void_p),
        ("internal", ctypes.c_void_p),
    ]


_get_buffer = ctypes.pythonapi["PyObject_GetBuffer"]
_get_buffer.argtypes = (ctypes.py_object, ctypes.POINTER(_PyBuffer), ctypes.c_int)
_release_buffer = ctypes.pythonapi["PyBuffer_Release"]
_release_buffer.argtypes = (ctypes.POINTER(_PyBuffer),)
_release_buffer.restype = None
_STRIDES_AND_FORMAT = 0x10 | 0x08 | 0x04  # PyBUF_STRIDES | PyBUF_ND | PyBUF_FORMAT


class _Export:
    """An exported buffer. While it exists the exporter neither moves nor frees its memory."""

    def __init__(self, array: Any) -> None:
        self.buffer = _PyBuffer()
        _get_buffer(array, ctypes.byref(self.buffer), _STRIDES_AND_FORMAT)

    def __del__(self, release: Callable[..., None] = _release_buffer) -> None:
        release(ctypes.byref(self.buffer))


def _view_of_buffer(array: Any, name: str) -> ArrayView:
    export = _Export(array)
    buffer = export.buffer
    code = (buffer.format or b"B").decode()
    size = int(buffer.itemsize)
    native = "@=<" if sys.byteorder == "little" else "@=>"
    kind = _FORMAT.get(code.lstrip(native), "")
    dtype = _ACL.get(f"{kind}{size}")
    if dtype is None:
        raise refuse(name, f"has buffer format {code!r}", "a dtype of aclDataType")
    shape = tuple(buffer.shape[: buffer.ndim])
    strides = (_elements(name, tuple(buffer.strides[: buffer.ndim]), size)
               if buffer.strides else _contiguous(shape))  # ctypes arrays have none
    view = ArrayView(buffer.buf or 0, shape, strides, dtype, not buffer.readonly)
    view.export = export
    return view


def describe(array: Any, name: str) -> ArrayView:
    """Returns the view of an array; `name` is for the message.

    Raises:
        ArgumentError: objects of this kind are not accepted, or the memory is not the CPU's, or not
            aligned.
    """
    view = _describe(array, name)
    if view.begin != view.end and (view.address == 0 or view.address % view.itemsize):
        raise refuse(name, f"has its elements of {view.itemsize} bytes at address {view.address:#x}",
                     f"a multiple of {view.itemsize} above 0")
    return view


def _describe(array: Any, name: str) -> ArrayView:
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        return _view_of_tensor(torch, array, name)
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(array, numpy.ndarray):
        return _view_of_numpy(numpy, array, name)
    interface = getattr(array, "__array_interface__", None)
    if interface is not None:
        return _view_of_interface(interface, name)
    try:
        return _view_of_buffer(array, name)
    except AdvanceStepError:
        raise
    except (TypeError, BufferError, ValueError) as failure:  # ValueError: memory that is given up
        raise refuse(name, f"is {type(array).__name__}, of which no memory is known ({failure})",
                     "a numpy array, a torch tensor, or an object with __array_interface__ or the "
                     "buffer protocol") from None
