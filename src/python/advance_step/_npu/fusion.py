# SPDX-License-Identifier: Apache-2.0
"""npu_fusion_attention in its versions: attention of training, forward."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from . import attention, layouts, masks
from .checks import check, check_floating, check_shape, refuse
from .table import define

torch: Any = importlib.import_module("torch")

_LAYOUTS = ("BSH", "SBH", "BSND", "BNSD", "TND")
_REPEATS = 8  # of the softmax's maximum and sum, in the last dimension


class Fusion:
    """A call's tensors as [B, N, S, D], its scores, and the way back to its layout."""

    def __init__(self, name: str, query: Any, key: Any, value: Any, head_num: int, layout: str,
                 options: dict[str, Any]) -> None:
        get = options.get
        self.name, self.layout = name, layout.upper()
        check(self.layout in _LAYOUTS, name, "input_layout", layout, "one of " + ", ".join(_LAYOUTS))
        check_floating(name, query=query, key=key, value=value)
        layouts.check_ranks(name, self.layout, query=query, key=key, value=value)
        for other_name, other in (("key", key), ("value", value)):
            check(other.dtype == query.dtype, name, other_name, other,
                  f"the dtype of query, {query.dtype}")
        check(get("keep_prob", 1.0) == 1, name, "keep_prob", get("keep_prob"),
              "1: dropout is not supported here")
        refuse(name, **{n: get(n) for n in ("padding_mask", "prefix", "sink", "dropout_mask", "query_rope",
                                            "key_rope", "q_start_idx", "kv_start_idx")})
        check(get("softmax_layout") in (None, "", "TND"), name, "softmax_layout", get("softmax_layout"),
              "'' or 'TND'")
        pse_type = get("pse_type", 1)
        check(pse_type in (0, 1), name, "pse_type", pse_type, "0 or 1")
        self.tokens = (query.shape[0], key.shape[0]) if self.layout == "TND" else (0, 0)
        lengths: list[Any] = [None, None]
        if self.layout == "TND":
            lengths = [self._ends(n, get(n), most) for n, most in zip(
                ("actual_seq_qlen", "actual_seq_kvlen"), self.tokens)]
            check(len(lengths[0]) == len(lengths[1]), name, "actual_seq_kvlen",
                  get("actual_seq_kvlen"), f"one end for each of the {len(lengths[0])} requests")
        q = layouts.to_bnsd(name, "query", query, self.layout, head_num, "head_num", lengths[0])
        size = q.shape[3]
        kv_heads = key.shape[2] // max(size, 1) if self.layout in ("BSH", "SBH") else \
            key.shape[self.layout.index("N")]
        check(kv_heads > 0 and head_num % kv_heads == 0, name, "key", key,
              f"heads that divide head_num, {head_num}, of the size {size}")
        k, v = (layouts.to_bnsd(name, n, tensor, self.layout, kv_heads, "head_num", lengths[1])
                for n, tensor in (("key", key), ("value", value)))
        check(k.shape[0] == q.shape[0] and k.shape[3] == size, name, "key", key,
              f"{q.shape[0]} requests and heads of {size}, as query has")
        check(v.shape[:3] == k.shape[:3], name, "value", value, "the requests, tokens and heads of key")
        self.query, self.key, self.value = q, k, v
        sizes = (q.shape[0], q.shape[1], q.shape[2], k.shape[2])
        self.lengths = [lengths[0] or [sizes[2]] * sizes[0], lengths[1] or [sizes[3]] * sizes[0]]
        # Without a mask the sparse mode has no effect.
        mask = get("atten_mask")
        before, after = (get("pre_tockens", get("pre_tokens", 2147483647)),
                         get("next_tockens", get("next_tokens", 2147483647)))
        sparse = masks.Sparse(name, mask, get("sparse_mode", 0) if mask is not None else 0, before, after)
        hidden = masks.hidden(sparse, sizes, self.lengths[0], self.lengths[1], query.device)
        self.pse = get("pse")
        self.weights = attention.Weights(get("scale", 1.0), hidden, self._bias(sizes), pse_type == 1)

    def _ends(self, argument: str, ends: Any, tokens: int) -> list[int]:
        found = ends.tolist() if hasattr(ends, "tolist") else ends
        layouts.check_ends(self.name, argument, found, tokens)
        return layouts.lengths_of(found)

    def _bias(self, sizes: tuple[int, ...]) -> Any:
        if self.pse is None:
            return None
        shape = list(self.pse.shape)
        check(len(shape) == 4 and all(size in (1, whole) for size, whole in zip(shape, sizes))
              and self.layout != "TND", self.name, "pse", self.pse,
              f"a shape that broadcasts to {list(sizes)}, and a layout other than TND")
        return self.pse

    def back(self, tensor: Any, of: int = 0) -> Any:
        """Returns [B, N, S, D] in the layout; `of`: 0 for query tokens, 1 for those of key."""
        return layouts.from_bnsd(tensor, self.layout, self.lengths[of], self.tokens[of])

    def as_result(self, tensor: Any, argument: str) -> Any:
        """Returns a tensor with the layout and the shape of the attention as [B, N, S, D]."""
        shape = [*self.query.shape[:3], self.value.shape[3]]
        b, n, s, d = shape
        check_shape(self.name, argument, tensor, {
            "BSH": (b, s, n * d), "SBH": (s, b, n * d), "BSND": (b, s, n, d), "BNSD": shape,
            "TND": (self.tokens[0], n, d)}[self.layout])
        return layouts.to_bnsd(self.name, argument, tensor, self.layout, self.query.shape[1], "head_num",
                               self.lengths[0])

    def statistic(self, tensor: Any) -> Any:
        """[B, N, S, 1] -> [B, N, S, 8], or [T, N, 8]"""
        wide = tensor.expand(*tensor.shape[:3], _REPEATS)
        return self.back(wide) if self.layout == "TND" else wide.contiguous()

    def from_statistic(self, tensor: Any, argument: str) -> Any:
        b, n, s = self.query.shape[:3]
        check_shape(self.name, argument, tensor, (self.tokens[0], n, _REPEATS) if self.layout == "TND"
                    else (b, n, s, _REPEATS))
        narrow = tensor[..., :1]
        if self.layout == "TND":
            return layouts.to_bnsd(self.name, "softmax_max", narrow, "TND", narrow.shape[1], "head_num",
                                   self.lengths[0])
        return narrow


def _forward(name: str, query: Any, key: Any, value: Any, head_num: int, layout: str,
             options: dict[str, Any]) -> tuple[Any, Any, Any, Any]:
    call = Fusion(name, query, key, value, head_num, layout, options)
    out, maximum, total = attention.forward(call.query, call.key, call.value, call.weights)
    return (call.back(out), call.statistic(maximum), call.statistic(total), query.new_empty((0,)))


_NAMES = ("pse", "padding_mask", "atten_mask", "scale", "keep_prob", "pre_tockens", "next_tockens",
          "inner_precise", "prefix", "actual_seq_qlen", "actual_seq_kvlen", "sparse_mode",
          "gen_mask_parallel", "sync", "softmax_layout", "sink")


@define("npu_fusion_attention")
def fusion(query: Any, key: Any, value: Any, head_num: int, input_layout: str, *positional: Any,
           **options: Any) -> tuple[Any, ...]:
    options.update(zip((*_NAMES, "dropout_mask", "seed", "offset"), positional))
    results = _forward("npu_fusion_attention", query, key, value, head_num, input_layout, options)
    return (*results, 0, 0, 0)


@define("npu_fusion_attention_v2")
def fusion_v2(query: Any, key: Any, value: Any, head_num: int, input_layout: str,
              **options: Any) -> tuple[Any, ...]:
    results = _forward("npu_fusion_attention_v2", query, key, value, head_num, input_layout, options)
    return (*results, 0, 0, 0)


@define("npu_fusion_attention_v3")
def fusion_v3(query: Any, key: Any, value: Any, head_num: int, input_layout: str, *positional: Any,
              **options: Any) -> tuple[Any, ...]:
    """Seed and offset are tensors, and the ends may be."""
    options.update(zip(_NAMES, positional))
    results = _forward("npu_fusion_attention_v3", query, key, value, head_num, input_layout, options)
    return (*results, *(torch.zeros(1, dtype=torch.int64, device=query.device) for _ in range(2)))


@define("npu_fusion_attention_v3.out")
def fusion_v3_out(query: Any, key: Any, value: Any, head_num: int, input_layout: str, *positional: Any,
                  out: Sequence[Any], workspace: Any = None, **options: Any) -> tuple[Any, ...]:
    from .infer import _store
    results = fusion_v3(query, key, value, head_num, input_layout, *positional[:len(_NAMES)], **options)
    return _store("npu_fusion_attention_v3", results, out)
