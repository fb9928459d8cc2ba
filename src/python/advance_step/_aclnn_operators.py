# SPDX-License-Identifier: Apache-2.0
"""Operators of torch that an aclnn function computes, ours or the user's: they stay torch_npu's.

With ADVANCE_STEP_HOST_OPERATORS=aclnn these are also the operators of `_aclnn_table`, which call the
functions of libadvance_step_operators.so.
"""

from __future__ import annotations

import ctypes
import os
import pathlib
import re
import warnings
from collections.abc import Iterator
from typing import Any

from . import _aclnn_table, _cann, _torch_versions
from ._elf import defined_names

_PAIR = re.compile(r"aclnn(\w+)GetWorkspaceSize$")
_VERSION = re.compile(r"_v\d+$")

_state: dict[str, bool] = {}  # "every mode": the operators of EVERY_MODE compute


def _user_folders() -> Iterator[pathlib.Path]:
    """Yields the folders of libcust_opapi.so in the order in which torch_npu looks into them."""
    for folder in (os.environ.get("ASCEND_CUSTOM_OPP_PATH") or "").split(os.pathsep):
        if folder:
            yield pathlib.Path(folder, "op_api", "lib")
    vendors = pathlib.Path(os.environ.get("ASCEND_OPP_PATH") or "/nonexistent", "vendors")
    try:
        text = (vendors / "config.ini").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return
    for names in re.findall(r"^\s*load_priority\s*=\s*(.*)$", text, flags=re.M):
        for name in names.split(","):
            yield vendors / name.strip() / "op_api" / "lib"


def _snake(name: str) -> str:
    """AddLayerNorm -> add_layer_norm; InplaceAdd -> add_."""
    inplace = name.startswith("Inplace")
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name[len("Inplace"):] if inplace else name)
    return words.lower() + ("_" if inplace else "")


def _pairs_of(file: pathlib.Path) -> Iterator[str]:
    """Yields the names of the operators that a library has in two phases, such as "add_layer_norm"."""
    if file.is_file():
        for name in defined_names(file):
            pair = _PAIR.match(name)
            if pair:
                yield _snake(pair.group(1))


def _in_every_mode(name: str) -> bool:
    """fused_infer_attention_score_v3 -> whether its operator is of EVERY_MODE"""
    return f"npu_{_VERSION.sub('', name)}" in _aclnn_table.EVERY_MODE


def names() -> set[str]:
    """Returns the names of aten operators that stay torch_npu's: those for which there is a pair, by
    aclnn's naming, and in the mode aclnn those of the table, each with its overload."""
    found = set(table())
    for file in _cann.own_functions():
        found.update(name for name in _pairs_of(file) if not _in_every_mode(name))
    for folder in _user_folders():
        found.update(_pairs_of(folder / "libcust_opapi.so"))
    return found


def table() -> tuple[str, ...]:
    """Returns the operators that torch_npu's own code runs in this mode, such as "add.Tensor"."""
    return _aclnn_table.names() if _cann.wants_operators() else ()


def npu_table() -> tuple[str, ...]:
    """Returns the same of the namespace "npu", such as "npu_rms_norm", for all overloads."""
    return _aclnn_table.npu_names() if _cann.wants_operators() else ()


def _computing() -> pathlib.Path:
    return _cann.prefix() / "lib64" / "libadvance_step_aten.so"


def use_in_every_mode(torch: Any) -> None:
    """Leaves the operators of EVERY_MODE to torch_npu, if the wheel has what computes them. Beside a torch
    that was not tried it may not load: these operators then are defined in torch's operations."""
    computes = _computing().is_file()
    if computes and _torch_versions.plain(torch.__version__) not in _torch_versions.TRIED:
        try:
            load()
        except ImportError as error:
            warnings.warn(f"advance_step: task groups and ADVANCE_STEP_HOST_OPERATORS=aclnn are lost: {error}", stacklevel=2)
            computes = False
    _state["every mode"] = computes


def in_every_mode() -> tuple[str, ...]:
    """Returns the operators of the namespace "npu" that stay torch_npu's in this mode, whichever it is."""
    return _aclnn_table.EVERY_MODE if _state.get("every mode") else ()


def load() -> None:
    """Loads what computes. torch has to be there, whose libraries it uses."""
    try:
        ctypes.CDLL(str(_computing()))
    except OSError as error:
        raise ImportError(f"CANN's operators, which ADVANCE_STEP_HOST_OPERATORS=aclnn needs, cannot compute: {error}; "
                          "docs/torch_npu.md says which wheel has them") from error


def calls(function: str | None) -> int:
    """Returns how often an aclnn function has queued its task, or all of them together."""
    count = ctypes.CDLL("libadvance_step_operators.so.0").advstepOperatorCalls
    count.argtypes, count.restype = [ctypes.c_char_p], ctypes.c_uint64
    return int(count(None if function is None else function.encode()))
