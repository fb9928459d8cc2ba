# SPDX-License-Identifier: Apache-2.0
"""Finds the emulation of torch_npu, which is outside every default import path."""

from __future__ import annotations

import pathlib


def emulation_directory() -> str:
    """Returns the directory of the emulation. ``import torch_npu`` imports the emulation if the
    directory is on PYTHONPATH or first in sys.path."""
    package = pathlib.Path(__file__).resolve().parent
    # An installation has it in the package, the source tree beside the package.
    for folder in (package / "emulation", package.parent / "emulation"):
        if (folder / "torch_npu" / "__init__.py").is_file():
            return str(folder)
    raise FileNotFoundError(f"no emulation of torch_npu beside {package}")
