# SPDX-License-Identifier: Apache-2.0
"""The driver that Triton finds active: the emulated device with its SoC's numbers, no compiler."""

from __future__ import annotations

import ctypes
import importlib
import os
from typing import Any

# aclrtDevAttr
_CUBE_CORES, _VECTOR_CORES, _UNIFIED_BUFFER, _L2_CACHE = 102, 201, 204, 302
_INTERPRET = "TRITON_INTERPRET"


def prefer_interpreter() -> None:
    """Makes functions of triton.jit run by the interpreter, here and in child processes, unless the
    program has chosen."""
    os.environ.setdefault(_INTERPRET, "1")


def _npu() -> Any:
    return importlib.import_module("torch").npu


def _number(device: int, attribute: int) -> int:
    value = ctypes.c_int64()
    code = ctypes.CDLL("libascendcl.so").aclrtGetDeviceInfo(device, attribute, ctypes.byref(value))
    if code:
        raise ValueError(f"get_device_properties: device is {device}; aclrtGetDeviceInfo returns {code}")
    return value.value


class _Utils:
    def get_device_properties(self, device: int) -> dict[str, int]:
        cubes = _number(device, _CUBE_CORES)
        return {"num_aicore": cubes, "num_vectorcore": _number(device, _VECTOR_CORES),
                "multiprocessor_count": cubes, "max_shared_mem": _number(device, _UNIFIED_BUFFER)}


class Driver:
    """What Triton and its clients ask a driver for; the methods have the names of Triton's."""

    def __init__(self) -> None:
        self.utils = _Utils()

    @classmethod
    def is_active(cls) -> bool:
        return True

    def get_current_device(self) -> int:
        return int(_npu().current_device())

    def set_current_device(self, device: int) -> None:
        _npu().set_device(device)

    def get_current_stream(self, device: int | None = None) -> int:
        return int(_npu().current_stream(device).npu_stream)

    def get_active_torch_device(self) -> Any:
        return importlib.import_module("torch").device("npu", self.get_current_device())

    def get_device_interface(self) -> Any:
        return _npu()

    def get_current_target(self) -> Any:
        compiler = importlib.import_module("triton.backends.compiler")
        return compiler.GPUTarget("npu", _npu().get_device_name(self.get_current_device()), 0)

    def get_benchmarker(self) -> Any:
        return importlib.import_module("triton.testing").do_bench

    def get_empty_cache_for_benchmark(self) -> Any:
        torch = importlib.import_module("torch")
        size = _number(self.get_current_device(), _L2_CACHE)
        return torch.empty(size, dtype=torch.int8, device=self.get_active_torch_device())

    def clear_cache(self, cache: Any) -> None:
        cache.zero_()


class _NoCompiler:
    """Takes the place of a compiler, which only programs ask for that turn the interpreter off."""

    @staticmethod
    def supports_target(target: Any) -> bool:
        raise RuntimeError(f"Triton has no compiler for {target.backend} here; expected {_INTERPRET}=1, "
                           "the default, before the import of triton")


def install(backends: Any) -> None:
    """Makes the driver the only one of triton.backends, also where another one would be active."""
    backends.backends.clear()
    backends.backends["npu"] = backends.Backend(compiler=_NoCompiler, driver=Driver)
