# SPDX-License-Identifier: Apache-2.0
"""Steps of optimizers, which write their parameters and moments: out=(var, m, v)."""

from __future__ import annotations

import importlib
import math
from typing import Any

from .checks import check, check_floating, check_shape, refuse
from .table import define

torch: Any = importlib.import_module("torch")


def _states(operator: str, grad: Any, out: Any) -> tuple[Any, Any, Any]:
    """Returns var, m and v in float32, after checks."""
    check(len(out) == 3, operator, "out", list(out), "three tensors: var, m and v")
    check_floating(operator, grad=grad)
    for name, tensor in zip(("var", "m", "v"), out):
        check_shape(operator, name, tensor, grad.shape)
        check(tensor.dtype == grad.dtype, operator, name, tensor, f"the dtype of grad, {grad.dtype}")
    return tuple(tensor.float() for tensor in out)


def _store(out: Any, *values: Any) -> tuple[Any, Any, Any]:
    for tensor, value in zip(out, values):
        tensor.copy_(value)
    return tuple(out)


@define("npu_apply_adam_w.out")
def apply_adam_w(beta1_power: float, beta2_power: float, lr: float, weight_decay: float, beta1: float, beta2: float,
                 epsilon: float, grad: Any, max_grad_norm: Any, amsgrad: bool | None, maximize: bool | None, *,
                 out: Any) -> tuple[Any, Any, Any]:
    """AdamW, as torch_npu's page has it: the powers are those of the step before."""
    name = "npu_apply_adam_w"
    var, first, second = _states(name, grad, out)
    wide = -grad.float() if maximize else grad.float()
    first = beta1 * first + (1 - beta1) * wide
    second = beta2 * second + (1 - beta2) * wide * wide
    if amsgrad:
        check(max_grad_norm is not None, name, "max_grad_norm", max_grad_norm, "a tensor, as amsgrad is True")
        check_shape(name, "max_grad_norm", max_grad_norm, grad.shape)
        second = torch.maximum(max_grad_norm.float(), second)
    root = (second / (1 - beta2_power * beta2)).sqrt() + epsilon
    step = first / (1 - beta1_power * beta1) / root
    return _store(out, var - lr * step - lr * weight_decay * var, first, second)


@define("npu_bert_apply_adam.out")
def bert_apply_adam(lr: float, beta1: float, beta2: float, epsilon: float, grad: Any, max_grad_norm: float,
                    global_grad_norm: float, weight_decay: float, step_size: float | None = None,
                    adam_mode: int = 0, *, out: Any) -> tuple[Any, Any, Any]:
    """BERT's Adam: no correction of the moments, and decay in the update. Gradients whose norm is larger
    than max_grad_norm, if that is above 0, are made as long as that. The formulas of step_size and of
    adam_mode 1 are in no public page."""
    name = "npu_bert_apply_adam"
    refuse(name, step_size=step_size, adam_mode=adam_mode)
    var, first, second = _states(name, grad, out)
    wide = grad.float()
    if 0 < max_grad_norm < global_grad_norm and math.isfinite(global_grad_norm):
        wide = wide * (max_grad_norm / global_grad_norm)
    first = beta1 * first + (1 - beta1) * wide
    second = beta2 * second + (1 - beta2) * wide * wide
    update = first / (second.sqrt() + epsilon) + weight_decay * var
    return _store(out, var - lr * update, first, second)
