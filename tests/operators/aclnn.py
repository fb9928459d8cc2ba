# SPDX-License-Identifier: Apache-2.0
"""Calls of CANN's operators by ctypes, with tensors of torch as arguments."""

import ctypes
import functools
import json
import os
import pathlib
import subprocess
import sys

import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARIES = pathlib.Path(os.environ.get("LIBRARIES_OF_OPERATORS", ROOT / "build/release/lib"))

DTYPES = {torch.float32: 0, torch.float16: 1, torch.int8: 2, torch.int32: 3, torch.uint8: 4, torch.int16: 6,
          torch.int64: 9, torch.float64: 11, torch.bool: 12, torch.complex64: 16, torch.complex128: 17,
          torch.bfloat16: 27, torch.float8_e5m2: 35, torch.float8_e4m3fn: 36, torch.float8_e8m0fnu: 37}
INT4 = 29
ND = 2


@functools.lru_cache(None)
def functions():
    """{function: what make_operators.py says of it}"""
    made = subprocess.run([sys.executable, ROOT / "src/operators/make_operators.py", "list"], check=True,
                          capture_output=True, text=True).stdout
    return {row["function"]: row for row in json.loads(made)}


class Int4:
    """Numbers of four bits: `numbers` is a tensor of int8, `bytes` what memory has, two in a byte."""

    def __init__(self, numbers):
        self.numbers = numbers
        halves = torch.nn.functional.pad(numbers.flatten() & 15, (0, numbers.numel() % 2)).to(torch.uint8)
        self.bytes = (halves[0::2] | halves[1::2] << 4).contiguous()

    def read(self):
        """Returns the numbers that the bytes are now."""
        halves = torch.stack([self.bytes & 15, self.bytes >> 4], -1).flatten()[:self.numbers.numel()].to(torch.int8)
        return torch.where(halves < 8, halves, halves - 16).reshape(self.numbers.shape)


class Failed(Exception):
    def __init__(self, code, message):
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


class Array(list):
    """Values of an aclIntArray, aclFloatArray or aclBoolArray, by the kind of the argument."""


class Device:
    """Device 0, a stream, and the libraries."""

    def __init__(self):
        self.acl = ctypes.CDLL(str(LIBRARIES / "libadvance_step.so"), ctypes.RTLD_GLOBAL)
        self.operators = ctypes.CDLL(str(LIBRARIES / "libadvance_step_operators.so"))
        for name in ("aclCreateTensor", "aclCreateScalar", "aclCreateIntArray", "aclCreateFloatArray",
                     "aclCreateBoolArray", "aclCreateTensorList", "aclCreateScalarList"):
            getattr(self.acl, name).restype = ctypes.c_void_p
        self.acl.aclGetRecentErrMsg.restype = ctypes.c_char_p
        self.check(self.acl.aclInit(None))
        self.check(self.acl.aclrtSetDevice(0))
        self.stream = ctypes.c_void_p()
        self.check(self.acl.aclrtCreateStream(ctypes.byref(self.stream)))

    def check(self, code):
        if code != 0:
            raise Failed(code, (self.acl.aclGetRecentErrMsg() or b"").decode())

    def synchronize(self):
        self.check(self.acl.aclrtSynchronizeStream(self.stream))


class Memory:
    """Device memory with the bytes of a tensor's storage; a view of it is what an operator gets."""

    def __init__(self, device, tensor):
        self.device = device
        self.bytes = tensor.untyped_storage().nbytes()
        self.address = ctypes.c_void_p()
        device.check(device.acl.aclrtMalloc(ctypes.byref(self.address), ctypes.c_size_t(max(self.bytes, 1)), 0))
        ctypes.memmove(self.address, tensor.untyped_storage().data_ptr(), self.bytes)

    def read(self, tensor):
        """Writes the device's bytes into the tensor's storage."""
        ctypes.memmove(tensor.untyped_storage().data_ptr(), self.address, self.bytes)

    def free(self):
        self.device.check(self.device.acl.aclrtFree(self.address))


class Call:
    """One call of a function: objects of its arguments, both phases, and what they have left."""

    def __init__(self, device, name, arguments):
        self.device = device
        self.name = name
        self.spec = functions()[name]["arguments"]
        self.memories = {}  # by the address of the storage: views of one tensor share memory
        self.tensors = []
        self.destroy = []
        self.values = [self.make(argument, value) for argument, value in zip(self.spec, arguments, strict=True)]

    def longs(self, numbers):
        return (ctypes.c_int64 * max(len(numbers), 1))(*numbers)

    def int4(self, tensor):
        memory = Memory(self.device, tensor.bytes)
        self.memories[tensor.bytes.untyped_storage().data_ptr()] = memory
        self.tensors.append((tensor.bytes, memory))
        numbers = tensor.numbers.contiguous()
        made = self.device.acl.aclCreateTensor(
            self.longs(numbers.shape), ctypes.c_uint64(numbers.dim()), INT4, self.longs(numbers.stride()),
            ctypes.c_int64(0), ND, self.longs([2 * memory.bytes]), ctypes.c_uint64(1), memory.address)
        assert made, self.device.acl.aclGetRecentErrMsg()
        self.destroy.append(("aclDestroyTensor", made))
        return ctypes.c_void_p(made)

    def tensor(self, tensor):
        if isinstance(tensor, Int4):
            return self.int4(tensor)
        key = tensor.untyped_storage().data_ptr()
        if key not in self.memories:
            self.memories[key] = Memory(self.device, tensor)
        memory = self.memories[key]
        self.tensors.append((tensor, memory))
        dims, strides = self.longs(tensor.shape), self.longs(tensor.stride())
        storage = self.longs([memory.bytes // max(tensor.element_size(), 1)])
        made = self.device.acl.aclCreateTensor(
            dims, ctypes.c_uint64(tensor.dim()), DTYPES[tensor.dtype], strides,
            ctypes.c_int64(tensor.storage_offset()), ND, storage, ctypes.c_uint64(1), memory.address)
        assert made, self.device.acl.aclGetRecentErrMsg()
        self.destroy.append(("aclDestroyTensor", made))
        return ctypes.c_void_p(made)

    def scalar(self, value):
        if isinstance(value, tuple):  # (number, dtype)
            holder = torch.tensor(value[0], dtype=value[1])
        else:
            holder = torch.tensor(float(value), dtype=torch.float32) if isinstance(value, (int, float)) \
                and not isinstance(value, bool) else torch.tensor(value)
        made = self.device.acl.aclCreateScalar(ctypes.c_void_p(holder.data_ptr()), DTYPES[holder.dtype])
        self.destroy.append(("aclDestroyScalar", made))
        return ctypes.c_void_p(made)

    def listed(self, kind, members):
        pointers = (ctypes.c_void_p * max(len(members), 1))(*[member.value if member else None for member in members])
        create = "aclCreateTensorList" if kind == "kTensorList" else "aclCreateScalarList"
        for member in members:  # a list owns its members
            self.destroy = [entry for entry in self.destroy if not member or entry[1] != member.value]
        made = getattr(self.device.acl, create)(pointers, ctypes.c_uint64(len(members)))
        self.destroy.append((create.replace("Create", "Destroy"), made))
        return ctypes.c_void_p(made)

    def array(self, kind, values):
        create, element = {"kIntArray": ("aclCreateIntArray", ctypes.c_int64),
                           "kFloatArray": ("aclCreateFloatArray", ctypes.c_float),
                           "kBoolArray": ("aclCreateBoolArray", ctypes.c_bool)}[kind]
        made = getattr(self.device.acl, create)((element * max(len(values), 1))(*values),
                                                ctypes.c_uint64(len(values)))
        self.destroy.append((create.replace("Create", "Destroy"), made))
        return ctypes.c_void_p(made)

    def make(self, argument, value):
        kind = argument["kind"]
        declared = argument["type"].removeprefix("const ")
        if kind == "kInt":
            return {"int64_t": ctypes.c_int64, "uint64_t": ctypes.c_uint64, "int8_t": ctypes.c_int8}.get(
                declared, ctypes.c_int32)(value)
        if kind == "kReal":
            return (ctypes.c_double if declared == "double" else ctypes.c_float)(value)
        if kind == "kFlag":
            return ctypes.c_bool(value)
        if kind == "kDataType":
            return ctypes.c_int32(DTYPES[value] if value is not None else 28)
        if kind == "kText":
            return ctypes.c_char_p(None if value is None else value.encode())
        if value is None:
            return ctypes.c_void_p()
        if kind == "kTensor":
            return self.tensor(value)
        if kind == "kTensorList":
            return self.listed(kind, [self.tensor(member) if member is not None else None for member in value])
        if kind == "kScalar":
            return self.scalar(value)
        if kind == "kScalarList":
            return self.listed(kind, [self.scalar(member) if member is not None else None for member in value])
        return self.array(kind, value)

    def phase_one(self):
        size, executor = ctypes.c_uint64(), ctypes.c_void_p()
        code = getattr(self.device.operators, self.name + "GetWorkspaceSize")(
            *self.values, ctypes.byref(size), ctypes.byref(executor))
        self.device.check(code)
        return executor

    def run(self):
        executor = self.phase_one()
        self.device.check(getattr(self.device.operators, self.name)(
            None, ctypes.c_uint64(0), executor, self.device.stream))
        self.device.synchronize()

    def read(self):
        """Reads the memory of all tensors back."""
        for tensor, memory in self.tensors:
            memory.read(tensor)

    def close(self):
        for function, made in reversed(self.destroy):
            getattr(self.device.acl, function)(ctypes.c_void_p(made))
        for memory in self.memories.values():
            memory.free()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def call(device, name, *arguments):
    """Runs a function. Its outputs, which are tensors of torch, have the results afterwards."""
    with Call(device, name, arguments) as made:
        made.run()
        made.read()
