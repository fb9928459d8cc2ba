# SPDX-License-Identifier: Apache-2.0
"""Drafts from a request's own tokens: what followed the last ones where they stood before."""

from __future__ import annotations

import importlib
from typing import Any

from .checks import check, check_shape, check_written
from .table import define

torch: Any = importlib.import_module("torch")

_NAME = "npu_ngram_spec_decode"


def _accept(token_ids: Any, lengths: Any, sampled: Any, discarded: Any, vocab_size: int) -> tuple[Any, Any]:
    """Returns how many sampled tokens each request gets, as many as there is room for, and its last token."""
    width = token_ids.shape[1]
    valid = (sampled != -1) & (sampled < vocab_size) & ~discarded.bool().unsqueeze(1)
    counts = torch.minimum(valid.sum(1), (width - lengths).clamp(min=0))
    newest = sampled.gather(1, (counts - 1).clamp(min=0).unsqueeze(1)).squeeze(1)
    last = token_ids.gather(1, (lengths - 1).clamp(0, width - 1).unsqueeze(1)).squeeze(1)
    return counts, torch.where(counts > 0, newest, last)


def _append(token_ids: Any, lengths: Any, sampled: Any, counts: Any) -> None:
    place = torch.arange(token_ids.shape[1], device=token_ids.device) - lengths.unsqueeze(1)
    new = sampled.gather(1, place.clamp(0, sampled.shape[1] - 1)).to(token_ids.dtype)
    token_ids.copy_(torch.where((place >= 0) & (place < counts.unsqueeze(1)), new, token_ids))


def _following(tokens: Any, ends: Any, allowed: Any, size: int) -> Any:
    """Returns the place behind the first earlier one of the last `size` tokens of each request, or -1."""
    if size >= tokens.shape[1]:
        return torch.full_like(ends, -1)
    offset = torch.arange(size, device=tokens.device)
    suffix = tokens.gather(1, (ends.unsqueeze(1) - size + offset).clamp(min=0))
    same = (tokens.unfold(1, size, 1) == suffix.unsqueeze(1)).all(2)
    same = same & (torch.arange(same.shape[1], device=tokens.device) < (ends - size).unsqueeze(1))
    return torch.where(same.any(1) & allowed, same.to(torch.int32).argmax(1) + size, -1)


@define("_C_ascend::npu_ngram_spec_decode")
def ngram_drafts(token_ids: Any, num_tokens_no_spec: Any, sampled_token_ids: Any, discard_request_mask: Any,
                 vocab_size: int, min_n: int, max_n: int, k: int) -> tuple[Any, Any, Any, Any]:
    """Appends the sampled tokens to token_ids, and returns it, the last token of each request, the k that
    followed its last tokens where they stood before, -1 where there are fewer, and how many there are. The
    fewest of the last min_n to max_n tokens decide: more of them are there only where these are."""
    check(token_ids.dim() == 2 and token_ids.shape[1] > 0, _NAME, "token_ids", token_ids, "[requests, tokens]")
    requests = token_ids.shape[0]
    check(sampled_token_ids.dim() == 2 and sampled_token_ids.shape[0] == requests and sampled_token_ids.shape[1] > 0,
          _NAME, "sampled_token_ids", sampled_token_ids, f"[{requests}, sampled tokens]")
    check_shape(_NAME, "num_tokens_no_spec", num_tokens_no_spec, [requests])
    check_shape(_NAME, "discard_request_mask", discard_request_mask, [requests])
    check(0 < min_n <= max_n, _NAME, "min_n", min_n, f"1 to max_n = {max_n}")
    check(k > 0, _NAME, "k", k, "more than 0")
    check_written(_NAME, {"token_ids": token_ids}, {"sampled_token_ids": sampled_token_ids})
    lengths, sampled = num_tokens_no_spec.long(), sampled_token_ids.long()
    counts, newest = _accept(token_ids.long(), lengths, sampled, discard_request_mask, vocab_size)
    _append(token_ids, lengths, sampled, counts)
    ends = lengths + counts
    begin = _following(token_ids, ends, counts > 0, min_n)
    place = begin.unsqueeze(1) + torch.arange(k, device=token_ids.device)
    there = (begin >= 0).unsqueeze(1) & (place < ends.unsqueeze(1))
    drafts = torch.where(there, token_ids.gather(1, place.clamp(0, token_ids.shape[1] - 1)), -1)
    return (token_ids, newest.to(torch.int32), drafts.to(torch.int32),
            there.sum(1).to(torch.int32))
