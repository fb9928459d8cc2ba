# SPDX-License-Identifier: Apache-2.0
"""The inputs of a draft model, which has places of its own for each request."""

from __future__ import annotations

import importlib
from typing import Any

from .checks import check, check_shape
from .table import define

torch: Any = importlib.import_module("torch")

_NAME = "npu_copy_and_expand_eagle_inputs"


@define("_C_ascend::npu_copy_and_expand_eagle_inputs")
def copy_and_expand(target_token_ids: Any, target_positions: Any, next_token_ids: Any, query_start_loc: Any,
                    query_end_loc: Any, padding_token_id: int, parallel_drafting_token_id: int,
                    num_padding_slots_per_request: int, shift_input_ids: bool,
                    total_draft_tokens: int) -> tuple[Any, ...]:
    """Returns the tokens, positions, and masks of rejected and of drafting places of the draft model, the places
    of the new tokens, and with shift_input_ids the place of each token of the target model.

    A request r has its accepted tokens (without the first if they are shifted), the next token, a drafting
    token in each other of its new places, and padding for each rejected token."""
    requests, slots = next_token_ids.shape[0], num_padding_slots_per_request
    check(requests > 0 and target_token_ids.dim() == 1 and target_token_ids.shape[0] > 0, _NAME, "target_token_ids",
          target_token_ids, "[tokens], and at least one request")
    check_shape(_NAME, "target_positions", target_positions, target_token_ids.shape)
    check_shape(_NAME, "query_start_loc", query_start_loc, [requests + 1])
    check_shape(_NAME, "query_end_loc", query_end_loc, [requests])
    check(slots > 0, _NAME, "num_padding_slots_per_request", slots, "a positive number")
    check(total_draft_tokens >= 0, _NAME, "total_draft_tokens", total_draft_tokens, "a number that is not negative")
    device, kind = target_token_ids.device, target_token_ids.dtype
    starts, ends = query_start_loc.long(), query_end_loc.long()
    starts, behind = starts[:-1], starts[1:]
    shift = int(shift_input_ids)
    valid = (ends - starts + 1 - shift).clamp(min=0)
    rejected = (behind - ends - 1).clamp(min=0)
    places = starts + torch.arange(requests, device=device) * (slots - shift)

    place = torch.arange(total_draft_tokens, device=device)
    request = (torch.searchsorted(places, place, right=True) - 1).clamp(min=0)
    within = place - places.index_select(0, request)
    from_next = within - valid.index_select(0, request)
    tokens = target_token_ids.shape[0]
    first = starts.index_select(0, request) + shift
    last = torch.full_like(first, tokens - 1) if shift else behind.index_select(0, request) - 1
    source = torch.minimum(first + within, last)
    copied = target_token_ids.index_select(0, source.clamp(0, tokens - 1))
    copied = torch.where(first < tokens, copied, 0)
    drafting = (from_next > 0) & (from_next < slots)
    refused = (from_next >= slots) & (from_next < slots + rejected.index_select(0, request))
    known = (within >= 0) & (from_next < slots)
    ids = torch.where(from_next < 0, copied, next_token_ids.index_select(0, request).to(kind))
    ids = torch.where(drafting, parallel_drafting_token_id, ids)
    ids = torch.where(known, ids, torch.where(refused, padding_token_id, 0))
    begin = target_positions.index_select(0, starts.clamp(0, tokens - 1)).index_select(0, request)
    positions = torch.where(known, begin + within, 0)
    new = (places + valid).unsqueeze(1) + torch.arange(slots, device=device)
    if shift:
        token = torch.arange(tokens, device=device)
        owner = (torch.searchsorted(starts, token, right=True) - 1).clamp(min=0)
        mapping = token + (places - starts).index_select(0, owner)
    else:
        mapping = torch.zeros(tokens, device=device)
    return (ids.to(kind), positions.to(kind), refused.to(torch.int8), drafting.to(torch.int8),
            new.flatten().to(kind), mapping.to(kind))
