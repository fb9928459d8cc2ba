# SPDX-License-Identifier: Apache-2.0
"""Operators of torch that torch's kernels for "cpu" run on the memory of "npu" tensors.

torch calls `autoload` at its import, in every process: it is an entry point of the group
torch.backends. Where torch_npu is imported first, _advance_step_startup calls it. Without the
emulated device it does nothing.

The form of `_native` runs operators in the order of their stream and needs the extension for this
torch (`_extension`). That of `_python_form` runs them at once, in Python, with any torch.
"""

from __future__ import annotations

import importlib
import os
import pathlib
import sys
from typing import Any

from . import _aclnn_operators, _cann, _extension, _hccl, _task_queue

MODES = ("0", "1", "queue", "python", "aclnn")  # of ADVANCE_STEP_HOST_OPERATORS
_state: dict[str, str] = {}


def _is_emulated() -> bool:
    home = os.environ.get("ASCEND_HOME_PATH") or "/nonexistent"
    return pathlib.Path(home, "lib64", "libadvance_step_private.so").is_file()


def mode() -> str:
    """Returns the value of ADVANCE_STEP_HOST_OPERATORS, or "0" where there is no emulated device."""
    return checked_mode() if _is_emulated() else "0"


def checked_mode() -> str:
    """Returns the value of ADVANCE_STEP_HOST_OPERATORS. Raises ImportError if it is none."""
    wanted = os.environ.get("ADVANCE_STEP_HOST_OPERATORS") or "1"
    if wanted not in MODES:
        raise ImportError(f"ADVANCE_STEP_HOST_OPERATORS is {wanted!r}; expected one of "
                          + ", ".join(MODES))
    return wanted


def form() -> str:
    """Returns the form that is registered: "native", "python", or "" if there is none."""
    return _state.get("form", "")


def before_torch_npu() -> None:
    """Sets what torch_npu asks for at its import."""
    if _is_emulated():
        _cann.load_operators()
        _task_queue.choose()
    if mode() != "0":
        _hccl.default_devices()


def after_torch_npu() -> None:
    """Registers the host operators after `import torch_npu`."""
    torch = sys.modules.get("torch")
    if torch is not None and not getattr(torch.__spec__, "_initializing", False):
        autoload()  # else torch imports torch_npu, and calls it itself


def autoload() -> None:
    """Registers the host operators, if torch_npu is there and its device is the emulated one."""
    wanted = mode()
    if wanted == "0" or _state:
        return
    _task_queue.choose()
    _hccl.default_devices()  # before torch_npu asks for them
    try:
        torch: Any = importlib.import_module("torch")
        importlib.import_module("torch_npu")  # whose place the registrations take
    except ImportError:
        return
    from . import _native, _parts
    library = _parts.attempt(torch, "the extension", _native.load, torch, wanted)
    if wanted == "aclnn":
        if library is None:
            raise ImportError("ADVANCE_STEP_HOST_OPERATORS is 'aclnn', which needs the extension for this torch, "
                              f"{torch.__version__}: {_extension.obstacle(torch.__version__) or 'a warning says why'}")
        _aclnn_operators.load()
    if library is not None:
        _parts.attempt(torch, 'the backend "hccl"', _hccl.register, torch)
    if wanted != "python" and library is not None:
        _parts.attempt(torch, "torch's operators", _native.register, torch, library)
        _aclnn_operators.use_in_every_mode(torch)
        _state["form"] = "native"
    else:
        from ._python_form import operators
        _parts.attempt(torch, "torch's operators", operators.register, torch)
        _state["form"] = "python"
    _parts.register(torch)
