# SPDX-License-Identifier: Apache-2.0
"""Registers the host operators where a program imports torch_npu before torch.

torch_npu turns off torch's autoload then. advance_step.pth of the wheel imports this module at the
start of each interpreter, so it imports next to nothing, and acts on the emulated device only.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec


class _Finder:
    """Finds torch_npu as the other finders do, and adds what comes before and after its import."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != "torch_npu":
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        found = (finder.find_spec(name, path, target) for finder in others)
        spec = next((spec for spec in found if spec is not None), None)
        if spec is not None and spec.loader is not None:
            self._extend(spec.loader)
        return spec

    def _extend(self, loader: Any) -> None:
        run = loader.exec_module

        def exec_module(module: Any) -> None:
            from advance_step import _host_operators
            _host_operators.before_torch_npu()
            run(module)
            _host_operators.after_torch_npu()

        loader.exec_module = exec_module


def install() -> None:
    """Makes the next `import torch_npu` register the host operators."""
    if "torch_npu" not in sys.modules and not any(type(finder) is _Finder for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())  # type: ignore[arg-type]


_home = os.environ.get("ASCEND_HOME_PATH")
if _home and os.path.isfile(os.path.join(_home, "lib64", "libadvance_step_private.so")):
    install()
