# SPDX-License-Identifier: Apache-2.0
"""torchvision beside a torch for which its compiled part is not built, as vLLM imports it.

Models of text need none of its operators, but the module that gives these their shapes registers two
without looking whether they are there. Both are declared here, and calls of them raise torch's exception.
"""

from __future__ import annotations

import importlib
from typing import Any

_SCHEMAS = ("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
            "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")

_libraries: list[Any] = []  # a declaration ends with its library


def declare() -> None:
    """Declares these operators unless torchvision has."""
    torch: Any = importlib.import_module("torch")
    there = set(torch._C._dispatch_get_all_op_names())
    library = torch.library.Library("torchvision", "FRAGMENT")
    _libraries.append(library)
    for schema in _SCHEMAS:
        if f"torchvision::{schema.partition('(')[0]}" not in there:
            library.define(schema)
