# SPDX-License-Identifier: Apache-2.0
"""Mixture of experts: the experts of a token, rows in their order, products, and back."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from .cache import captured, check_places
from .checks import check, check_floating, check_shape, refuse
from .dtypes import dtype_of
from .quant import per_token
from .table import define

torch: Any = importlib.import_module("torch")

_BEYOND = 1 << 30  # sorts behind all experts


def _hide_groups(operator: str, scores: Any, k_group: int, group_count: int, mode: int) -> Any:
    """Hides the scores outside the k_group best groups of experts. Mode 0 rates a group by its largest
    score, 1 by the sum of its two largest."""
    check(0 < k_group <= group_count and scores.shape[1] % group_count == 0, operator, "k_group", k_group,
          f"1 to group_count = {group_count}, a divisor of the {scores.shape[1]} experts")
    check(mode in (0, 1), operator, "group_select_mode", mode, "0 or 1")
    groups = scores.unflatten(1, (group_count, -1))
    rates = groups.amax(-1) if mode == 0 else groups.topk(min(2, groups.shape[2]), -1).values.sum(-1)
    kept = torch.zeros_like(rates).scatter_(1, rates.topk(k_group, -1).indices, 1.0)
    return groups.masked_fill(kept.unsqueeze(-1) == 0, float("-inf")).flatten(1)


def _chosen(name: str, scores: Any, bias: Any, k: int, groups: tuple[int, int, int]) -> Any:
    """Returns the experts of the k largest scores, to which a bias is added. groups: how many of how many
    are kept, and by which mode."""
    if bias is not None:
        check_shape(name, "bias", bias, scores.shape[1:])
        scores = scores + bias.float()
    if groups[1] > 1:
        scores = _hide_groups(name, scores, *groups)
    return scores.topk(k, -1).indices


@define("_C_ascend::moe_gating_top_k")
def gating_top_k(x: Any, k: int, k_group: int = 1, group_count: int = 1, group_select_mode: int = 0,
                 renorm: int = 0, norm_type: int = 0, out_flag: bool = False,
                 routed_scaling_factor: float = 1.0, eps: float = 1e-20, bias_opt: Any = None,
                 name: str = "moe_gating_top_k") -> tuple[Any, Any, Any]:
    """Returns the weights and the experts of each token, and all scores if out_flag. A bias chooses
    experts and does not weigh them. norm_type 0 is softmax, 1 sigmoid, which always renormalises."""
    check_floating(name, x=x)
    check(x.dim() == 2, name, "x", x, "[tokens, experts]")
    check(0 < k <= x.shape[1], name, "k", k, f"1 to {x.shape[1]}, the number of experts")
    check(norm_type in (0, 1), name, "norm_type", norm_type, "0 (softmax) or 1 (sigmoid)")
    wide = x.float()
    scores = torch.softmax(wide, -1) if norm_type == 0 else torch.sigmoid(wide)
    experts = _chosen(name, scores, bias_opt, k, (k_group, group_count, group_select_mode))
    weights = scores.gather(1, experts)
    if norm_type == 1 or renorm == 1:
        weights = weights / (weights.sum(-1, keepdim=True) + eps)
    shown = scores if out_flag else scores.new_empty((0,))
    return (weights * routed_scaling_factor).to(x.dtype), experts.to(torch.int32), shown


@define("npu_moe_gating_top_k")
def npu_gating_top_k(x: Any, k: int, *, bias: Any = None, input_ids: Any = None, tid2eid: Any = None,
                     **options: Any) -> tuple[Any, Any, Any]:
    refuse("npu_moe_gating_top_k", input_ids=input_ids, tid2eid=tid2eid)
    weights, experts, scores = gating_top_k(x, k, bias_opt=bias, name="npu_moe_gating_top_k", **options)
    return weights, experts, scores


@define("_C_ascend::moe_gating_top_k_hash")
def gating_top_k_hash(x: Any, k: int, bias: Any = None, input_ids: Any = None, tid2eid: Any = None,
                      k_group: int = 1, group_count: int = 1, routed_scaling_factor: float = 1.0,
                      eps: float = 1e-20, group_select_mode: int = 0, renorm: int = 0, norm_type: int = 0,
                      out_flag: bool = False) -> tuple[Any, Any, Any]:
    """moe_gating_top_k with norm_type 2, the root of softplus, or with experts by a table [tokens of the
    vocabulary, k] for the token of each row."""
    name = "moe_gating_top_k_hash"
    refuse(name, renorm=renorm)
    check((input_ids is None) == (tid2eid is None), name, "tid2eid", tid2eid, "a table if there are input_ids")
    if norm_type != 2 and tid2eid is None:
        weights, experts, shown = gating_top_k(x, k, k_group, group_count, group_select_mode, renorm, norm_type,
                                               out_flag, routed_scaling_factor, eps, bias, name)
        return weights, experts, shown
    check(norm_type == 2, name, "norm_type", norm_type, "2 (the root of softplus), as there is a table")
    check_floating(name, x=x)
    check(x.dim() == 2 and 0 < k <= x.shape[1], name, "x", x, f"[tokens, at least {k} experts]")
    scores = torch.nn.functional.softplus(x.float()).sqrt()
    if tid2eid is None:
        experts = _chosen(name, scores, bias, k, (k_group, group_count, group_select_mode))
    else:
        check_shape(name, "input_ids", input_ids, x.shape[:1])
        check(tid2eid.dim() == 2 and tid2eid.shape[1] == k, name, "tid2eid", tid2eid, f"[tokens, {k}]")
        tokens = input_ids.long()
        check_places(name, "input_ids", tokens, tid2eid.shape[0])
        experts = tid2eid.index_select(0, tokens).long()
        check_places(name, "tid2eid", experts, x.shape[1])
    weights = scores.gather(1, experts) * routed_scaling_factor
    return weights.to(x.dtype), experts.to(torch.int32), scores if out_flag else scores.new_empty((0,))


@define("npu_moe_gating_top_k_softmax")
def gating_top_k_softmax(x: Any, finished: Any = None, k: int = 1) -> tuple[Any, Any, Any]:
    """Returns weights, experts and rows [tokens, k]; row i + j * tokens belongs to token i's expert j.
    A finished token has no expert: their number."""
    name = "npu_moe_gating_top_k_softmax"
    check(x.dim() == 2, name, "x", x, "[tokens, experts]")
    weights, experts, _ = gating_top_k(x, k, name=name)
    tokens = x.shape[0]
    if finished is not None:
        check_shape(name, "finished", finished, [tokens])
        experts = torch.where(finished.bool().unsqueeze(1), x.shape[1], experts)
    rows = torch.arange(tokens * k, dtype=torch.int32, device=x.device).reshape(k, tokens).t()
    return weights, experts.to(torch.int32), rows.contiguous()


def _expert_range(name: str, given: Sequence[int], expert_num: int) -> tuple[int, int]:
    low, high = (given[0], given[1]) if given else (0, expert_num)
    check(0 <= low < high and (high <= expert_num or expert_num <= 0), name, "active_expert_range",
          list(given), f"[first, end) within the {expert_num} experts of expert_num")
    return low, high


def _init_routing(name: str, x: Any, expert_idx: Any, scale: Any, active_num: int, expert_num: int,
                  expert_tokens_num_type: int, quant_mode: int, active_expert_range: Sequence[int],
                  row_idx_type: int) -> tuple[Any, Any, Any, Any]:
    check(expert_idx.dim() == 2 and expert_idx.shape[0] == x.shape[0] and x.dim() == 2, name, "expert_idx",
          expert_idx, f"[tokens, experts of a token], with the tokens of x, {list(x.shape)}")
    check(expert_tokens_num_type in (0, 1), name, "expert_tokens_num_type", expert_tokens_num_type,
          "0 (ends of the experts' rows) or 1 (their counts)")
    check(row_idx_type in (0, 1), name, "row_idx_type", row_idx_type,
          "0 (the place of each token and expert) or 1 (those of each place)")
    check(quant_mode in (-1, 1), name, "quant_mode", quant_mode, "-1 (none) or 1 (for each token)")
    low, high = _expert_range(name, active_expert_range, expert_num)
    flat = expert_idx.flatten().long()
    active = (flat >= low) & (flat < high)
    order = torch.sort(torch.where(active, flat, _BEYOND), stable=True).indices
    rows = x.index_select(0, torch.div(order, expert_idx.shape[1], rounding_mode="floor"))
    numbers = torch.arange(order.numel(), device=order.device)
    if row_idx_type == 0:
        places = torch.where(active, torch.empty_like(order).index_copy_(0, order, numbers), -1)
    else:
        places = order
    experts = torch.arange(low, high, device=flat.device)
    counts = (flat.unsqueeze(0) == experts.unsqueeze(1)).sum(1)
    if expert_tokens_num_type == 0:
        counts = counts.cumsum(0)
    if active_num > 0:
        rows = rows[:active_num]
    if quant_mode == 1:
        rows, scales = per_token(rows if scale is None else rows.float() * scale.float())
    elif scale is not None:
        scales = scale.flatten().index_select(
            0, torch.div(order, expert_idx.shape[1], rounding_mode="floor"))[:rows.shape[0]]
    else:
        scales = torch.empty((0,), dtype=torch.float32, device=x.device)
    return rows, places.to(torch.int32), counts, scales


@define("npu_moe_init_routing_v2")
def init_routing(x: Any, expert_idx: Any, *, scale: Any = None, offset: Any = None, active_num: int = -1,
                 expert_capacity: int = -1, expert_num: int = -1, drop_pad_mode: int = 0,
                 expert_tokens_num_type: int = 0, expert_tokens_num_flag: bool = False,
                 quant_mode: int = -1, active_expert_range: Sequence[int] = (), row_idx_type: int = 0,
                 x_dtype: Any = None) -> tuple[Any, Any, Any, Any]:
    """Returns the rows of x sorted by expert, the places of the rows, the experts' rows, and scales.
    Rows of no active expert are last, and their place is -1."""
    name = "npu_moe_init_routing_v2"
    refuse(name, offset=offset, drop_pad_mode=drop_pad_mode, x_dtype=x_dtype)
    if scale is not None and quant_mode == 1:
        check(scale.numel() == x.shape[1], name, "scale", scale,
              f"{x.shape[1]} elements, one for each column, as for experts with scales of their own")
        scale = scale.flatten()
    return _init_routing(name, x, expert_idx, scale, active_num, expert_num, expert_tokens_num_type,
                         quant_mode, active_expert_range, row_idx_type)


@define("_C_ascend::npu_moe_init_routing_custom")
def init_routing_custom(x: Any, expert_idx: Any, *, quant_mode: int = 0,
                        **options: Any) -> tuple[Any, Any, Any, Any]:
    """npu_moe_init_routing_v2 with another default."""
    rows, places, counts, scales = init_routing(x, expert_idx, quant_mode=quant_mode, **options)
    return rows, places, counts, scales


class _Groups:
    """The rows of x that belong to each expert."""

    def __init__(self, group_list: Any, kind: int, rows: int, device: Any) -> None:
        self.rows, self.device = rows, device
        self.ends = group_list if kind == 0 else group_list.cumsum(0)

    def lengths(self) -> list[int]:
        ends = [min(end, self.rows) for end in self.ends.tolist()]
        return [end - begin for begin, end in zip([0, *ends], ends)]

    def hidden(self, expert: int) -> Any:
        """Returns which rows are not the expert's, as a column."""
        row = torch.arange(self.rows, device=self.device)
        begin = self.ends[expert - 1] if expert else 0
        return ((row < begin) | (row >= self.ends[expert])).unsqueeze(1)


def _of_expert(given: Any, expert: int) -> Any:
    """A list of one tensor holds those of all experts."""
    if given is None or not len(given):
        return None
    return given[expert] if len(given) > 1 else given[0][expert]


def _product(x: Any, expert: int, weight: Any, scale: Any, bias: Any) -> Any:
    matrix, factor, addend = (_of_expert(given, expert) for given in (weight, scale, bias))
    whole = not x.is_floating_point()  # int8 products are exact in float64
    y = (x.double() @ matrix.double()).float() if whole else x.float() @ matrix.float()
    if addend is not None and not addend.is_floating_point():
        y, addend = y + addend.float(), None
    if factor is not None:
        y = y * factor.float()
    return y if addend is None else y + addend.float()


@define("npu_grouped_matmul", "npu_grouped_matmul.List")
def grouped_matmul(x: Any, weight: Any, *, bias: Any = None, scale: Any = None, per_token_scale: Any = None,
                   group_list: Any = None, split_item: int = 0, group_type: Any = None,
                   group_list_type: int = 0, output_dtype: Any = None, tuning_config: Any = None,
                   act_type: int = 0, **others: Any) -> list[Any]:
    """Multiplies the rows of x of each expert by its matrix. group_list has the ends of the experts'
    rows (group_list_type 0) or their counts (1). Rows of no expert become 0. A capture multiplies all
    rows by each matrix, as the lengths are not known then."""
    name = "npu_grouped_matmul"
    refuse(name, act_type=act_type, **others)
    check(len(x) == 1 and x[0].dim() == 2, name, "x", list(x), "one tensor of two dimensions")
    check(group_type in (0, None, -1), name, "group_type", group_type, "0, the rows of x")
    check(group_list_type in (0, 1), name, "group_list_type", group_list_type, "0 (ends) or 1 (counts)")
    check(group_list is not None, name, "group_list", None, "the rows of each expert")
    if not torch.is_tensor(group_list):
        group_list = torch.tensor(list(group_list), device=x[0].device)
    experts = weight[0].shape[0] if len(weight) == 1 else len(weight)
    check_shape(name, "group_list", group_list, [experts])
    rows = x[0]
    groups = _Groups(group_list, group_list_type, rows.shape[0], rows.device)
    columns = weight[0].shape[-1]
    if rows.device.type == "meta" or captured(rows):
        y = torch.zeros((rows.shape[0], columns), dtype=torch.float32, device=rows.device)
        for expert in range(experts):
            y = torch.where(groups.hidden(expert), y, _product(rows, expert, weight, scale, bias))
    else:
        lengths = groups.lengths()
        rest = rows.shape[0] - sum(lengths)
        parts = rows.split_with_sizes([*lengths, rest])[:-1]
        y = torch.cat([*(_product(part, expert, weight, scale, bias) for expert, part in enumerate(parts)),
                       torch.zeros((rest, columns), dtype=torch.float32, device=rows.device)])
    if per_token_scale is not None and len(per_token_scale):
        y = y * per_token_scale[0].float().reshape(-1, 1)
    plain = rows.dtype if rows.is_floating_point() else torch.float16
    return [y.to(dtype_of(name, output_dtype, plain))]


@define("npu_moe_token_unpermute")
def token_unpermute(permuted_tokens: Any, sorted_indices: Any, probs: Any = None, padded_mode: bool = False,
                    restore_shape: Any = None) -> Any:
    """Returns for each token the sum of its rows, weighed by probs. A row of a place below 0 is 0."""
    name = "npu_moe_token_unpermute"
    refuse(name, padded_mode=padded_mode)
    check(sorted_indices.dim() == 1, name, "sorted_indices", sorted_indices, "one dimension")
    experts = 1 if probs is None else probs.shape[1]
    check(sorted_indices.numel() % experts == 0, name, "sorted_indices", sorted_indices,
          f"a multiple of {experts} elements, the experts of a token")
    places = sorted_indices.long()
    check_places(name, "sorted_indices", places, permuted_tokens.shape[0], none=True)
    rows = permuted_tokens.index_select(0, places.clamp(min=0)).float()
    rows = rows.masked_fill((places < 0).unsqueeze(1), 0).unflatten(0, (-1, experts))
    if probs is not None:
        rows = rows * probs.float().unsqueeze(-1)
    return rows.sum(1).to(permuted_tokens.dtype)


@define("_npu_moe_token_unpermute")
def token_unpermute_and_tokens(permuted_tokens: Any, sorted_indices: Any, probs: Any = None,
                               padded_mode: bool = False, restore_shape: Any = None) -> tuple[Any, Any]:
    """What npu_moe_token_unpermute is where gradients may be wanted: also returns what these need."""
    y = token_unpermute(permuted_tokens, sorted_indices, probs, padded_mode, restore_shape)
    return y, permuted_tokens.clone()
