# SPDX-License-Identifier: Apache-2.0
"""Operators of torch that an aclnn function computes, ours or the user's: they stay torch_npu's."""

from __future__ import annotations

import os
import pathlib
import re
from collections.abc import Iterator

from ._elf import defined_names

_PAIR = re.compile(r"aclnn(\w+)GetWorkspaceSize$")


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


def names() -> set[str]:
    """Returns the names of aten operators for which there is a pair, by aclnn's naming."""
    home = pathlib.Path(os.environ.get("ASCEND_HOME_PATH") or "/nonexistent", "lib64")
    files = [home / "libopapi.so", *(folder / "libcust_opapi.so" for folder in _user_folders())]
    found = set()
    for file in files:
        if file.is_file():
            for name in defined_names(file):
                pair = _PAIR.match(name)
                if pair:
                    found.add(_snake(pair.group(1)))
    return found
