# SPDX-License-Identifier: Apache-2.0
"""Operators that torch has for accelerators only, composed of its other operators.

Recurrent cells, the parts of SyncBatchNorm, and a question about nested tensors have no kernel for
"cpu" that could run on "npu" tensors, and torch composes attention and max_pool1d by the type of
the device. Both forms of the host operators use these definitions. The operators they call are
queued and captured like those of a program.
"""

from __future__ import annotations

import math
from typing import Any

from . import _aclnn_operators
from ._npu.checks import check, check_shape

_registered: list[Any] = []  # a registration ends with its object


def _sum(first: Any, *others: Any) -> Any:
    for other in others:
        if other is not None:
            first = first + other
    return first


class _Cells:
    """The cells of LSTM and GRU. `workspace` has the values of the forward run that the gradient
    needs."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch

    @staticmethod
    def check(operator: str, gates: int, state: str, value: Any, *given: Any) -> None:
        """Refuses also shapes that would broadcast. The gates of a cell lie side by side."""
        check(value.dim() == 2, operator, state, value, "two dimensions: batch and hidden")
        batch, width = value.shape[0], gates * value.shape[1]
        for name, tensor, shape in zip(
                ("input_gates", "hidden_gates", "input_bias", "hidden_bias"), given,
                ((batch, width), (batch, width), (width,), (width,))):
            if tensor is not None:
                check_shape(operator, name, tensor, shape)

    def lstm(self, input_gates: Any, hidden_gates: Any, cx: Any, input_bias: Any = None,
             hidden_bias: Any = None) -> tuple[Any, Any, Any]:
        """Returns h, c and the gates [batch, 4 * hidden]: input, forget, cell, output."""
        self.check("_thnn_fused_lstm_cell", 4, "cx", cx, input_gates, hidden_gates, input_bias,
                   hidden_bias)
        gates = _sum(hidden_gates, hidden_bias, _sum(input_gates, input_bias))
        into, forget, cell, out = gates.chunk(4, 1)
        for gate in (into, forget, out):
            gate.sigmoid_()
        cell.tanh_()
        cy = (forget * cx).add_(into * cell)
        return out * cy.tanh(), cy, gates

    def lstm_backward(self, grad_hy: Any, grad_cy: Any, cx: Any, cy: Any, workspace: Any,
                      has_bias: bool) -> tuple[Any, Any, Any]:
        torch = self.torch
        into, forget, cell, out = workspace.chunk(4, 1)
        wide = cy.tanh()
        hidden = torch.zeros_like(cy) if grad_hy is None else grad_hy
        through = hidden * out * (1 - wide * wide)
        through = _sum(through, grad_cy)
        gates = torch.cat((through * cell * into * (1 - into), through * cx * forget * (1 - forget),
                           through * into * (1 - cell * cell), hidden * wide * out * (1 - out)), 1)
        return gates, through * forget, gates.sum(0) if has_bias else None

    def gru(self, input_gates: Any, hidden_gates: Any, hx: Any, input_bias: Any = None,
            hidden_bias: Any = None) -> tuple[Any, Any]:
        """Returns h and [batch, 5 * hidden]: reset, update, new, h before, hidden part of new."""
        self.check("_thnn_fused_gru_cell", 3, "hx", hx, input_gates, hidden_gates, input_bias,
                   hidden_bias)
        given = _sum(input_gates, input_bias).chunk(3, 1)
        before = _sum(hidden_gates, hidden_bias).chunk(3, 1)
        reset = (before[0] + given[0]).sigmoid_()
        update = (before[1] + given[1]).sigmoid_()
        new = given[2].add(before[2] * reset).tanh_()
        return (hx - new).mul_(update).add_(new), self.torch.cat((reset, update, new, hx, before[2]), 1)

    def gru_backward(self, grad_hy: Any, workspace: Any, has_bias: bool) -> tuple[Any, ...]:
        reset, update, new, hx, hidden = workspace.chunk(5, 1)
        to_update = grad_hy * (hx - new) * update * (1 - update)
        to_new = grad_hy * (1 - update) * (1 - new * new)
        to_reset = to_new * hidden * reset * (1 - reset)
        given = self.torch.cat((to_reset, to_update, to_new), 1)
        before = self.torch.cat((to_reset, to_update, to_new * reset), 1)
        sums = (given.sum(0), before.sum(0)) if has_bias else (None, None)
        return (given, before, grad_hy * update, *sums)


class _SyncBatchNorm:
    """The parts of SyncBatchNorm. Statistics belong to dimension 1 and are at least float32."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch

    def wide(self, tensor: Any) -> Any:
        return tensor.to(self.torch.promote_types(tensor.dtype, self.torch.float32))

    @staticmethod
    def others(tensor: Any) -> list[int]:
        return [dim for dim in range(tensor.dim()) if dim != 1]

    @staticmethod
    def channels(values: Any, like: Any) -> Any:
        return values.reshape([1, -1] + [1] * (like.dim() - 2))

    def stats(self, input: Any, eps: float) -> tuple[Any, Any]:
        variance, mean = self.torch.var_mean(self.wide(input), self.others(input), correction=0)
        return mean, (variance + eps).rsqrt()

    def gather(self, input: Any, mean: Any, invstd: Any, running_mean: Any, running_var: Any,
               momentum: float, eps: float, counts: Any) -> tuple[Any, Any]:
        """Returns the statistics of all ranks together, from those of each: [ranks, channels]."""
        operator = "batch_norm_gather_stats_with_counts"
        check(mean.dim() == 2, operator, "mean", mean, "two dimensions: ranks and channels")
        check_shape(operator, "invstd", invstd, mean.shape)
        check(counts.numel() == mean.shape[0], operator, "counts", counts,
              f"{mean.shape[0]} elements, one for each rank")
        for name, running in (("running_mean", running_mean), ("running_var", running_var)):
            if running is not None:  # all is checked before one of them is written
                check_shape(operator, name, running, mean.shape[1:])
        weights = counts.to(mean.dtype).reshape(-1, 1)
        total = weights.sum()
        whole = (mean * weights).sum(0) / total
        spread = invstd.square().reciprocal() - eps + (mean - whole).square()
        squares = (spread * weights).sum(0)
        if running_mean is not None:
            running_mean.lerp_(whole.to(running_mean.dtype), momentum)
        if running_var is not None:
            running_var.lerp_((squares / (total - 1)).to(running_var.dtype), momentum)
        return whole, (squares / total + eps).rsqrt()

    def elemt(self, input: Any, weight: Any, bias: Any, mean: Any, invstd: Any, eps: float) -> Any:
        scale = invstd if weight is None else invstd * weight
        result = (self.wide(input) - self.channels(mean, input)) * self.channels(scale, input)
        if bias is not None:
            result = result + self.channels(bias, input)
        return result.to(input.dtype)

    def backward_reduce(self, grad_out: Any, input: Any, mean: Any, invstd: Any, weight: Any,
                        input_g: bool, weight_g: bool, bias_g: bool) -> tuple[Any, ...]:
        grad, dims = self.wide(grad_out), self.others(input)
        total = grad.sum(dims)
        moment = (grad * (self.wide(input) - self.channels(mean, input))).sum(dims)
        like = total.dtype if weight is None else weight.dtype
        return (total if input_g else None, moment if input_g else None,
                (moment * invstd).to(like) if weight_g else None, total.to(like) if bias_g else None)

    def backward_elemt(self, grad_out: Any, input: Any, mean: Any, invstd: Any, weight: Any,
                       sum_dy: Any, sum_dy_xmu: Any, count: Any) -> Any:
        total = count.sum()
        centred = self.wide(input) - self.channels(mean, input)
        slope = self.channels(invstd.square() * sum_dy_xmu / total, input)
        grad = self.wide(grad_out) - self.channels(sum_dy / total, input) - centred * slope
        scale = invstd if weight is None else invstd * weight
        return (grad * self.channels(scale, input)).to(input.dtype)


class _Attention:
    """scaled_dot_product_attention by the backend that torch chooses for "cpu", so that the results
    are those of "cpu" bit for bit."""

    FLASH = 1  # of torch.nn.attention.SDPBackend

    def __init__(self, torch: Any) -> None:
        self.torch = torch

    def like(self, tensor: Any) -> Any:
        """Returns a tensor on "cpu" that has the properties on which torch's choice depends, and no
        values."""
        return self.torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype,
                                        device="cpu", requires_grad=tensor.requires_grad)

    def flash(self, tensors: list[Any], mask: Any, others: dict[str, Any]) -> bool:
        plain = (self.torch.Tensor, self.torch.nn.Parameter)
        given = [*tensors, *(() if mask is None else (mask,))]
        if any(type(tensor) not in plain for tensor in given):
            return False  # tracing: the composition is traced
        choice = self.torch.ops.aten._fused_sdp_choice.default(
            *(self.like(tensor) for tensor in tensors),
            None if mask is None else self.like(mask), **others)
        return bool(choice == self.FLASH)

    def __call__(self, query: Any, key: Any, value: Any, attn_mask: Any = None,
                 dropout_p: float = 0.0, is_causal: bool = False, *, scale: float | None = None,
                 enable_gqa: bool = False) -> Any:
        aten = self.torch.ops.aten
        others = {"dropout_p": dropout_p, "is_causal": is_causal, "scale": scale,
                  "enable_gqa": enable_gqa}
        mask = attn_mask
        if mask is not None and mask.dtype == self.torch.bool:
            mask = self.torch.zeros_like(mask, dtype=query.dtype).masked_fill_(~mask, -math.inf)
        if self.flash([query, key, value], mask, others):
            return aten._scaled_dot_product_flash_attention_for_cpu.default(
                query, key, value, dropout_p, is_causal, attn_mask=mask, scale=scale)[0]
        return aten.scaled_dot_product_attention.default.decompose(
            query, key, value, attn_mask, **others)


class _MaxPool1d:
    """max_pool1d, whose result is contiguous on "cpu" if there is no gradient. torch composes it of
    max_pool2d for other devices, which keeps the layout of the input."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch

    def __call__(self, tensor: Any, *arguments: Any, **options: Any) -> Any:
        torch = self.torch
        pooled = torch.ops.aten.max_pool1d.default.decompose(tensor, *arguments, **options)
        forward = torch.autograd.forward_ad._current_level >= 0
        if (type(tensor) not in (torch.Tensor, torch.nn.Parameter) or forward
                or tensor.requires_grad and torch.is_grad_enabled()):
            return pooled
        strides = torch.empty(pooled.shape, device="meta").stride()
        return pooled if pooled.stride() == strides else pooled.clone(
            memory_format=torch.contiguous_format)


class _CtcLoss:
    """ctc_loss of half precision in float32. torch's composition makes the lengths a tensor of the same
    dtype, which it cannot for half precision."""

    def __init__(self, torch: Any, operator: Any) -> None:
        self.torch, self.operator = torch, operator

    def __call__(self, log_probs: Any, *arguments: Any, **options: Any) -> Any:
        narrow = log_probs.dtype
        if narrow not in (self.torch.float16, self.torch.bfloat16):
            return self.operator.decompose(log_probs, *arguments, **options)
        return self.operator(log_probs.float(), *arguments, **options).to(narrow)


def register(torch: Any) -> None:
    """Registers the compositions, except those of operators that an aclnn function computes."""
    cells, norm = _Cells(torch), _SyncBatchNorm(torch)
    kernels = {
        "_thnn_fused_lstm_cell": cells.lstm,
        "_thnn_fused_lstm_cell_backward_impl": cells.lstm_backward,
        "_thnn_fused_gru_cell": cells.gru,
        "_thnn_fused_gru_cell_backward": cells.gru_backward,
        "batch_norm_stats": norm.stats,
        "batch_norm_gather_stats_with_counts": norm.gather,
        "batch_norm_elemt": norm.elemt,
        "batch_norm_backward_reduce": norm.backward_reduce,
        "batch_norm_backward_elemt": norm.backward_elemt,
        # Nested tensors have no kernels here, so TransformerEncoder must keep to its dense path.
        "_nested_tensor_from_mask_left_aligned": lambda tensor, mask: False,
    }
    own = _aclnn_operators.names()
    library = torch.library.Library("aten", "IMPL")
    _registered.append(library)
    for name, kernel in kernels.items():
        if name.lstrip("_") not in own:
            library.impl(getattr(torch.ops.aten, name).default, kernel, "PrivateUse1",
                         allow_override=True)
    # These are registered above autograd, too: their gradients are those of the operators of which
    # they are composed.
    losses = [getattr(torch.ops.aten.ctc_loss, name) for name in ("IntList", "Tensor")]
    for operator, composed in (
            (torch.ops.aten.scaled_dot_product_attention.default, _Attention(torch)),
            (torch.ops.aten.max_pool1d.default, _MaxPool1d(torch)),
            *((loss, _CtcLoss(torch, loss)) for loss in losses if "ctc_loss" not in own)):
        for key in ("PrivateUse1", "AutogradPrivateUse1"):
            library.impl(operator, composed, key, allow_override=True)
