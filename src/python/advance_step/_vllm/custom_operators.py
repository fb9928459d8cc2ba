# SPDX-License-Identifier: Apache-2.0
"""vllm-ascend's custom operators, torch.ops._C_ascend, without the code of their device kernels.

Its compiled module vllm_ascend_C declares them and launches kernels of an NPU. It is built for one torch,
whose dispatch keys are not those of another, and binds libraries of CANN. So it is never loaded: the
schemas of its operators stand in its file as texts, and `_npu.table` has what computes them.
"""

from __future__ import annotations

import importlib
import pathlib
import re
from typing import Any

from . import block_copies, sleep_memory

NAMESPACE = "_C_ascend"
# A text that ends with a 0 byte: name(arguments) -> results.
_SCHEMA = re.compile(rb"(?<=\0)([A-Za-z_]\w*(?:\.\w+)?\([^\0]*\)\s*->\s*[^\0]+)(?=\0)")

_libraries: list[Any] = []  # a declaration ends with its library


def schemas(data: bytes) -> list[str]:
    """Returns the texts in a compiled module that look like schemas."""
    texts = [match.group(1) for match in _SCHEMA.finditer(data)]
    return [re.sub(r"\s+", " ", text.decode("ascii", "replace")) for text in dict.fromkeys(texts)]


def _is_schema(torch: Any, text: str) -> bool:
    try:
        torch._C.parse_schema(text)
    except RuntimeError:
        return False
    return True


def declare(torch: Any, file: pathlib.Path) -> list[str]:
    """Declares the operators whose schemas are in the file, and registers what computes them. Returns
    the schemas. ImportError: the file has none."""
    from .._npu import table

    found = [text for text in schemas(file.read_bytes()) if _is_schema(torch, text)]
    if not found:
        raise ImportError(f"{file} has no schema of an operator; expected vllm-ascend's compiled module")
    library = torch.library.Library(NAMESPACE, "FRAGMENT")
    _libraries.append(library)
    there = set(torch._C._dispatch_get_all_op_names())
    for text in found:
        if f"{NAMESPACE}::{text.partition('(')[0]}" not in there:
            library.define(text)
    table.declared(torch, NAMESPACE)
    block_copies.register(library, {text.partition("(")[0] for text in found})
    return found


class Loader:
    """Loads vllm_ascend_C: a module with the functions of sleep mode, whose import declares the operators
    of the file."""

    def __init__(self, file: str) -> None:
        self.file = pathlib.Path(file)

    def create_module(self, spec: Any) -> None:
        return None

    def exec_module(self, module: Any) -> None:
        torch: Any = importlib.import_module("torch")
        importlib.import_module("torch_npu")
        declare(torch, self.file)
        sleep_memory.add_to(module)
