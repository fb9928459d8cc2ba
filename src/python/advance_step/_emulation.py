"""Where the emulation of torch_npu lies: outside every default import path."""

from __future__ import annotations

import pathlib


def emulation_directory() -> str:
    """The directory to put on PYTHONPATH, or first in sys.path, so that ``import torch_npu`` finds
    the emulation."""
    package = pathlib.Path(__file__).resolve().parent
    # Installed it is in the package, in the sources beside it.
    for folder in (package / "emulation", package.parent / "emulation"):
        if (folder / "torch_npu" / "__init__.py").is_file():
            return str(folder)
    raise FileNotFoundError(f"no emulation of torch_npu beside {package}")
