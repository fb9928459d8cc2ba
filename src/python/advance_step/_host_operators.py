# SPDX-License-Identifier: Apache-2.0
"""Operators of torch that torch_npu runs on the host, because no aclnn function computes them.

torch calls `autoload` at its import, in every process: it is an entry point of the group
torch.backends. Without the emulated device it does nothing.
"""

from __future__ import annotations

import importlib
import os
import pathlib
from typing import Any

_libraries: list[Any] = []  # a registration ends with its object


def _wanted() -> bool:
    home = os.environ.get("ASCEND_HOME_PATH")
    emulated = home and pathlib.Path(home, "lib64", "libadvance_step_private.so").is_file()
    return bool(emulated) and os.environ.get("ADVANCE_STEP_HOST_OPERATORS", "1") != "0"


def _max(self: Any) -> Any:
    """The largest element. The copies wait for the current stream, so the order holds; a capture
    refuses them."""
    return self.cpu().max().to(self.device)


def autoload() -> None:
    """Registers the host operators, if torch_npu is there and its device is the emulated one."""
    if not _wanted() or _libraries:
        return
    try:
        torch: Any = importlib.import_module("torch")
        importlib.import_module("torch_npu")  # the registrations take the place of its own
    except ImportError:
        return
    library = torch.library.Library("aten", "IMPL")
    _libraries.append(library)
    library.impl("max", _max, "PrivateUse1", allow_override=True)
