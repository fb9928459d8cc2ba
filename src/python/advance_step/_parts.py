# SPDX-License-Identifier: Apache-2.0
"""What the package does where torch or torch_npu is a version that has no place for a part of it.

torch calls the package at its import, which must not break for a name that is missing there. So a part
that does not fit a version that was not tried is a warning that names what is lost. With the versions
that were tried it is an error, because the tests have seen it fit.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import warnings
from collections.abc import Callable
from typing import Any

from . import _torch_versions

# Modules whose `register` takes places of torch and torch_npu, in this order, and what they are for.
_MODULES = (
    ("_compositions", "operators of torch that are composed for the device"),
    ("_sparse", "sparse tensors"),
    ("_graphs", "the clean-up after captures that failed"),
    ("_parallel", "torch.nn.DataParallel"),
    ("_profiler", "torch_npu.profiler"),
    ("_mstx", "torch_npu.npu.mstx"),
    ("_memory_errors", "the hint at ADVANCE_STEP_MEMORY in torch.OutOfMemoryError"),
    ("_uncached", "the end of processes with PYTORCH_NO_NPU_MEMORY_CACHING"),
    ("_npu.table", "the operators of torch.ops.npu"),
)


def _npu_version() -> str:
    try:
        return importlib.metadata.version("torch_npu")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def attempt(torch: Any, what: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls the function, and returns its result. `what` it is for is lost, with a warning and the result
    None, if it fails with a version that was not tried."""
    versions = torch.__version__, _npu_version()
    try:
        return function(*arguments)
    except Exception as error:
        if all(_torch_versions.plain(version) in _torch_versions.TRIED for version in versions):
            raise
        warnings.warn(f"advance_step: {what}: lost with torch {versions[0]} and torch_npu {versions[1]}, because of "
                      f"{type(error).__name__}: {error}; versions tried: {', '.join(_torch_versions.TRIED)}",
                      stacklevel=2)
        return None


def wrap(owner: Any, **wrappers: Callable[[Any], Any]) -> None:
    """Replaces each method by what its wrapper makes of it. One that this version does not have is left
    out: no program can call it."""
    for name, wrapper in wrappers.items():
        if hasattr(owner, name):
            setattr(owner, name, wrapper(getattr(owner, name)))


def register(torch: Any) -> None:
    """Registers all of _MODULES that fit."""
    def one(name: str) -> None:
        importlib.import_module(f"{__package__}.{name}").register(torch)

    for name, what in _MODULES:
        attempt(torch, what, one, name)
