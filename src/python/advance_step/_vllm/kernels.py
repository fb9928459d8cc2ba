# SPDX-License-Identifier: Apache-2.0
"""Triton kernels of vLLM where there is no Triton: those of the paths in torch's operations.

vLLM leaves a kernel a plain function then, and its launch `kernel[grid](...)` a TypeError. Here the
launch runs what is known for the kernel, or names it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

Launch = Callable[..., Any]


def slot_mapping(grid: tuple[int, ...], num_tokens: int, max_num_tokens: int, query_start_loc: Any,
                 positions: Any, block_table: Any, block_table_stride: int, block_size: int,
                 slot_mapping: Any, *, TOTAL_CP_WORLD_SIZE: int, TOTAL_CP_RANK: int,
                 CP_KV_CACHE_INTERLEAVE_SIZE: int, PAD_ID: int, BLOCK_SIZE: int) -> None:
    """Writes the slot of each token: table[request, position / block] * block + position % block. With
    several ranks a block is spread over them in pieces, and a token of another rank has PAD_ID, as all
    places after the tokens have."""
    torch: Any = importlib.import_module("torch")
    requests, ranks, piece = grid[0] - 1, TOTAL_CP_WORLD_SIZE, CP_KV_CACHE_INTERLEAVE_SIZE
    slot_mapping[num_tokens:max_num_tokens].fill_(PAD_ID)
    if not num_tokens or not requests:
        return
    starts = query_start_loc[:requests + 1].long()
    token = torch.arange(num_tokens, device=slot_mapping.device)
    request = (torch.searchsorted(starts, token, right=True) - 1).clamp(0, requests - 1)
    position = positions[:num_tokens].long()
    column = torch.div(position, block_size * ranks, rounding_mode="floor")
    within = position - column * (block_size * ranks)
    place = request * block_table_stride + column.clamp(max=block_table.shape[1] - 1)
    block = block_table.reshape(-1).index_select(0, place).long()
    local = torch.div(within, ranks * piece, rounding_mode="floor") * piece + within % piece
    mine = torch.div(within, piece, rounding_mode="floor") % ranks == TOTAL_CP_RANK
    slots = torch.where(mine, block * block_size + local, PAD_ID)
    known = (token >= starts[0]) & (token < starts[requests])
    kept = slot_mapping[:num_tokens]
    kept.copy_(torch.where(known, slots.to(kept.dtype), kept))


_LAUNCHES: dict[str, Launch] = {
    "vllm.v1.worker.block_table._compute_slot_mapping_kernel": slot_mapping,
}


class Kernel:
    """A kernel, which is launched as Triton's: kernel[grid](arguments)."""

    def __init__(self, function: Any) -> None:
        self.fn = function
        self.name = f"{function.__module__}.{function.__qualname__}"
        self.__name__, self.__module__, self.__doc__ = (
            function.__name__, function.__module__, function.__doc__)

    def __getitem__(self, grid: Any) -> Launch:
        launch = _LAUNCHES.get(self.name)
        if launch is None:
            raise NotImplementedError(f"{self.name} is a Triton kernel that the emulated device does not "
                                      "run; expected a path of the engine without Triton")
        return lambda *arguments, **options: launch(grid, *arguments, **options)

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError(f"{self.name} is a Triton kernel; expected a launch, kernel[grid](...)")


def jit(function: Any = None, **options: Any) -> Any:
    """Takes the place of triton.jit."""
    if function is None:
        return lambda given: jit(given, **options)
    return Kernel(function)


def replace(module: Any) -> None:
    """Makes vllm.triton_utils give these kernels, unless it has found Triton."""
    if not module.HAS_TRITON:
        module.triton.jit = jit
