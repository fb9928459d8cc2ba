# SPDX-License-Identifier: Apache-2.0
"""The gradients of npu_fusion_attention, which torch_npu's own autograd formulas call."""

from __future__ import annotations

from typing import Any

from . import attention
from .fusion import Fusion
from .table import define


def _backward(name: str, query: Any, key: Any, value: Any, dy: Any, head_num: int, layout: str,
              options: dict[str, Any]) -> tuple[Any, ...]:
    """Returns the gradients. Maximum, sum and attention may be given, also as those of a longer
    sequence. Missing ones are computed."""
    given = {**options, "scale": options.get("scale_value", 1.0)}
    call = Fusion(name, query, key, value, head_num, layout, given)
    fresh: tuple[Any, ...] = ()
    kept = [given.get(n) for n in ("attention_in", "softmax_max", "softmax_sum")]
    if any(tensor is None for tensor in kept):
        fresh = attention.forward(call.query, call.key, call.value, call.weights)
    out = fresh[0] if kept[0] is None else call.as_result(kept[0], "attention_in")
    maximum, total = (fresh[i] if kept[i] is None else call.from_statistic(kept[i], n)
                      for i, n in ((1, "softmax_max"), (2, "softmax_sum")))
    dq, dk, dv, dbias = attention.backward(call.query, call.key, call.value, call.weights,
                                           call.as_result(dy, "dy"), out, maximum, total)
    dpse = query.new_empty((0,))
    if call.pse is not None:
        dpse = dbias.sum_to_size(call.pse.shape).to(call.pse.dtype)
    return (call.back(dq).to(query.dtype), call.back(dk, 1).to(key.dtype),
            call.back(dv, 1).to(value.dtype), dpse)


@define("npu_fusion_attention_grad")
def grad(query: Any, key: Any, value: Any, dy: Any, head_num: int, input_layout: str,
         **options: Any) -> tuple[Any, ...]:
    name = "npu_fusion_attention_grad"
    return (*_backward(name, query, key, value, dy, head_num, input_layout, options),
            query.new_empty((0,)).float())


@define("npu_fusion_attention_grad_v3")
def grad_v3(query: Any, key: Any, value: Any, dy: Any, head_num: int, input_layout: str,
            **options: Any) -> tuple[Any, ...]:
    name = "npu_fusion_attention_grad_v3"
    return (*_backward(name, query, key, value, dy, head_num, input_layout, options),
            query.new_empty((0,)).float())


@define("npu_fusion_attention_grad_v2")
def grad_v2(query: Any, key: Any, value: Any, dy: Any, head_num: int, input_layout: str,
            **options: Any) -> tuple[Any, ...]:
    """Its last results are the gradients of query_rope, key_rope and sink, which are not supported."""
    name = "npu_fusion_attention_grad_v2"
    return (*_backward(name, query, key, value, dy, head_num, input_layout, options),
            *(query.new_empty((0,)) for _ in range(3)))
