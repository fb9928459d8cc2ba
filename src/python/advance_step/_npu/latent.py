# SPDX-License-Identifier: Apache-2.0
"""Latent attention: the rotary embedding of neighbours, the latent cache, partial results."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from .cache import check_places, write_rows
from .checks import check, check_floating, check_shape, check_written, refuse
from .table import define

torch: Any = importlib.import_module("torch")

_MODES = ("Norm", "PA", "PA_BNSD", "PA_NZ")
_TILE = 32  # bytes of a row of a tile, the format NZ


def _turn(operator: str, x: Any, cos: Any, sin: Any) -> Any:
    """Returns the embedding in float32: neighbours become halves first."""
    check(x.dim() > 0 and x.shape[-1] % 2 == 0, operator, "x", x, "an even last dimension")
    for name, factor in (("cos", cos), ("sin", sin)):
        check(factor.shape[-1] == x.shape[-1], operator, name, factor, f"a last dimension of {x.shape[-1]}")
    wide = x.float()
    first, second = wide[..., ::2], wide[..., 1::2]
    halves = torch.cat((first, second), -1)
    return halves * cos.float() + torch.cat((-second, first), -1) * sin.float()


@define("npu_interleave_rope")
def interleave_rope(x: Any, cos: Any, sin: Any) -> Any:
    check_floating("npu_interleave_rope", x=x, cos=cos, sin=sin)
    return _turn("npu_interleave_rope", x, cos, sin).to(x.dtype)


def _write(cache: Any, rows: Any, slots: Any, mode: str) -> None:
    if mode != "PA_NZ":
        write_rows(cache.view(-1, cache.shape[-1]), rows, slots)
        return
    # Blocks [tiles, tokens, elements of a tile's row], in a cache of the shape [blocks, tokens, 1, D].
    blocks, size, width = cache.shape[0], cache.shape[1], _TILE // cache.element_size()
    tiles = cache.shape[-1] // width
    block = torch.div(slots, size, rounding_mode="floor")
    token = slots - block * size
    tile = torch.arange(tiles, device=slots.device)
    places = (block.unsqueeze(1) * tiles + tile) * size + token.unsqueeze(1)
    places = torch.where(slots.unsqueeze(1) < 0, -1, places)
    write_rows(cache.view(blocks * tiles * size, width), rows.reshape(-1, width), places.flatten())


@define("npu_kv_rmsnorm_rope_cache")
def kv_rmsnorm_rope_cache(kv: Any, gamma: Any, cos: Any, sin: Any, index: Any, k_cache: Any, ckv_cache: Any,
                          *, k_rope_scale: Any = None, c_kv_scale: Any = None, k_rope_offset: Any = None,
                          c_kv_offset: Any = None, v: Any = None, epsilon: float = 1e-5,
                          cache_mode: str = "Norm", is_output_kv: bool = False) -> tuple[Any, ...]:
    """Writes the rotated rope part of kv to k_cache and the norm of the rest to ckv_cache, at the slots
    of index; a slot below 0 is none. Returns the caches, and both parts if is_output_kv."""
    name = "npu_kv_rmsnorm_rope_cache"
    refuse(name, k_rope_scale=k_rope_scale, c_kv_scale=c_kv_scale, k_rope_offset=k_rope_offset,
           c_kv_offset=c_kv_offset, v=v)
    check_floating(name, kv=kv, gamma=gamma)
    check(cache_mode in _MODES, name, "cache_mode", cache_mode, "one of " + ", ".join(_MODES))
    latent = gamma.shape[0]
    check(kv.dim() == 4 and kv.shape[-1] == latent + cos.shape[-1], name, "kv", kv,
          f"[B, N, S, {latent} + {cos.shape[-1]}], the elements of gamma and of cos")
    check(index.numel() == kv.numel() // kv.shape[-1], name, "index", index, "a slot for each row of kv")
    for which, cache, size in (("k_cache", k_cache, cos.shape[-1]), ("ckv_cache", ckv_cache, latent)):
        check(cache.shape[-1] == size and cache.dtype == kv.dtype, name, which, cache,
              f"{kv.dtype} with a last dimension of {size}")
    check_written(name, {"k_cache": k_cache, "ckv_cache": ckv_cache}, {})
    wide = kv[..., :latent].float()
    rstd = (wide.square().mean(-1, keepdim=True) + epsilon).rsqrt()
    normed = (wide * rstd * gamma.float()).to(kv.dtype)
    turned = _turn(name, kv[..., latent:], cos, sin).to(kv.dtype)
    slots = index.flatten().long()
    for which, cache in (("k_cache", k_cache), ("ckv_cache", ckv_cache)):
        check_places(name, f"index (slots of {which})", slots, cache.numel() // cache.shape[-1], none=True)
    _write(k_cache, turned.reshape(-1, turned.shape[-1]), slots, cache_mode)
    _write(ckv_cache, normed.reshape(-1, latent), slots, cache_mode)
    none = kv.new_empty((0,))
    return (k_cache, ckv_cache, turned, normed) if is_output_kv else (k_cache, ckv_cache, none, none)


@define("npu_attention_update")
def attention_update(lse: Sequence[Any], local_out: Sequence[Any], update_type: int) -> tuple[Any, Any]:
    """Returns the attention over all keys, from those of parts of the keys and the logs of their sums
    of exponentials, and with update_type 1 the log of the whole sum."""
    name = "npu_attention_update"
    check(len(lse) == len(local_out) > 0, name, "lse", list(lse), f"{len(local_out)} tensors, and at least 1")
    check(update_type in (0, 1), name, "update_type", update_type, "0 or 1")
    for part, out in zip(lse, local_out):
        check_shape(name, "lse", part, out.shape[:1])
    logs = torch.stack([part.float() for part in lse])
    largest = logs.amax(0)
    powers = torch.exp(logs - largest.masked_fill(largest.isinf(), 0))
    total = powers.sum(0)
    weights = powers / total.masked_fill(total == 0, 1)
    parts = torch.stack([out.float() for out in local_out])
    out = (parts * weights.unsqueeze(-1)).sum(0).to(local_out[0].dtype)
    return out, largest + torch.log(total) if update_type else logs.new_empty((0,))
