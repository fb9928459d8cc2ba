# SPDX-License-Identifier: Apache-2.0
"""Refuses to hide an installed torch_npu."""

from __future__ import annotations

import importlib.machinery
import importlib.metadata
import os
import sys

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def refuse_to_shadow() -> None:
    """Raises ImportError if a torch_npu other than this emulation can be imported."""
    elsewhere = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != HERE]
    found = importlib.machinery.PathFinder.find_spec("torch_npu", elsewhere)
    where = found.origin if found is not None else None
    if where is None:
        for name in ("torch-npu", "torch_npu"):
            try:
                where = f"distribution {name} {importlib.metadata.version(name)}"
            except importlib.metadata.PackageNotFoundError:
                continue
    if where is not None:
        raise ImportError(
            f"torch_npu is installed ({where}); its emulation does not take its place. Remove "
            f"{HERE} from PYTHONPATH and sys.path to use the real one.")
