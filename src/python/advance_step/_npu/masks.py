# SPDX-License-Identifier: Apache-2.0
"""The positions that attention hides: by mask, sparse mode and lengths."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .checks import check

torch: Any = importlib.import_module("torch")

_COMPRESSED = 2048  # both sizes of the mask of the modes 2, 3 and 4
_UNLIMITED = 2147483647


@dataclass
class Sparse:
    """The arguments about hidden positions, and the names that the operator has for two of them."""
    operator: str
    mask: Any
    mode: int
    before: int
    after: int
    before_name: str = "pre_tokens"
    after_name: str = "next_tokens"


def as_tensor(lengths: Sequence[int], device: Any) -> Any:
    """Returns the lengths on the device: an index of "cpu" is captured, a copy would not be."""
    steps = torch.arange(max(lengths, default=0) + 1, device=device)
    return steps[torch.tensor(lengths, dtype=torch.int64)]


def _whole(sparse: Sparse, sizes: tuple[int, int, int, int]) -> Any:
    """Returns the mask as [B or 1, N or 1, Sq, Sk]. It may be longer than that in Sq and Sk."""
    batch, heads, queries, keys = sizes
    mask = sparse.mask
    check(mask.dtype in (torch.bool, torch.int8, torch.uint8), sparse.operator, "atten_mask", mask,
          "bool, int8 or uint8")
    shape = list(mask.shape)
    whole = mask
    if len(shape) == 2 and queries == 1 and shape[0] == batch and shape[1] >= keys:
        whole = mask[:, None, None]
    elif len(shape) in (2, 3):
        whole = mask[None, None] if len(shape) == 2 else mask[:, None]
    check(whole.dim() == 4 and whole.shape[0] in (1, batch) and whole.shape[1] in (1, heads)
          and whole.shape[2] >= queries and whole.shape[3] >= keys, sparse.operator, "atten_mask", mask,
          f"[{queries}, {keys}], [1, {queries}, {keys}] or [{batch} or 1, {heads} or 1, {queries}, "
          f"{keys}]")
    return whole[:, :, :queries, :keys].bool()


def _band(before: int | None, after: int | None, shift: Any, rows: Any, columns: Any) -> Any:
    """Hides positions more than `before` tokens before or `after` tokens after the diagonal."""
    distance = columns - rows - shift
    hidden = None
    if after is not None and after < _UNLIMITED:
        hidden = distance > after
    if before is not None and before < _UNLIMITED:
        early = distance < -before
        hidden = early if hidden is None else hidden | early
    return hidden


def _either(first: Any, second: Any) -> Any:
    return first if second is None else second if first is None else first | second


def hidden(sparse: Sparse, sizes: tuple[int, int, int, int], query_lengths: Sequence[int],
           key_lengths: Sequence[int], device: Any, one_query: bool = False) -> Any:
    """Returns the hidden positions, broadcast to [B, N, Sq, Sk], or None if nothing is hidden.
    `one_query`: the sparse mode of a single query token has no meaning, and only the mask counts."""
    _, _, queries, keys = sizes
    name, mode, mask = sparse.operator, sparse.mode, sparse.mask
    rows = torch.arange(queries, device=device)[:, None]
    columns = torch.arange(keys, device=device)
    compressed = mask is not None and list(mask.shape[-2:]) == [_COMPRESSED] * 2
    result = None
    if one_query:
        if mask is not None and not (compressed and mode in (2, 3, 4)):
            result = _whole(sparse, sizes)
    elif mode in (0, 1):
        check(mode == 0 or mask is not None, name, "atten_mask", mask, "a mask, as sparse_mode is 1")
        if mask is not None:
            result = _whole(sparse, sizes)
            if mode == 0:
                result = _either(result, _band(sparse.before, sparse.after, 0, rows, columns))
    elif mode in (2, 3, 4):
        check(compressed, name, "atten_mask", mask, f"the triangle of {[_COMPRESSED] * 2} that "
              f"sparse_mode {mode} needs")
        shift: Any = 0
        if mode != 2:
            shift = (as_tensor(key_lengths, device)
                     - as_tensor(query_lengths, device))[:, None, None, None]
        before, after = (sparse.before, sparse.after) if mode == 4 else (None, 0)
        result = _band(before, after, shift, rows, columns)
    else:
        raise NotImplementedError(f"{name}: sparse_mode is {mode}; this mode is not supported, expected "
                                  "0 to 4")
    if any(length != keys for length in key_lengths):
        result = _either(result, columns >= as_tensor(key_lengths, device)[:, None, None, None])
    if any(length != queries for length in query_lengths):
        result = _either(result, rows >= as_tensor(query_lengths, device)[:, None, None, None])
    return result
