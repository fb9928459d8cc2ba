# SPDX-License-Identifier: Apache-2.0
"""Launches of Triton's kernels on "npu" tensors: by the interpreter, on the memory of the device.

The interpreter is Python, and queued work never needs the interpreter's lock. So a launch waits for the
current stream and runs at once, as operators do whose shapes depend on data. What the program does
afterwards is behind it, on every stream; it cannot be captured. Where a trace or the sanitizer looks, a
task of the stream stands for it.
"""

from __future__ import annotations

import copy
import inspect
import threading
from typing import Any

from .._python_form.views import Views
from . import marks

# The interpreter keeps the place in the grid and its changes of triton.language in globals. A hook of a
# kernel may launch another one.
_lock = threading.RLock()


def extent(tensor: Any) -> int:
    """Returns the bytes from a tensor's first element to its last one."""
    places = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))
    return int((places + 1) * tensor.element_size())


class _Arguments:
    """Arguments of one launch, with views on "cpu" in the place of "npu" tensors."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.views = Views(torch)
        self.devices: list[Any] = []

    def host(self, value: Any) -> Any:
        if isinstance(value, self.torch.Tensor):
            if value.device.type != "npu":
                return value
            if value.device not in self.devices:
                self.devices.append(value.device)
            return self.views.of(value)
        if isinstance(value, tuple):
            elements = [self.host(element) for element in value]
            return type(value)(*elements) if hasattr(value, "_fields") else type(value)(elements)
        if isinstance(getattr(value, "base", None), self.torch.Tensor):
            return self._with_base(value)
        return value

    def memory(self) -> list[tuple[int, int]]:
        """Returns begin and end of the memory of each tensor."""
        return [(npu.data_ptr(), npu.data_ptr() + (extent(npu) if npu.numel() else 0))
                for npu, _ in self.views.tensors]

    def _with_base(self, value: Any) -> Any:
        """Returns a TensorWrapper or a TensorDescriptor of the view."""
        base = self.host(value.base)
        if base is value.base:
            return value
        if hasattr(value, "data_ptr"):
            return type(value)(base, value.dtype)
        made = copy.copy(value)
        object.__setattr__(made, "base", base)
        return made


def _options_of(function: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Returns the options without those of a compiler, such as multibuffer, which the kernel does not
    have among its parameters."""
    spec = inspect.getfullargspec(function)
    known = {*spec.args, *spec.kwonlyargs, "warmup"}
    return {name: value for name, value in options.items() if name in known}


def _wait(torch: Any, name: str, devices: list[Any]) -> None:
    current = torch.npu.current_device()
    for device in devices:
        if device.index != current:
            raise ValueError(f"{name}: a tensor is on {device}; expected tensors of the current device, "
                             f"npu:{current}")
    if torch.npu.is_current_stream_capturing():
        raise RuntimeError(f"{name} cannot be captured: Triton's interpreter runs it at once; expected its "
                           "launch outside the capture")
    torch.npu.current_stream().synchronize()


def install(interpreter: Any) -> None:
    """Makes launches of triton.runtime.interpreter take "npu" tensors."""
    run = interpreter.GridExecutor.__call__

    def launch(self: Any, *arguments: Any, **options: Any) -> Any:
        import torch

        given = _Arguments(torch)
        options = _options_of(self.fn, options)
        host = [given.host(value) for value in arguments]
        host_options = {name: given.host(value) for name, value in options.items()}
        if options.get("warmup") or not given.devices:
            return run(self, *host, **host_options)
        _wait(torch, self.fn.__name__, given.devices)
        with _lock, marks.of(interpreter, self.fn.__name__, given.memory()) as marked:
            run(self, *host, **host_options)
        marked.queue(torch)

    interpreter.GridExecutor.__call__ = launch
