# SPDX-License-Identifier: Apache-2.0
"""npu_prompt_flash_attention and npu_incre_flash_attention, older operators of inference."""

from __future__ import annotations

from typing import Any

from .checks import refuse
from .infer import Call, attend
from .masks import Sparse
from .table import define


@define("npu_prompt_flash_attention")
def prompt(query: Any, key: Any, value: Any, *, atten_mask: Any = None, actual_seq_lengths: Any = None,
           num_heads: int = 1, scale_value: float = 1.0, pre_tokens: int = 2147483647,
           next_tokens: int = 0, input_layout: str = "BSH", num_key_value_heads: int = 0,
           actual_seq_lengths_kv: Any = None, sparse_mode: int = 0, **others: Any) -> Any:
    name = "npu_prompt_flash_attention"
    refuse(name, **others)
    sparse = Sparse(name, atten_mask, sparse_mode, pre_tokens, next_tokens)
    return attend(Call(name, num_heads, num_key_value_heads, scale_value, input_layout,
                       actual_seq_lengths, actual_seq_lengths_kv, sparse), query, key, value)[0]


@define("npu_incre_flash_attention")
def incre(query: Any, key: Any, value: Any, *, atten_mask: Any = None, actual_seq_lengths: Any = None,
          block_table: Any = None, num_heads: int = 1, scale_value: float = 1.0,
          input_layout: str = "BSH", num_key_value_heads: int = 0, block_size: int = 0,
          inner_precise: int = 1, **others: Any) -> Any:
    """Its actual_seq_lengths are those of the keys, because there is one query token."""
    name = "npu_incre_flash_attention"
    refuse(name, **others)
    sparse = Sparse(name, atten_mask, 0, 2147483647, 2147483647)
    return attend(Call(name, num_heads, num_key_value_heads, scale_value, input_layout, None,
                       actual_seq_lengths, sparse, block_table, block_size,
                       key_lengths_name="actual_seq_lengths"), query, key, value)[0]
