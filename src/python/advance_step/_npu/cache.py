# SPDX-License-Identifier: Apache-2.0
"""Rows of a KV cache at slots, blocks that move, and vllm-ascend's other operators of tables."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from .checks import check, check_floating, check_written
from .table import define

torch: Any = importlib.import_module("torch")


def check_places(operator: str, name: str, places: Any, count: int, none: bool = False) -> None:
    """Fails in the order of the stream, and in each replay of a graph, if one of the places is not in
    0 ... count - 1. With `none` those below 0 are right, too. What is queued behind it is not done then."""
    if places.numel() and places.device.type != "meta":
        right = places < count if none else (places >= 0) & (places < count)
        torch._assert_async(right.all(), f"{operator}: {name} has a place that is not there; expected "
                            + (f"numbers below {count}" if none else f"0 to {count - 1}"))


def captured(tensor: Any) -> bool:
    return tensor.device.type == "npu" and bool(torch.npu.is_current_stream_capturing())


def used_columns(seen: Any) -> int:
    """Returns how many columns of [rows, columns] there are up to the last one that a row sees; all of them
    where the values are not known, in a capture and on "meta"."""
    columns = seen.shape[1]
    if not seen.numel() or seen.device.type == "meta" or captured(seen):
        return int(columns)
    numbers = torch.arange(1, columns + 1, device=seen.device)
    return max(int(torch.where(seen.any(0), numbers, 0).max()), 1)


def write_rows(rows: Any, new: Any, slots: Any) -> None:
    """Writes new[i] to rows[slots[i]], and nothing where the slot is below 0. check_places has seen the
    slots.

    The shapes do not depend on the slots, so a capture has it as well: a row without a slot repeats
    what the first row with one writes, or what stands in row 0 already."""
    if not new.shape[0] or not rows.shape[0]:
        return
    kept = slots >= 0
    first = kept.to(torch.int32).argmax().reshape(1)
    place = torch.where(kept, slots, slots.index_select(0, first)).clamp(min=0)
    column = kept.reshape(-1, *[1] * (new.dim() - 1))
    values = torch.where(column, new, new.index_select(0, first)).to(rows.dtype)
    values = torch.where(kept.any(), values, rows.narrow(0, 0, 1))
    rows.index_copy_(0, place, values)


@define("_C_ascend::swap_blocks")
def swap_blocks(x: Any, y: Any, z: Any) -> None:
    """Copies block z[i, 0] of x to block z[i, 1] of y. The table is on "cpu"."""
    name = "swap_blocks"
    check(z.dim() == 2 and z.shape[1] == 2 and z.device.type == "cpu", name, "z", z,
          "[copies, 2] on cpu: blocks of x and of y")
    check(x.shape[1:] == y.shape[1:] and x.dtype == y.dtype, name, "y", y, "blocks like those of x")
    pairs = z.tolist()
    for source, target in pairs:
        check(0 <= source < x.shape[0] and 0 <= target < y.shape[0], name, "z", [source, target],
              f"blocks below {x.shape[0]} and {y.shape[0]}")
    for source, target in pairs:
        y[target].copy_(x[source], non_blocking=True)


@define("_C_ascend::get_masked_input_and_mask")
def masked_input(input: Any, org_vocab_start_index: int, org_vocab_end_index: int,
                 num_org_vocab_padding: int, added_vocab_start_index: int,
                 added_vocab_end_index: int) -> tuple[Any, Any]:
    """Returns the rows of tokens in this rank's part of the embedding, 0 for those of other ranks, and
    which these are."""
    original = (input >= org_vocab_start_index) & (input < org_vocab_end_index)
    added = (input >= added_vocab_start_index) & (input < added_vocab_end_index)
    before = org_vocab_end_index - org_vocab_start_index + num_org_vocab_padding
    rows = torch.where(original, input - org_vocab_start_index,
                       torch.where(added, input - added_vocab_start_index + before, 0))
    return rows.to(input.dtype), ~(original | added)


@define("_C_ascend::inplace_partial_rotary_mul")
def partial_rotary_mul(x: Any, r1: Any, r2: Any, rotary_mode: str, partial_slice: Sequence[int]) -> None:
    """Applies npu_rotary_mul to the elements [begin, end) of each row of x."""
    from .rotary import rotary_mul
    name = "inplace_partial_rotary_mul"
    check_floating(name, x=x)
    check(len(partial_slice) == 2 and 0 <= partial_slice[0] < partial_slice[1] <= x.shape[-1], name,
          "partial_slice", list(partial_slice), f"[begin, end) within the {x.shape[-1]} elements of a row")
    check_written(name, {"x": x}, {})
    part = x[..., partial_slice[0]:partial_slice[1]]
    part.copy_(rotary_mul(part, r1, r2, rotary_mode))


@define("_C_ascend::npu_scatter_nd_update_v2")
def scatter_nd_update(var: Any, indices: Any, update: Any) -> None:
    """Writes the rows of update to var at the places of indices, [rows, leading dimensions]."""
    name = "npu_scatter_nd_update_v2"
    check(indices.dim() > 0 and 0 < indices.shape[-1] <= var.dim(), name, "indices", indices,
          f"a last dimension of 1 to {var.dim()}, the dimensions of var")
    check_written(name, {"var": var}, {"update": update})
    depth = indices.shape[-1]
    check(list(update.shape) == [*indices.shape[:-1], *var.shape[depth:]], name, "update", update,
          f"shape {[*indices.shape[:-1], *var.shape[depth:]]}")
    places = indices.reshape(-1, depth).long()
    for dimension, column in enumerate(places.unbind(1)):
        check_places(name, f"indices[..., {dimension}]", column, var.shape[dimension])
    var.index_put_(tuple(places.unbind(1)), update.reshape(-1, *var.shape[depth:]).to(var.dtype))
