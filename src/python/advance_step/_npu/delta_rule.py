# SPDX-License-Identifier: Apache-2.0
"""The gated delta rule of linear attention: each request and head has a state that tokens change.

With the gate a = exp(g) a token makes of the state S [dv, dk] first S' = a S and then
S' + beta (v - S' k) kT, and its result is S q. In chunks, with g summed within each chunk, states are [dk, dv].
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from .cache import check_places, write_rows
from .checks import check, check_floating, check_shape, check_written, refuse
from .table import define

torch: Any = importlib.import_module("torch")


@define("_C_ascend::npu_fused_gdn_gating")
def fused_gating(A_log: Any, a: Any, b: Any, dt_bias: Any, beta: float = 1.0,
                 threshold: float = 20.0) -> tuple[Any, Any]:
    """Returns g = -exp(A_log) softplus(a + dt_bias) in float32, and sigmoid(b), both [1, tokens, heads]."""
    name = "npu_fused_gdn_gating"
    check_floating(name, A_log=A_log, a=a, b=b, dt_bias=dt_bias)
    check(a.dim() == 2, name, "a", a, "[tokens, heads]")
    check_shape(name, "b", b, a.shape)
    check_shape(name, "A_log", A_log, a.shape[1:])
    check_shape(name, "dt_bias", dt_bias, a.shape[1:])
    softplus = torch.nn.functional.softplus(a.float() + dt_bias.float(), beta, threshold)
    return (-torch.exp(A_log.float()) * softplus).unsqueeze(0), torch.sigmoid(b.float()).to(b.dtype).unsqueeze(0)


def _check_recurrent(name: str, query: Any, key: Any, value: Any, state: Any, gates: dict[str, Any]) -> None:
    check_floating(name, query=query, key=key, value=value, state=state)
    check(query.dim() == 3, name, "query", query, "[tokens, heads of keys, dk]")
    check_shape(name, "key", key, query.shape)
    check(value.dim() == 3 and value.shape[0] == query.shape[0] and value.shape[1] % query.shape[1] == 0, name,
          "value", value, f"[{query.shape[0]}, a multiple of {query.shape[1]} heads, dv]")
    check(state.dim() == 4, name, "state", state, "[states, heads, dv, dk]")
    check_shape(name, "state", state, [state.shape[0], *value.shape[1:], query.shape[2]])
    for which, gate in gates.items():
        if gate is not None:
            check_shape(name, which, gate, value.shape[:2])


def _step(state: Any, query: Any, key: Any, value: Any, decay: Any, beta: Any) -> tuple[Any, Any]:
    """Returns the state after one token, and its result."""
    state = state if decay is None else state * decay.reshape(-1, 1, 1)
    change = value - (state @ key.unsqueeze(-1)).squeeze(-1)
    change = change if beta is None else change * beta.unsqueeze(-1)
    state = state + change.unsqueeze(-1) * key.unsqueeze(1)
    return state, (state @ query.unsqueeze(-1)).squeeze(-1)


@define("_C_ascend::npu_recurrent_gated_delta_rule")
def recurrent(query: Any, key: Any, value: Any, state: Any, *, beta: Any = None, scale: float | None = None,
              actual_seq_lengths: Any = None, ssm_state_indices: Any = None, num_accepted_tokens: Any = None,
              g: Any = None, gk: Any = None) -> Any:
    """Returns the results of the tokens, and writes the state after each to its place of ssm_state_indices.
    A request begins with the state of its last accepted token, or of its first one. actual_seq_lengths is the
    first token, then the length of each request. The steps do not depend on a length, so that a graph can be
    replayed with others; a token of no request has the result 0."""
    name = "npu_recurrent_gated_delta_rule"
    refuse(name, gk=gk)
    _check_recurrent(name, query, key, value, state, {"g": g, "beta": beta})
    tokens = query.shape[0]
    for which, given in (("actual_seq_lengths", actual_seq_lengths), ("ssm_state_indices", ssm_state_indices)):
        check(given is not None, name, which, given, "a tensor")
    requests = actual_seq_lengths.shape[0] - 1
    check(requests > 0, name, "actual_seq_lengths", actual_seq_lengths, "[requests + 1]")
    check(ssm_state_indices.dim() == 1 and ssm_state_indices.shape[0] >= tokens, name, "ssm_state_indices",
          ssm_state_indices, f"[at least {tokens} tokens]")
    check_written(name, {"state": state}, {"query": query, "key": key, "value": value})
    bounds = actual_seq_lengths.long().cumsum(0)
    token = torch.arange(tokens, device=query.device)
    request = torch.searchsorted(bounds[1:], token, right=True).clamp(max=requests - 1)
    begin = bounds.index_select(0, request)
    inside = (token >= begin) & (token < bounds[-1])
    places = torch.where(inside, ssm_state_indices[:tokens].long(), -1)
    check_places(name, "ssm_state_indices", places, state.shape[0], none=True)
    source = begin
    if num_accepted_tokens is not None:
        check_shape(name, "num_accepted_tokens", num_accepted_tokens, [requests])
        source = begin + num_accepted_tokens.long().index_select(0, request) - 1
    first = ssm_state_indices.long().index_select(0, source.clamp(0, ssm_state_indices.shape[0] - 1)).clamp(min=0)
    check_places(name, "ssm_state_indices", first, state.shape[0])
    return _run(query, key, value, state, beta, g, key.shape[-1] ** -0.5 if scale is None else scale,
                (places, first, token == begin))


def _run(query: Any, key: Any, value: Any, state: Any, beta: Any, g: Any, scale: float,
         order: tuple[Any, Any, Any]) -> Any:
    """One token after the other. order: the place of each token's state, that of its request's first state,
    and whether the request begins with it."""
    places, first, begins = order
    share = value.shape[1] // query.shape[1]
    queries = (query.float() * scale).repeat_interleave(share, 1)
    keys, values = key.float().repeat_interleave(share, 1), value.float()
    decays = None if g is None else torch.exp(g.float())
    betas = None if beta is None else beta.float()
    current = torch.zeros(state.shape[1:], dtype=torch.float32, device=query.device)
    results = []
    for token in range(query.shape[0]):
        begun = state.index_select(0, first[token:token + 1])[0].float()
        current = torch.where(begins[token], begun, current)
        current, result = _step(current, queries[token], keys[token], values[token],
                                None if decays is None else decays[token], None if betas is None else betas[token])
        results.append(torch.where(places[token] >= 0, result, 0))
        write_rows(state, current.unsqueeze(0), places[token:token + 1])
    return torch.stack(results).to(query.dtype) if results else value.new_empty(value.shape, dtype=query.dtype)


def _chunks(name: str, tokens: int, size: Any, cu_seqlens: Any) -> list[list[tuple[int, int]]]:
    """Returns [begin, end) of each chunk of each sequence."""
    check(size is None or size > 0, name, "chunk_size", size, "a positive number")
    length = 64 if size is None else size
    ends = list(cu_seqlens) if cu_seqlens else [0, tokens]
    check(ends[0] == 0 and ends[-1] <= tokens and ends == sorted(ends), name, "cu_seqlens", ends,
          f"numbers from 0 on that do not fall, up to {tokens}")
    return [[(at, min(at + length, end)) for at in range(begin, end, length)] for begin, end in zip(ends, ends[1:])]


def _check_chunks(name: str, first: str, keys: Any, values: Any, g: Any) -> None:
    check(keys.dim() == 4, name, first, keys, "[batch, heads of keys, tokens, dk]")
    check(values.dim() == 4 and values.shape[0] == keys.shape[0] and values.shape[2] == keys.shape[2]
          and values.shape[1] % keys.shape[1] == 0, name, "v" if first == "q" else "u", values,
          f"[{keys.shape[0]}, a multiple of {keys.shape[1]} heads, {keys.shape[2]}, dv]")
    if g is not None:
        check_shape(name, "g", g, values.shape[:3])


@define("_C_ascend::chunk_gated_delta_rule_fwd_h")
def chunk_states(k: Any, w: Any, u: Any, g: Any = None, *, gk: Any = None, initial_state: Any = None,
                 output_final_state: bool | None = False, chunk_size: int | None = None,
                 save_new_value: bool | None = True, cu_seqlens: Sequence[int] | None = None,
                 chunk_indices: Sequence[int] | None = None, use_exp2: bool | None = False,
                 transpose_state_layout: bool | None = False) -> tuple[Any, Any, Any]:
    """Returns the state [dk, dv] before each chunk, v = u - w S, and the last state of each sequence. With
    cu_seqlens the batch is 1. chunk_indices, which follow from it, are not read."""
    name = "chunk_gated_delta_rule_fwd_h"
    refuse(name, gk=gk, use_exp2=use_exp2, transpose_state_layout=transpose_state_layout)
    check_floating(name, k=k, w=w, u=u)
    _check_chunks(name, "k", k, u, g)
    heads, share = u.shape[1], u.shape[1] // k.shape[1]
    check(w.dim() == 4 and w.shape[1] in (heads, k.shape[1]) and w.shape[::2] == k.shape[::2]
          and w.shape[3] == k.shape[3], name, "w", w, f"[{k.shape[0]}, {heads}, {k.shape[2]}, {k.shape[3]}]")
    check(not cu_seqlens or k.shape[0] == 1, name, "k", k, "a batch of 1, as there are cu_seqlens")
    sequences = _chunks(name, k.shape[2], chunk_size, cu_seqlens)
    count = len(sequences) if cu_seqlens else k.shape[0]
    size = [count, heads, k.shape[3], u.shape[3]]
    if initial_state is not None:
        check_shape(name, "initial_state", initial_state, size)
    keys = k.float().repeat_interleave(share, 1)
    weights = w.float().repeat_interleave(heads // w.shape[1], 1)
    first = torch.zeros(size, dtype=torch.float32, device=k.device) if initial_state is None else initial_state.float()
    news = u.float().clone()
    before, last = [], []
    for number, chunks in enumerate(sequences):
        state = first[number:number + 1] if cu_seqlens else first
        for begin, end in chunks:
            before.append(state)
            new = news[:, :, begin:end] - weights[:, :, begin:end] @ state
            news[:, :, begin:end] = new
            if g is not None:
                sums = g[:, :, begin:end].float()
                new = new * torch.exp(sums[:, :, -1:] - sums).unsqueeze(-1)
                state = state * torch.exp(sums[:, :, -1]).reshape(*sums.shape[:2], 1, 1)
            state = state + keys[:, :, begin:end].transpose(2, 3) @ new
        last.append(state)
    states = torch.stack(before, 2) if before else first.unsqueeze(2)[:, :, :0]
    return states.to(k.dtype), news.to(u.dtype), torch.cat(last)


@define("_C_ascend::chunk_fwd_o")
def chunk_results(q: Any, k: Any, v: Any, h: Any, scale: float, *, g: Any = None, g_gamma: Any = None,
                  cu_seqlens: Sequence[int] | None = None, chunk_indices: Sequence[int] | None = None,
                  chunk_size: int | None = None, transpose_state_layout: bool | None = False) -> Any:
    """Returns scale * (attention within the chunk to v, with gates, + exp(g) q S), of the states S before the
    chunks, which are [batch, heads, chunks, dk, dv], or with the last three as rows."""
    name = "chunk_fwd_o"
    refuse(name, g_gamma=g_gamma, transpose_state_layout=transpose_state_layout)
    check_floating(name, q=q, k=k, v=v, h=h)
    _check_chunks(name, "q", q, v, g)
    check_shape(name, "k", k, q.shape)
    chunks = sum(_chunks(name, q.shape[2], chunk_size, cu_seqlens), [])
    size = [*v.shape[:2], len(chunks), q.shape[3], v.shape[3]]
    check(h.numel() == v.shape[0] * v.shape[1] * len(chunks) * q.shape[3] * v.shape[3] and h.shape[:2] == v.shape[:2],
          name, "h", h, f"shape {size}")
    states, share = h.float().reshape(size), v.shape[1] // q.shape[1]
    queries, keys, values = q.float().repeat_interleave(share, 1), k.float().repeat_interleave(share, 1), v.float()
    out = torch.zeros_like(values)
    for number, (begin, end) in enumerate(chunks):
        part = queries[:, :, begin:end]
        inside = part @ keys[:, :, begin:end].transpose(2, 3)
        outside = part @ states[:, :, number]
        if g is not None:
            sums = g[:, :, begin:end].float()
            inside = inside * torch.exp((sums.unsqueeze(3) - sums.unsqueeze(2)).clamp(max=0))
            outside = outside * torch.exp(sums).unsqueeze(-1)
        out[:, :, begin:end] = scale * (inside.tril() @ values[:, :, begin:end] + outside)
    return out.to(v.dtype)
