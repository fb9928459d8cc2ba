# SPDX-License-Identifier: Apache-2.0
"""The kernels of this form, and their registration with torch.

An operator waits for its stream and runs at once, on the caller's thread. Python code is never
queued, because torch_npu would wait for it with the interpreter's lock held. So nothing can be
captured.
"""

from __future__ import annotations

from typing import Any

from .. import _aclnn_operators, _extension, _torch_operators
from . import ctc, widened
from .generators import HostGenerators
from .stream_locks import StreamLocks
from .views import Views

_registered: list[Any] = []  # a registration ends with its object


class _Operators:
    """Registers kernels, each of which runs one operator."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.generators = HostGenerators(torch)
        self.locks = StreamLocks(torch)
        self.library = torch.library.Library("aten", "IMPL")
        _registered.append(self.library)

    def devices(self, values: Any) -> Any:
        """Yields the devices of the "npu" tensors, and "npu" devices among the values."""
        torch = self.torch
        for value in values:
            if isinstance(value, torch.Tensor):
                if value.device.type == "npu":
                    yield value.device
            elif isinstance(value, torch.device) and value.type == "npu":
                yield value if value.index is not None else torch.device(
                    "npu", torch.npu.current_device())
            elif isinstance(value, torch.Generator) and value.device.type == "npu":
                yield value.device
            elif isinstance(value, (list, tuple)):
                yield from self.devices(value)

    def alone(self, name: str, devices: list[Any]) -> Any:
        """Waits for the streams, and keeps them from other threads' operators."""
        return self.locks.of(devices, lambda device: self.wait(name, device))

    def wait(self, name: str, device: Any) -> None:
        if self.torch.npu.is_current_stream_capturing():
            reason = _extension.obstacle(self.torch.__version__) or "expected another ADVANCE_STEP_HOST_OPERATORS"
            raise RuntimeError(f"{name} cannot be captured: the Python form of the host operators runs them at once. "
                               f"Graphs need the extension: {reason}")
        self.torch.npu.current_stream(device).synchronize()

    def host_value(self, name: str, value: Any, views: Views, device: Any, index: bool,
                   written: bool) -> Any:
        torch = self.torch
        if isinstance(value, torch.Tensor):
            if value.device.type == "npu":
                return views.of(value)
            if value.device.type == "cpu" and (value.dim() or written) and not index:
                raise RuntimeError("Expected all tensors to be on the same device, but found at least "
                                   f"two devices, {device} and cpu! ({name})")
            return value
        if isinstance(value, torch.device):
            return torch.device("cpu")
        if isinstance(value, (list, tuple)):
            return type(value)(self.host_value(name, element, views, device, index, written)
                               for element in value)
        return value

    def host(self, op: Any) -> Any:
        """Returns the kernel that runs torch's kernel for "cpu"."""
        name = f"{op._schema.name}" + (f".{op._overloadname}" if op._overloadname != "default" else "")
        names = [argument.name for argument in op._schema.arguments]
        written = {argument.name for argument in op._schema.arguments
                   if argument.alias_info is not None and argument.alias_info.is_write}
        draws = any("Generator" in str(argument.type) for argument in op._schema.arguments)
        flags = _torch_operators.flags_of(op._schema.name)

        def run(given: dict[str, Any]) -> Any:
            torch = self.torch
            others = [value for value in given.values() if not isinstance(value, torch.Generator)]
            devices = set(self.devices(others)) or set(self.devices(given.values()))
            if len(devices) > 1:
                first, second = sorted(map(str, devices))
                raise RuntimeError("Expected all tensors to be on the same device, but found at least "
                                   f"two devices, {first} and {second}! ({name})")
            device = devices.pop() if devices else None
            views = Views(torch, grow="grows" in flags)
            host = {key: self.host_value(name, value, views, device, key in ("indices", "scalars"),
                                         device is not None and key in written)
                    for key, value in given.items()}
            scalars = given.get("scalars")
            if isinstance(scalars, torch.Tensor) and scalars.device.type != "cpu":
                raise RuntimeError(f"Expected scalars to be on CPU, got {scalars.device} instead. ({name})")
            if host.get("pin_memory"):
                host["pin_memory"] = None
            with (torch.npu.device(device) if device is not None else torch.no_grad(),
                  self.alone(name, [] if device is None else [device])):
                if "indexes_by_targets" in flags:
                    ctc.check_targets(op._schema.name, host)
                with torch._C._AutoDispatchBelowADInplaceOrView():
                    if draws and device is not None:
                        with self.generators.of(given.get("generator"), device) as generator:
                            result = op(**{**host, "generator": generator})
                    else:
                        result = op(**host)
                    views.take_resized()
                    return views.result(result, device) if device is not None else result

        def kernel(*arguments: Any, **options: Any) -> Any:
            given = {**dict(zip(names, arguments)), **options}
            try:
                return run(given)
            except (RuntimeError, IndexError) as refusal:
                return widened.call(self.torch, op, given, written, refusal)

        return kernel

    def histc(self, op: Any) -> Any:
        """Returns the kernel of histc, which counts integers on accelerators but not on "cpu"."""
        kernel = self.host(op)

        def counted(tensor: Any, *arguments: Any, **options: Any) -> Any:
            if tensor.is_floating_point():
                return kernel(tensor, *arguments, **options)
            return kernel(tensor.double(), *arguments, **options).to(tensor.dtype)

        return counted

    def copy(self, op: Any) -> Any:
        """Returns the kernel of copy_(to, from), _copy_from(from, to) and its resizing form."""
        into_first = op._schema.name == "aten::copy_"

        def kernel(first: Any, second: Any, non_blocking: bool = False) -> Any:
            torch = self.torch
            to, source = (first, second) if into_first else (second, first)
            if "resize" in op._schema.name and to.shape != source.shape:
                to.resize_(source.shape)
            views = Views(torch)
            devices = [tensor.device for tensor in (to, source) if tensor.device.type == "npu"]
            with (self.alone(op._schema.name, devices),
                  torch._C._AutoDispatchBelowADInplaceOrView()):
                target = views.of(to) if to.device.type == "npu" else to
                target.copy_(views.of(source) if source.device.type == "npu" else source)
            return to

        return kernel

    def dropout(self) -> Any:
        """Returns the kernel of native_dropout: that of "cpu" draws from the generator of "cpu"."""
        torch = self.torch

        def kernel(given: Any, p: float, train: bool | None) -> Any:
            mask = torch.empty_like(given, dtype=torch.bool)  # drawn in the order of memory
            if train is False:
                return given.clone(), mask.fill_(True)
            mask.bernoulli_(1 - p)
            scale = 1 / (1 - p) if p != 1 else 0
            # As in C++: Python's mul_ would not round the scale to the dtype of the input.
            return torch.ops.aten.mul_.Scalar(given.mul(mask), scale), mask

        return kernel

    def empty(self) -> Any:
        """Returns the kernel of empty.memory_format: torch_npu makes contiguous tensors only."""
        torch = self.torch

        def kernel(size: Any, *, dtype: Any = None, layout: Any = None, device: Any = None,
                   pin_memory: Any = None, memory_format: Any = None) -> Any:
            if memory_format in (torch.channels_last, torch.channels_last_3d):
                like = torch.empty(size, device="meta", memory_format=memory_format)
                return torch.empty_strided(size, like.stride(), dtype=dtype, device=device)
            return torch.empty_strided(size, torch.empty(size, device="meta").stride(), dtype=dtype,
                                       device=device)

        return kernel

    def put(self, op: Any, kernel: Any, key: str = "PrivateUse1") -> None:
        self.library.impl(op, kernel, key, allow_override=True)

    def other(self, op: Any, key: str) -> Any:
        """Returns the kernel that another key has: a composition, or torch's own gradient."""
        number = getattr(self.torch._C.DispatchKey, key)
        return lambda *arguments, **options: op._op_dk(number, *arguments, **options)

    def take(self, name: str, kept: set[str]) -> None:
        has = self.torch._C._dispatch_has_kernel_for_dispatch_key
        base, _, overload = name[len("aten::"):].partition(".")
        flags = _torch_operators.flags_of(name)
        if base in kept or "torch_npus" in flags and base != "empty":
            return
        try:
            op = getattr(getattr(self.torch.ops.aten, base), overload or "default")
        except (AttributeError, RuntimeError):
            return
        if base == "empty":
            if overload == "memory_format":
                self.put(op, self.empty())
            return
        torch_npus, gradient = has(name, "PrivateUse1"), has(name, "AutogradPrivateUse1")
        cpu, formula = has(name, "CPU"), has(name, "Autograd")
        composed = has(name, "CompositeExplicitAutograd")
        if has(name, "CompositeImplicitAutograd") and not (cpu and formula):
            if torch_npus or gradient:
                for key in ("PrivateUse1", "AutogradPrivateUse1"):
                    self.put(op, self.other(op, "CompositeImplicitAutograd"), key)
            return
        if gradient and formula:
            self.put(op, self.other(op, "Autograd"), "AutogradPrivateUse1")
        if self.torch.Tag.inplace_view in op.tags or any(
                value.alias_info is not None and not value.alias_info.is_write
                for value in op._schema.returns):
            return
        if name in ("aten::copy_", "aten::_copy_from", "aten::_copy_from_and_resize"):
            self.put(op, self.copy(op))
        elif name == "aten::native_dropout":
            self.put(op, self.dropout())
        elif "names_devices" in flags:
            self.put(op, self.host(op))
        elif composed and ("takes_cpu_tensors" in flags or any(
                value.name == "device" for value in op._schema.arguments)):
            if torch_npus:
                self.put(op, self.other(op, "CompositeExplicitAutograd"))
        elif name == "aten::histc":
            self.put(op, self.histc(op))
        elif cpu or torch_npus and (composed or has(name, "CompositeExplicitAutogradNonFunctional")):
            self.put(op, self.host(op))


def register(torch: Any) -> None:
    """Registers the operators of this form."""
    operators = _Operators(torch)
    kept = _aclnn_operators.names()
    for name in sorted(torch._C._dispatch_get_all_op_names()):
        if name.startswith("aten::"):
            operators.take(name, kept)
