# SPDX-License-Identifier: Apache-2.0
"""Linear attention: the gated delta rule, by tokens and in chunks, and the convolution before it.

run.sh runs this file in each mode of ADVANCE_STEP_HOST_OPERATORS.
"""

import numpy as np
import pytest
import torch
from llm_cases import TYPES, near, random
from llm_custom import ops

from advance_step import _host_operators

native = pytest.mark.skipif(_host_operators.form() != "native", reason="the Python form captures nothing")
KEY_HEADS, HEADS, DK, DV = 2, 4, 8, 6


def plain(tensor):
    return tensor.double().numpy()


def test_gating():
    log, a, b, bias = random(3), random(4, 3, seed=1), random(4, 3, seed=2), random(3, seed=3)
    a[0, 0], a[1, 1] = 30, -30
    g, beta = ops.npu_fused_gdn_gating(log.npu(), a.npu(), b.npu(), bias.npu(), 0.5, 2.0)
    wanted = np.empty((1, 4, 3))
    for row, column in np.ndindex(4, 3):
        x = plain(a)[row, column] + plain(bias)[column]
        softplus = x if 0.5 * x > 2 else np.log(1 + np.exp(0.5 * x)) / 0.5
        wanted[0, row, column] = -np.exp(plain(log)[column]) * softplus
    near(g, wanted)
    near(beta, 1 / (1 + np.exp(-plain(b)))[None])


def delta_rule(query, key, value, state, g, beta, scale):
    """One head: results and the states [dv, dk] after each token."""
    results, states = [], []
    for q, k, v, decay, weight in zip(query, key, value, g, beta):
        state = np.exp(decay) * state
        state = state + weight * np.outer(v - state @ k, k)
        results.append(scale * (state @ q))
        states.append(state)
    return np.array(results), np.array(states)


class Tokens:
    def __init__(self, count, dtype=torch.float32):
        self.query, self.key = (random(count, KEY_HEADS, DK, seed=s, dtype=dtype) for s in (0, 1))
        self.value = random(count, HEADS, DV, seed=2, dtype=dtype)
        self.beta = torch.sigmoid(random(count, HEADS, seed=3)).to(dtype)
        self.g = -random(count, HEADS, seed=4).abs()
        self.key /= self.key.norm(dim=-1, keepdim=True)

    def run(self, state, rows, head, gates=True):
        """The rows of one head, from a state on."""
        of_key = head // (HEADS // KEY_HEADS)
        g, beta = (plain(t)[rows, head] if gates else np.full(len(rows), one) for t, one in ((self.g, 0), (self.beta, 1)))
        return delta_rule(plain(self.query)[rows, of_key], plain(self.key)[rows, of_key],
                          plain(self.value)[rows, head], state, g, beta, DK ** -0.5)

    def npu(self, *names):
        return [getattr(self, name).npu() for name in names]


def recurrent(tokens, state, lengths, places, accepted=None, gates=True):
    given = dict(zip(("g", "beta"), tokens.npu("g", "beta"))) if gates else {}
    if accepted is not None:
        given["num_accepted_tokens"] = accepted.npu()
    return ops.npu_recurrent_gated_delta_rule(
        *tokens.npu("query", "key", "value"), state, scale=DK ** -0.5 if gates else None,
        actual_seq_lengths=lengths.npu(), ssm_state_indices=places.npu(), **given)


@pytest.mark.parametrize("gates", (True, False))
@pytest.mark.parametrize("accepted", (None, (2, 1)))
def test_token_by_token(gates, accepted):
    for dtype in TYPES:
        tokens, state = Tokens(5, dtype), random(7, HEADS, DV, DK, seed=9, dtype=dtype)
        places = torch.tensor([3, 6, 1, 0, 5])
        npu = state.npu()
        out = recurrent(tokens, npu, torch.tensor([0, 2, 3]), places, gates=gates,
                        accepted=None if accepted is None else torch.tensor(accepted))
        results, states = np.zeros((5, HEADS, DV)), plain(state).copy()
        for number, rows in enumerate(([0, 1], [2, 3, 4])):
            first = places[rows[accepted[number] - 1 if accepted else 0]]
            for head in range(HEADS):
                one, after = tokens.run(plain(state)[first, head], rows, head, gates)
                results[rows, head] = one
                for row, each in zip(rows, after):
                    states[places[row], head] = each
        near(out, results, dtype)
        near(npu, states, dtype)


@native
def test_a_graph_is_replayed_with_other_lengths():
    tokens, state = Tokens(4), random(4, HEADS, DV, DK, seed=9)
    npu, kept = state.npu(), state.npu()
    lengths, places = torch.tensor([0, 1, 1]).npu(), torch.tensor([0, 1, -1, -1]).npu()
    graph = torch.npu.NPUGraph()
    inputs = [*tokens.npu("query", "key", "value"), npu]
    g, beta = tokens.npu("g", "beta")
    with torch.npu.graph(graph):
        out = ops.npu_recurrent_gated_delta_rule(*inputs, g=g, beta=beta, actual_seq_lengths=lengths,
                                                 ssm_state_indices=places)
    for new, slots in (([0, 1, 1], [2, 3, -1, -1]), ([0, 3, 1], [1, 0, 3, 2])):
        npu.copy_(kept)
        lengths.copy_(torch.tensor(new))
        places.copy_(torch.tensor(slots))
        graph.replay()
        other = kept.clone()
        wanted = ops.npu_recurrent_gated_delta_rule(*inputs[:3], other, g=g, beta=beta, actual_seq_lengths=lengths,
                                                    ssm_state_indices=places)
        assert torch.equal(out.cpu(), wanted.cpu()) and torch.equal(npu.cpu(), other.cpu())


def chunked(tokens, begin, end, size, state, head):
    """States before the chunks, their last one, and results, by the rule token by token."""
    before, results = [], []
    for at in range(begin, end, size):
        before.append(state.T)
        rows = list(range(at, min(at + size, end)))
        one, after = tokens.run(state, rows, head)
        results.append(one)
        state = after[-1]
    return before, state.T, np.concatenate(results)


@pytest.mark.parametrize("ends", (None, (0, 5, 12)))
def test_in_chunks(ends):
    """w and u are what the chunks' tokens make of each other, by the definition of the rule."""
    size, count = 4, 12
    tokens = Tokens(count)
    parts = [(a, b) for a, b in zip(ends, ends[1:])] if ends else [(0, count)]
    chunks = [(at, min(at + size, b)) for a, b in parts for at in range(a, b, size)]
    start = random(len(parts), HEADS, DK, DV, seed=8)
    w, u, sums = np.zeros((1, HEADS, count, DK)), np.zeros((1, HEADS, count, DV)), np.zeros((1, HEADS, count))
    for (begin, end), head in ((chunk, head) for chunk in chunks for head in range(HEADS)):
        keys, values = plain(tokens.key)[begin:end, head // 2], plain(tokens.value)[begin:end, head]
        gates, beta = np.cumsum(plain(tokens.g)[begin:end, head]), plain(tokens.beta)[begin:end, head]
        # From a state 0, and from unit states without values: new values are u - w S.
        rows = range(end - begin)
        for row in rows:
            others = range(row)
            w[0, head, begin + row] = beta[row] * (np.exp(gates[row]) * keys[row] - sum(
                (np.exp(gates[row] - gates[o]) * (keys[row] @ keys[o]) * w[0, head, begin + o] for o in others),
                np.zeros(DK)))
            u[0, head, begin + row] = beta[row] * (values[row] - sum(
                (np.exp(gates[row] - gates[o]) * (keys[row] @ keys[o]) * u[0, head, begin + o] for o in others),
                np.zeros(DV)))
        sums[0, head, begin:end] = gates
    g = torch.tensor(sums).float()
    k, q = (t.transpose(0, 1).unsqueeze(0).contiguous().npu() for t in (tokens.key, tokens.query))
    options = {"g": g.npu(), "chunk_size": size, "cu_seqlens": ends}
    h, new, last = ops.chunk_gated_delta_rule_fwd_h(
        k, torch.tensor(w).float().npu(), torch.tensor(u).float().npu(), initial_state=start.npu(),
        output_final_state=True, **options)
    out = ops.chunk_fwd_o(q, k, new, h, DK ** -0.5, **options)
    for head in range(HEADS):
        before, results = [], []
        for number, (begin, end) in enumerate(parts):
            states, final, one = chunked(tokens, begin, end, size, plain(start)[number, head].T, head)
            before += states
            results.append(one)
            near(last[number, head], final)
        near(h[0, head], np.array(before))
        near(out[0, head], np.concatenate(results))


def convolved(x, before, weight, bias, silu):
    """One sequence and the tokens before it."""
    whole, width = np.concatenate((before, x)), len(weight)
    rows = np.array([bias + sum(weight[tap] * whole[row + tap] for tap in range(width)) for row in range(len(x))])
    return rows / (1 + np.exp(-rows)) if silu else rows, whole


@pytest.mark.parametrize("silu", (0, 1))
@pytest.mark.parametrize("mode", ("prefill", "update", "drafted"))
def test_convolution(mode, silu):
    width, size, lengths, slots = 4, 5, (1, 3, 2), (4, 0, -1)
    x, weight, bias, state = random(7, 6), random(width, 6, seed=1), random(6, seed=2), random(5, size, 6, seed=3)
    starts = np.cumsum((0, *lengths))
    known, accepted = [False, True, True], [2, 3, 1]
    npu, out = state.npu(), torch.full((7, 6), 9.0, device="npu")
    y = ops.npu_causal_conv1d_custom(
        out, x.npu(), weight.npu(), npu, bias.npu(), torch.tensor(starts).npu(), torch.tensor(slots).npu(),
        torch.tensor(known).npu() if mode == "prefill" else None,
        torch.tensor(accepted).npu() if mode == "drafted" else None, silu, -1, int(mode != "prefill"))
    wanted, states = np.zeros((7, 6)), plain(state).copy()
    for number, slot in enumerate(slots):
        rows = slice(starts[number], starts[number + 1])
        first = accepted[number] - 1 if mode == "drafted" else 0
        before = plain(state)[slot, first:first + width - 1]
        if mode == "prefill" and not known[number]:
            before = np.zeros_like(before)
        if slot >= 0:
            wanted[rows], whole = convolved(plain(x)[rows], before, plain(weight), plain(bias), silu)
            new = whole[1:] if mode == "drafted" else whole[1 - width:]
            states[slot, :len(new)] = new[:size]
    near(y, wanted)
    near(npu, states)
    assert y.data_ptr() == out.data_ptr()


def test_shapes_without_data():
    tokens = Tokens(5)
    meta = [t.to("meta") for t in (tokens.query, tokens.key, tokens.value, random(7, HEADS, DV, DK))]
    out = ops.npu_recurrent_gated_delta_rule(*meta, actual_seq_lengths=torch.zeros(3, dtype=torch.int64, device="meta"),
                                             ssm_state_indices=torch.zeros(5, dtype=torch.int64, device="meta"))
    assert out.shape == (5, HEADS, DV)
    g, beta = ops.npu_fused_gdn_gating(*(t.to("meta") for t in (random(3), random(4, 3), random(4, 3), random(3))))
    assert g.shape == beta.shape == (1, 4, 3)
    k, u = random(1, 2, 8, DK).to("meta"), random(1, 4, 8, DV).to("meta")
    h, new, last = ops.chunk_gated_delta_rule_fwd_h(k, k, u, chunk_size=4)
    assert [t.shape for t in (h, new, last)] == [(1, 4, 2, DK, DV), u.shape, (1, 4, DK, DV)]
    assert ops.chunk_fwd_o(k, k, u, h, 1.0, chunk_size=4).shape == u.shape


STATE, ONES, I2 = torch.ones(3, HEADS, DV, DK), torch.ones(2, KEY_HEADS, DK), torch.zeros(2, dtype=torch.int64)
VALUE, X = torch.ones(2, HEADS, DV), torch.ones(2, 4)
GIVEN = {"query": ONES, "key": ONES, "value": VALUE, "state": STATE, "actual_seq_lengths": I2, "ssm_state_indices": I2}
CONV = {"output": X, "x": X, "weight": X, "conv_state": torch.ones(3, 1, 4), "bias_opt": None, "query_start_loc_opt": I2,
        "cache_indices_opt": I2[:1], "initial_state_mode_opt": None, "num_accepted_tokens_opt": None}


def npu_of(given):
    return {name: each.npu() if torch.is_tensor(each) else each for name, each in given.items()}


@pytest.mark.parametrize("operator, change, text", (
    ("npu_recurrent_gated_delta_rule", {"key": ONES[:1]}, "key is"),
    ("npu_recurrent_gated_delta_rule", {"value": VALUE[:, :3]}, "value is"),
    ("npu_recurrent_gated_delta_rule", {"state": STATE[..., :3]}, "state is"),
    ("npu_recurrent_gated_delta_rule", {"beta": X}, "beta is|g is"),
    ("npu_recurrent_gated_delta_rule", {"ssm_state_indices": I2[:1]}, "ssm_state_indices is"),
    ("npu_causal_conv1d_custom", {"weight": X[:, :3]}, "weight is"),
    ("npu_causal_conv1d_custom", {"conv_state": torch.ones(3, 0, 4)}, "conv_state is"),
    ("npu_causal_conv1d_custom", {"query_start_loc_opt": I2[:1]}, "query_start_loc_opt is"),
    ("npu_causal_conv1d_custom", {"num_accepted_tokens_opt": I2}, "num_accepted_tokens_opt is"),
))
def test_wrong_arguments_are_named(operator, change, text):
    given = {**(GIVEN if "delta" in operator else CONV), **change}
    modes = {} if "delta" in operator else {"activation_mode": 1, "pad_slot_id": -1, "run_mode": 0}
    if operator == "npu_recurrent_gated_delta_rule" and "beta" in change:
        given["beta"] = torch.ones(2, 3)
    with pytest.raises(ValueError, match=f"^{operator}: ({text})"):
        getattr(ops, operator)(**npu_of(given), **modes)
