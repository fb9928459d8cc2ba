# SPDX-License-Identifier: Apache-2.0
"""npu_top_k_top_p: the logits of tokens that may be sampled, and minus infinity for the others."""

from __future__ import annotations

import importlib
from typing import Any

from .checks import check, check_floating, check_shape
from .table import define

torch: Any = importlib.import_module("torch")

_NOTHING = float("-inf")


@define("npu_top_k_top_p")
def top_k_top_p(logits: Any, p: Any = None, k: Any = None) -> Any:
    """Keeps of each row the k largest logits and those that equal the last of them, and of these the
    largest whose probabilities before them are at most p."""
    name = "npu_top_k_top_p"
    check_floating(name, logits=logits)
    check(logits.dim() == 2, name, "logits", logits, "[rows, tokens]")
    for which, given in (("p", p), ("k", k)):
        if given is not None:
            check_shape(name, which, given, logits.shape[:1])
    kept = logits.float()
    if k is not None:
        ordered = kept.sort(-1, descending=True).values
        last = ordered.gather(1, (k.long().clamp(1, logits.shape[1]) - 1).unsqueeze(1))
        kept = kept.masked_fill(kept < last, _NOTHING)
    if p is not None:
        ordered, order = kept.sort(-1, descending=True)
        chances = ordered.softmax(-1)
        hidden = chances.cumsum(-1) - chances > p.float().unsqueeze(1)
        kept = kept.masked_fill(torch.zeros_like(hidden).scatter(1, order, hidden), _NOTHING)
    return kept.to(logits.dtype)
