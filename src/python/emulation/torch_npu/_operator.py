# SPDX-License-Identifier: Apache-2.0
"""npu_advance_step_flashattn, as a function and as torch.ops.npu.npu_advance_step_flashattn."""

from __future__ import annotations

from typing import Any, Optional

import torch
from advance_step.operators import ADVANCE_STEP, ADVANCE_STEP_V2
from advance_step._launch import launch

from ._streams import stream_for
from ._tensor import NpuTensor, special, without_override

_NAME = "npu_advance_step_flashattn"
_SCHEMA = (
    _NAME + "(Tensor(a!) input_tokens, Tensor sampled_token_ids, Tensor(b!) input_positions, "
    "Tensor(c!) seq_lens, Tensor(d!) slot_mapping, Tensor block_tables, int num_seqs, "
    "int num_queries, int block_size, *, Tensor? spec_token=None, Tensor? accepted_num=None) -> ()")


def npu_advance_step_flashattn(
        input_tokens: torch.Tensor, sampled_token_ids: torch.Tensor, input_positions: torch.Tensor,
        seq_lens: torch.Tensor, slot_mapping: torch.Tensor, block_tables: torch.Tensor,
        num_seqs: int, num_queries: int, block_size: int, *,
        spec_token: Optional[torch.Tensor] = None,
        accepted_num: Optional[torch.Tensor] = None) -> None:
    """Queues one step of all queries of a decode batch, in place, on the current stream.

    All tensors are on one npu device. Shapes and dtypes are those of advance_step.advance_step, or
    of advance_step.advance_step_v2 if spec_token and accepted_num are given.

    Raises:
        RuntimeError: a tensor is not on the device, or an argument is not as documented. A later
            synchronisation, or the next torch function that uses a tensor of the device, raises a
            data error. A run that fails has written nothing.
    """
    arrays: tuple[Any, ...] = (input_tokens, sampled_token_ids, input_positions, seq_lens,
                               slot_mapping, block_tables)
    operator = ADVANCE_STEP
    if spec_token is not None or accepted_num is not None:
        arrays += (spec_token, accepted_num)
        operator = ADVANCE_STEP_V2
    index: int = getattr(input_tokens, "npu_index", 0)

    def approve() -> None:
        for name, tensor in zip(operator.tensors, arrays):
            if isinstance(tensor, torch.Tensor) and getattr(tensor, "npu_index", -1) != index:
                raise RuntimeError(f"{_NAME}: {name} is on {tensor.device}; expected npu:{index}, "
                                   "a tensor of .npu() or device=\"npu\"")

    launch(operator, arrays, (num_seqs, num_queries, block_size), stream_for(index), False,
           approve)


def _dispatch(func: Any) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        with without_override():
            return func(*args, **kwargs)
    return call


def register() -> Any:
    """Registers the operator with torch. The caller must keep the library object."""
    torch_: Any = torch  # torch's type hints are incomplete
    library = torch_.library.Library("npu", "DEF")
    library.define(_SCHEMA)
    library.impl(_NAME, npu_advance_step_flashattn, "CPU")  # NpuTensors have CPU memory
    packet = getattr(torch_.ops.npu, _NAME)
    for func in (packet, packet.default):
        special[func] = _dispatch(func)
    return library


__all__ = ["NpuTensor", "npu_advance_step_flashattn", "register"]
