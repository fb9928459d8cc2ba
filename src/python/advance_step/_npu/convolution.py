# SPDX-License-Identifier: Apache-2.0
"""A causal convolution of each channel, whose last inputs stay in a cache between calls."""

from __future__ import annotations

import importlib
from typing import Any

from .cache import check_places, write_rows
from .checks import check, check_floating, check_shape, check_written
from .table import define

torch: Any = importlib.import_module("torch")

_NAME = "npu_causal_conv1d_custom"
_PREFILL, _UPDATE = 0, 1  # run modes


def _check(output: Any, x: Any, weight: Any, conv_state: Any, bias: Any, modes: tuple[int, int]) -> None:
    check_floating(_NAME, output=output, x=x, weight=weight, conv_state=conv_state)
    check(x.dim() == 2, _NAME, "x", x, "[tokens, channels]")
    check_shape(_NAME, "output", output, x.shape)
    check(weight.dim() == 2 and weight.shape[0] > 0 and weight.shape[1] == x.shape[1], _NAME, "weight", weight,
          f"[width, {x.shape[1]}]")
    check(conv_state.dim() == 3 and conv_state.shape[1] >= weight.shape[0] - 1 and conv_state.shape[2] == x.shape[1],
          _NAME, "conv_state", conv_state, f"[states, at least {weight.shape[0] - 1} tokens, {x.shape[1]}]")
    if bias is not None:
        check_shape(_NAME, "bias_opt", bias, x.shape[1:])
    check(modes[0] in (0, 1), _NAME, "activation_mode", modes[0], "0 (none) or 1 (silu)")
    check(modes[1] in (_PREFILL, _UPDATE), _NAME, "run_mode", modes[1], "0 (prefill) or 1 (update)")
    check_written(_NAME, {"output": output, "conv_state": conv_state}, {"x": x})


class _Sequences:
    """The tokens of each sequence with those before them, which the cache has."""

    def __init__(self, x: Any, before: Any, starts: Any) -> None:
        """before: [sequences, width - 1, channels]; starts: [sequences + 1]."""
        self.x, self.before, self.starts = x.float(), before, starts

    def at(self, sequence: Any, place: Any) -> Any:
        """Returns rows at places of sequences; place 0 is the first of `before`."""
        count = self.before.shape[1]
        token = (self.starts.index_select(0, sequence) + place - count).clamp(0, self.x.shape[0] - 1)
        rows = self.x.index_select(0, token)
        if not count:
            return rows
        old = self.before.flatten(0, 1).index_select(0, sequence * count + place.clamp(0, count - 1))
        return torch.where((place < count).unsqueeze(1), old, rows)


def _history(conv_state: Any, states: Any, offsets: Any, width: int) -> Any:
    """Returns the width - 1 tokens from the offset on of each sequence's state."""
    column = offsets.unsqueeze(1) + torch.arange(width - 1, device=states.device)
    check_places(_NAME, "num_accepted_tokens_opt", column, conv_state.shape[1])
    size = conv_state.shape[1]
    rows = conv_state.reshape(-1, conv_state.shape[2])
    flat = (states.clamp(min=0).unsqueeze(1) * size + column).flatten()
    return rows.index_select(0, flat).float().view(*column.shape, -1)


def _new_states(conv_state: Any, states: Any, tokens: _Sequences, lengths: Any, drafted: bool) -> Any:
    """Returns the new rows of the cache: the last width - 1 tokens at the front, or with drafted tokens, of
    which some may be refused, all but the oldest one."""
    size, kept = conv_state.shape[1], tokens.before.shape[1]
    place = torch.arange(size, device=states.device)
    sequence = torch.arange(states.shape[0], device=states.device).repeat_interleave(size)
    shift = torch.ones_like(lengths) if drafted else lengths
    source = (shift.unsqueeze(1) + place).flatten()
    new = tokens.at(sequence, source).view(states.shape[0], size, -1)
    known = kept + lengths - 1 if drafted else torch.full_like(lengths, kept)
    old = conv_state.index_select(0, states.clamp(min=0)).float()
    return torch.where((place < known.unsqueeze(1)).unsqueeze(2), new, old)


@define("_C_ascend::npu_causal_conv1d_custom")
def causal_convolution(output: Any, x: Any, weight: Any, conv_state: Any, bias_opt: Any, query_start_loc_opt: Any,
                       cache_indices_opt: Any, initial_state_mode_opt: Any, num_accepted_tokens_opt: Any,
                       activation_mode: int, pad_slot_id: int, run_mode: int) -> Any:
    """Writes y[t] = bias + sum over j of weight[j] * x[t - width + 1 + j] to output and returns it. Before a
    sequence is its state, or in a prefill 0 where initial_state_mode_opt says so. No shape depends on a
    length, so that a graph can be replayed with others; tokens of no sequence become 0."""
    _check(output, x, weight, conv_state, bias_opt, (activation_mode, run_mode))
    for which, given in (("query_start_loc_opt", query_start_loc_opt), ("cache_indices_opt", cache_indices_opt)):
        check(given is not None, _NAME, which, given, "a tensor")
    sequences, width = cache_indices_opt.shape[0], weight.shape[0]
    check_shape(_NAME, "query_start_loc_opt", query_start_loc_opt, [sequences + 1])
    for which, given in (("initial_state_mode_opt", initial_state_mode_opt),
                         ("num_accepted_tokens_opt", num_accepted_tokens_opt)):
        check(given is None or list(given.shape) == [sequences], _NAME, which, given, f"shape [{sequences}]")
    starts = query_start_loc_opt.long()
    lengths = starts[1:] - starts[:-1]
    padding = (cache_indices_opt == pad_slot_id) | (lengths <= 0)
    states = torch.where(padding, -1, cache_indices_opt.long())
    check_places(_NAME, "cache_indices_opt", states, conv_state.shape[0], none=True)
    drafted = num_accepted_tokens_opt is not None
    offsets = (num_accepted_tokens_opt.long() - 1).masked_fill(padding, 0) if drafted else torch.zeros_like(lengths)
    before = _history(conv_state, states, offsets, width)
    if initial_state_mode_opt is not None:
        before = torch.where(initial_state_mode_opt.bool().reshape(-1, 1, 1), before, 0)
    tokens = _Sequences(x, before, starts)
    token = torch.arange(x.shape[0], device=x.device)
    sequence = torch.searchsorted(starts[1:], token, right=True).clamp(max=sequences - 1)
    place = token - starts.index_select(0, sequence)
    y = torch.zeros_like(tokens.x) if bias_opt is None else bias_opt.float().expand_as(tokens.x)
    for tap in range(width):
        y = y + weight[tap].float() * tokens.at(sequence, place + tap)
    y = torch.nn.functional.silu(y) if activation_mode else y
    inside = (states >= 0).index_select(0, sequence) & (token < starts[-1]) & (token >= starts[0])
    new = _new_states(conv_state, states, tokens, lengths.clamp(min=0), drafted)
    output.copy_(torch.where(inside.unsqueeze(1), y, 0))
    write_rows(conv_state, new, states)
    return output
