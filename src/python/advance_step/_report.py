# SPDX-License-Identifier: Apache-2.0
"""What an environment has: the versions, files and settings that a bug report needs."""

from __future__ import annotations

import importlib.metadata
import os
import pathlib
import sys

from . import LIBRARY_PATH, __version__, _extension, _torch_versions
from ._cann import prefix

_SETTINGS = ("ADVANCE_STEP_", "ASCEND_", "TORCH_DEVICE_BACKEND_AUTOLOAD", "PYTORCH_NPU_ALLOC_CONF", "LD_LIBRARY_PATH")
_MISSING = "not installed"
_HERE = pathlib.Path(__file__).resolve().parent


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return _MISSING


def _prefix() -> tuple[str, str]:
    """Returns where the prefix is, and whether CANN's operators compute in it."""
    try:
        home = prefix()
    except ImportError:
        return "none", "none"
    module = home / "lib64" / "libadvance_step_aten.so"
    return str(home), str(module) if module.is_file() else "none: the build found no libtorch, so they refuse"


def _extension_told() -> str:
    """Returns where the extension for the environment's torch is, or will be, or what is lost without it."""
    built = sorted(file.stem.split("-")[1] for file in _HERE.glob("_torch_kernels-*.so"))
    own = f"for torch {', '.join(built)}" if built else "none in the wheel"
    torch = _version("torch")
    if torch == _MISSING or _torch_versions.plain(torch) in built:
        return own
    found = _extension.find(torch)
    if found is not None:
        return f"{own}; {found}"
    if reason := _extension.obstacle(torch):
        return f"{own}; none for torch {torch}: {reason}. So {_torch_versions.LOST}"
    return f"{own}; compiled for torch {torch} into {_extension.cache()} by the first program that needs it"


def lines() -> list[str]:
    """Returns the lines of the report."""
    home, operators = _prefix()
    rows = [("python", f"{sys.version.split()[0]} ({sys.executable})"), ("prefix", home),
            ("CANN's operators", operators), ("extension", _extension_told()),
            *((name, _version(name)) for name in ("torch", "torch_npu", "numpy"))]
    rows += [(name, value) for name, value in sorted(os.environ.items()) if name.startswith(_SETTINGS)]
    return [f"advance_step {__version__}, library {LIBRARY_PATH}",
            *(f"  {name + ':':<18} {value}" for name, value in rows)]
