# SPDX-License-Identifier: Apache-2.0
"""An emulation of torch_npu on the CPU, by libadvance_step. It is not Huawei's torch_npu.

It maps torch's device "npu" to the emulated devices, and has npu_advance_step_flashattn. Access to
any other name of torch_npu raises AttributeError. docs/python.md lists the names that are emulated.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import warnings
from typing import Any

from ._guard import HERE, refuse_to_shadow

refuse_to_shadow()
if importlib.util.find_spec("advance_step") is None:  # in the source tree both are neighbours
    sys.path.append(os.path.dirname(HERE))

import advance_step  # noqa: E402
import torch  # noqa: E402

from . import npu  # noqa: E402
from ._conversions import install as _install  # noqa: E402
from ._operator import npu_advance_step_flashattn, register as _register  # noqa: E402

IS_EMULATION = True
__version__ = f"{advance_step.__version__}+emulation"


class EmulationWarning(UserWarning):
    """A warning, given once, that torch_npu is emulated."""


if hasattr(torch, "npu"):
    raise ImportError("torch.npu exists: another torch_npu has been imported; its emulation does "
                      "not take its place")
_install()
_library = _register()
setattr(torch, "npu", npu)
sys.modules["torch.npu"] = npu

warnings.warn("torch_npu is an emulation on the CPU by libadvance_step, not Huawei's torch_npu; "
              "only npu_advance_step_flashattn and what is needed to call it are there",
              EmulationWarning, stacklevel=2)

__all__ = ["EmulationWarning", "IS_EMULATION", "npu", "npu_advance_step_flashattn"]


def __getattr__(name: str) -> Any:
    raise AttributeError(f"torch_npu.{name} is not emulated; libadvance_step's emulation of "
                         f"torch_npu has {', '.join(__all__)}")
