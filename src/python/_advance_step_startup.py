# SPDX-License-Identifier: Apache-2.0
"""Adds to the import of some modules what the emulated device needs there.

torch_npu: the host operators, also where a program imports it before torch and so turns off torch's
autoload, and the operators of ATB. Triton: the device's driver, and launches by its interpreter. vLLM and
vllm-ascend: custom operators, and kernels where there is no Triton.

advance_step.pth of the wheel imports this module at the start of each interpreter, so it imports next
to nothing, and acts on the emulated device only.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.machinery import ModuleSpec


def _around(loader: Any, before: Callable[[], None], after: Callable[[Any], None]) -> Any:
    """Returns the loader, with calls before and after its module's code runs."""
    run = loader.exec_module

    def exec_module(module: Any) -> None:
        before()
        run(module)
        after(module)

    loader.exec_module = exec_module
    return loader


def _nothing(*_: Any) -> None:
    pass


def _torch_npu(loader: Any) -> Any:
    def before() -> None:
        from advance_step import _host_operators
        _host_operators.before_torch_npu()

    def after(_: Any) -> None:
        from advance_step import _host_operators
        _host_operators.after_torch_npu()

    return _around(loader, before, after)


def _atb(loader: Any) -> Any:
    def before() -> None:
        from advance_step import _cann
        _cann.load_atb()

    return _around(loader, before, _nothing)


def _triton(loader: Any) -> Any:
    def before() -> None:
        from advance_step._triton import driver
        driver.prefer_interpreter()

    return _around(loader, before, _nothing)


def _triton_backends(loader: Any) -> Any:
    def after(module: Any) -> None:
        from advance_step._triton import driver
        driver.install(module)

    return _around(loader, _nothing, after)


def _triton_interpreter(loader: Any) -> Any:
    def after(module: Any) -> None:
        from advance_step._triton import launch
        launch.install(module)

    return _around(loader, _nothing, after)


def _triton_utils(loader: Any) -> Any:
    def after(module: Any) -> None:
        from advance_step import _host_operators
        if _host_operators.mode() != "0":
            from advance_step._vllm import kernels
            kernels.replace(module)

    return _around(loader, _nothing, after)


def _torchvision(loader: Any) -> Any:
    def before() -> None:
        from importlib.util import find_spec
        if find_spec("vllm") is not None:  # its environment, which transformers may use alone
            from advance_step._vllm import vision
            vision.declare()

    return _around(loader, before, _nothing)


def _vllm_ascend(loader: Any) -> Any:
    """Returns another loader: the compiled module is not loaded."""
    from advance_step import _host_operators
    if _host_operators.mode() == "0" or not hasattr(loader, "path"):
        return loader
    from advance_step._vllm import custom_operators
    return custom_operators.Loader(loader.path)


def _camem(loader: Any) -> Any:
    def after(module: Any) -> None:
        from advance_step._vllm import sleep_memory
        sleep_memory.replace(module)

    return _around(loader, _nothing, after)


def _input_batch(loader: Any) -> Any:
    def after(module: Any) -> None:
        from advance_step._vllm import block_checks
        block_checks.extend_batch(module)

    return _around(loader, _nothing, after)


_EXTENDED = {"torch_npu": _torch_npu, "torch_npu.op_plugin.atb._atb_ops": _atb,
             "torchvision._meta_registrations": _torchvision,
             "triton": _triton, "triton.backends": _triton_backends,
             "triton.runtime.interpreter": _triton_interpreter,
             "vllm_ascend.device_allocator.camem": _camem,
             "vllm_ascend.worker.npu_input_batch": _input_batch,
             "vllm.triton_utils": _triton_utils, "vllm_ascend.vllm_ascend_C": _vllm_ascend}


class _Finder:
    """Finds these modules as the other finders do, and extends their loaders."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        extend = _EXTENDED.get(name)
        if extend is None:
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        found = (finder.find_spec(name, path, target) for finder in others)
        spec = next((spec for spec in found if spec is not None), None)
        if spec is not None and spec.loader is not None:
            spec.loader = extend(spec.loader)
        return spec


def install() -> None:
    """Makes later imports of these modules do more."""
    if "torch_npu" not in sys.modules and not any(type(finder) is _Finder for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())  # type: ignore[arg-type]


_home = os.environ.get("ASCEND_HOME_PATH")
if _home and os.path.isfile(os.path.join(_home, "lib64", "libadvance_step_private.so")):
    install()
