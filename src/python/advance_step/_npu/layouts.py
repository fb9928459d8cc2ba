# SPDX-License-Identifier: Apache-2.0
"""The layouts of attention: tensors as [B, N, S, D], and results in the layout of the caller.

B are requests, N heads, S tokens, D the size of a head, H = N * D, and T the tokens of all requests.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from .checks import check

torch: Any = importlib.import_module("torch")

VARLEN = ("TND", "NTD")
_RANKS = {"BSH": 3, "SBH": 3, "BSND": 4, "BNSD": 4, "TND": 3, "NTD": 3}


def lengths_of(ends: Sequence[int]) -> list[int]:
    """Returns the lengths of requests that end at these tokens. A 0 after others is a length of 0."""
    lengths, before = [], 0
    for end in ends:
        lengths.append(max(end - before, 0) if end else 0)
        before = max(end, before)
    return lengths


def check_ends(operator: str, name: str, ends: Any, tokens: int) -> None:
    right = isinstance(ends, (list, tuple)) and all(isinstance(end, int) for end in ends) and all(
        end >= before or end == 0 for before, end in zip(accumulate([0, *ends], max), ends)) and max(
            ends, default=0) <= tokens
    check(right, operator, name, ends,
          f"the ends of the requests: ascending, at most {tokens}, the number of tokens")


def check_ranks(operator: str, layout: str, **tensors: Any) -> None:
    for name, tensor in tensors.items():
        check(tensor.dim() == _RANKS[layout], operator, name, tensor, f"the layout {layout}")


def to_bnsd(operator: str, name: str, tensor: Any, layout: str, heads: int, heads_name: str,
            lengths: Sequence[int] | None = None) -> Any:
    """Returns the tensor as [B, N, S, D]: a view, or for T padded with any values."""
    check_ranks(operator, layout, **{name: tensor})
    sizes = tensor.shape
    if layout in ("BSH", "SBH"):
        check(heads > 0 and sizes[2] % heads == 0, operator, heads_name, heads,
              f"a divisor of {sizes[2]}, the last dimension of {name}")
        split = tensor.reshape(sizes[0], sizes[1], heads, sizes[2] // heads)
        return split.transpose(1, 2) if layout == "BSH" else split.permute(1, 2, 0, 3)
    found = sizes[layout.index("N")]
    check(found == heads, operator, heads_name, heads, f"{found}, the heads of {name}")
    if layout in VARLEN:
        assert lengths is not None
        return _padded(tensor if layout == "TND" else tensor.transpose(0, 1), lengths)
    return tensor if layout == "BNSD" else tensor.transpose(1, 2)


def _padded(tensor: Any, lengths: Sequence[int]) -> Any:
    """[T, N, D] -> [B, N, S, D]"""
    longest, places, begin = max(lengths, default=0), [], 0
    if not longest or not tensor.shape[0]:
        return tensor.new_zeros((len(lengths), tensor.shape[1], longest, tensor.shape[2]))
    for length in lengths:
        places.append([min(begin + token, tensor.shape[0] - 1) for token in range(longest)])
        begin += length
    return tensor[torch.tensor(places)].transpose(1, 2)  # an index of "cpu" needs no copy


def from_bnsd(tensor: Any, layout: str, lengths: Sequence[int] | None = None, tokens: int = 0) -> Any:
    """Returns the tensor in the layout, with `tokens` of T: those of no request are 0."""
    if layout in VARLEN:
        assert lengths is not None
        longest = tensor.shape[2]
        flat = tensor.transpose(1, 2).flatten(0, 1)
        places = [row * longest + token for row, length in enumerate(lengths)
                  for token in range(length)]
        made = flat[torch.tensor(places, dtype=torch.int64)] if places else flat[:0]
        if len(places) < tokens:
            made = torch.cat((made, made.new_zeros((tokens - len(places), *made.shape[1:]))))
        return made if layout == "TND" else made.transpose(0, 1).contiguous()
    if layout in ("BSH", "SBH"):
        order = (0, 2, 1, 3) if layout == "BSH" else (2, 0, 1, 3)
        return tensor.permute(order).flatten(2)
    if layout == "NBSD":
        return tensor.transpose(0, 1).contiguous()
    return tensor.contiguous() if layout == "BNSD" else tensor.transpose(1, 2).contiguous()
