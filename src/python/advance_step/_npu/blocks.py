# SPDX-License-Identifier: Apache-2.0
"""vllm-ascend's operators that write to blocks of a KV cache, or change their order."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from .cache import check_places, write_rows
from .checks import check, check_shape, check_written
from .table import define

torch: Any = importlib.import_module("torch")


@define("_C_ascend::transpose_kv_cache_by_block")
def transpose_by_block(kCache: Sequence[Any], vCache: Sequence[Any], blockIDs: Any, blockSize: int, headNum: int,
                       headDim: int, splitNum: int, layerNum: int) -> None:
    """In each of the blocks changes [splits, tokens, heads of a split, elements], which came from as many
    ranks, into [tokens, heads, elements]."""
    name = "transpose_kv_cache_by_block"
    check(splitNum > 0 and headNum % splitNum == 0, name, "splitNum", splitNum, f"a divisor of the {headNum} heads")
    check(len(kCache) == len(vCache) == layerNum, name, "layerNum", layerNum,
          f"{len(kCache)} and {len(vCache)}, the caches of the layers")
    check(blockIDs.dim() == 1, name, "blockIDs", blockIDs, "[blocks]")
    for which, caches in (("kCache", kCache), ("vCache", vCache)):
        for cache in caches:
            check_shape(name, which, cache, [cache.shape[0], blockSize, headNum, headDim])
    blocks = blockIDs.long()
    for cache in (*kCache, *vCache):
        check_places(name, "blockIDs", blocks, cache.shape[0])
    for cache in (*kCache, *vCache):
        parts = cache.index_select(0, blocks).view(-1, splitNum, blockSize, headNum // splitNum * headDim)
        cache.index_copy_(0, blocks, parts.transpose(1, 2).reshape(-1, *cache.shape[1:]))


@define("_C_ascend::npu_reshape_and_cache_bnsd")
def reshape_and_cache_bnsd(q: Any, k_comp: Any, slot_mapping: Any, seq_len: Any, k_out: Any) -> Any:
    """Writes rows [heads * tokens, elements] to the slots of k_out, [blocks, heads, tokens of a block, elements],
    and returns it. Nothing is written where a slot is below 0."""
    name = "npu_reshape_and_cache_bnsd"
    check(k_out.dim() == 4, name, "k_out", k_out, "[blocks, heads, tokens of a block, elements]")
    _, heads, size, elements = k_out.shape
    check_shape(name, "k_comp", k_comp, k_out.shape)
    check(slot_mapping.dim() == 1, name, "slot_mapping", slot_mapping, "[tokens]")
    tokens = slot_mapping.shape[0]
    check_shape(name, "q", q, [heads * tokens, elements])
    check_written(name, {"k_out": k_out}, {"q": q})
    slots = slot_mapping.long()
    check_places(name, "slot_mapping", slots, k_out.shape[0] * size, none=True)
    head = torch.arange(heads, device=slots.device).unsqueeze(1)
    block = torch.div(slots, size, rounding_mode="floor")
    places = torch.where(slots >= 0, (block * heads + head) * size + slots % size, -1)
    write_rows(k_out.view(-1, elements), q, places.flatten())
    return k_out


@define("_C_ascend::store_kv_block_metadata")
def store_metadata(slot_mapping_npu: Any, group_len: Any, group_key_idx: Any, group_key_cache_idx: Any,
                   block_size: int = 0) -> None:
    """Writes what store_kv_block reads: the tokens of each group, its first token, and its slot. A group is
    one token here, and none where the slot is below 0."""
    name = "store_kv_block_metadata"
    groups = {"group_len": group_len, "group_key_idx": group_key_idx, "group_key_cache_idx": group_key_cache_idx}
    check(slot_mapping_npu.dim() == 1, name, "slot_mapping_npu", slot_mapping_npu, "[tokens]")
    tokens = slot_mapping_npu.shape[0]
    for which, group in groups.items():
        check(group.dim() == 1 and group.shape[0] >= tokens, name, which, group, f"[at least {tokens}]")
    check_written(name, groups, {"slot_mapping_npu": slot_mapping_npu})
    group_len.zero_()
    group_len[:tokens].copy_(slot_mapping_npu >= 0)
    group_key_idx[:tokens].copy_(torch.arange(tokens, device=slot_mapping_npu.device))
    group_key_cache_idx[:tokens].copy_(slot_mapping_npu)


@define("_C_ascend::store_kv_block")
def store(key_in: Any, key_cache_in: Any, group_len: Any, group_key_idx: Any, group_key_cache_idx: Any,
          block_size: int = 0) -> None:
    """Writes rows of key_in to the slots of key_cache_in, [blocks, tokens of a block, ...]."""
    name = "store_kv_block"
    check(key_in.dim() > 0 and key_in.shape[0] > 0, name, "key_in", key_in, "[tokens, ...], at least one token")
    check(key_cache_in.dim() > 2 and key_cache_in.is_contiguous(), name, "key_cache_in", key_cache_in,
          "[blocks, tokens of a block, ...], contiguous")
    slots = key_cache_in.shape[0] * key_cache_in.shape[1]
    elements = key_cache_in[0, 0].numel()
    check(key_in[0].numel() == elements, name, "key_in", key_in, f"{elements} elements of each token")
    check(group_len.shape == group_key_idx.shape == group_key_cache_idx.shape, name, "group_key_idx",
          group_key_idx, f"shape {list(group_len.shape)}, as group_len and group_key_cache_idx")
    check_written(name, {"key_cache_in": key_cache_in}, {"key_in": key_in})
    tokens = torch.where(group_len > 0, group_key_idx.long(), 0)
    places = torch.where(group_len > 0, group_key_cache_idx.long(), -1)
    check_places(name, "group_key_idx", tokens, key_in.shape[0])
    check_places(name, "group_key_cache_idx", places, slots, none=True)
    rows = key_in.reshape(key_in.shape[0], elements).index_select(0, tokens)
    write_rows(key_cache_in.view(slots, elements), rows, places)


@define("_C_ascend::batch_matmul_transpose")
def batch_matmul_transpose(tensor_a: Any, tensor_b: Any, tensor_c: Any, format_mode: str | None = None,
                           quant_mode: str | None = None) -> None:
    """Writes c[b, m] = a[b, m] B[m], of a [b, m, k], B [m, k, n] and c [b, m, n]."""
    name = "batch_matmul_transpose"
    check(tensor_a.dim() == 3, name, "tensor_a", tensor_a, "[rows, matrices, k]")
    check(tensor_b.dim() == 3 and list(tensor_b.shape[:2]) == list(tensor_a.shape[1:]), name, "tensor_b", tensor_b,
          f"[{tensor_a.shape[1]}, {tensor_a.shape[2]}, columns]")
    size = [tensor_a.shape[0], tensor_a.shape[1], tensor_b.shape[2]]
    check(tensor_c.numel() == size[0] * size[1] * size[2], name, "tensor_c", tensor_c, f"shape {size}")
    check(format_mode in (None, "", "ND", "NZ"), name, "format_mode", format_mode, "'ND' or 'NZ'")
    check(not quant_mode, name, "quant_mode", quant_mode, "none")
    check_written(name, {"tensor_c": tensor_c}, {"tensor_a": tensor_a, "tensor_b": tensor_b})
    product = torch.bmm(tensor_a.float().transpose(0, 1), tensor_b.float()).transpose(0, 1)
    tensor_c.copy_(product.reshape(tensor_c.shape))
