# SPDX-License-Identifier: Apache-2.0
"""Operators that write several tensors: one that is wrong is refused before any is written.

run.sh runs this file in each mode of ADVANCE_STEP_HOST_OPERATORS.
"""

import pytest
import torch
import torch_npu
from llm_cases import random

from advance_step import _host_operators

SLOTS = torch.tensor([3, 31, 0])
extension = pytest.mark.skipif(_host_operators.form() == "python",
                               reason="the extension has the operator")


def caches_of(memory):
    """Two caches of 4 blocks of 8, side by side."""
    return [part.view(4, 8, 2, 16) for part in memory.view(2, -1)]


def scatter(**change):
    """Calls npu_scatter_pa_kv_cache with zeroed caches; returns all arguments."""
    memory = torch.zeros(2 * 4 * 8 * 2 * 16, device="npu")
    key_cache, value_cache = caches_of(memory)
    given = {"key": random(3, 2, 16).npu(), "value": random(3, 2, 16, seed=1).npu(),
             "key_cache": key_cache, "value_cache": value_cache, "slot_mapping": SLOTS.npu()}
    given.update({name: make(given, memory) for name, make in change.items()})
    try:
        torch_npu.npu_scatter_pa_kv_cache(**given, cache_mode="Norm")
    finally:
        torch.npu.synchronize()
        given["memory"] = memory.cpu()
    return given


WRONG = {
    "expanded key_cache": ("key_cache", lambda g, m: m[:256].view(1, 8, 2, 16).expand(4, 8, 2, 16)),
    "expanded value_cache": ("value_cache", lambda g, m: m[1024:1280].view(1, 8, 2, 16).expand(4, 8, 2, 16)),
    "the same cache": ("value_cache", lambda g, m: g["key_cache"]),
    "caches that overlap": ("value_cache", lambda g, m: m[512:1536].view(4, 8, 2, 16)),
    "rows in the cache": ("value", lambda g, m: m[1024:1120].view(3, 2, 16)),
    "keys in the other cache": ("key", lambda g, m: m[1024:1120].view(3, 2, 16)),
    "value_cache of cpu": ("value_cache", lambda g, m: torch.zeros(4, 8, 2, 16)),
    "slots of cpu": ("slot_mapping", lambda g, m: SLOTS),
    "dtype of value_cache": ("value_cache", lambda g, m: g["value_cache"].half()),
    "blocks of value_cache": ("value_cache", lambda g, m: g["value_cache"][:3]),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_cache_that_cannot_be_written_leaves_the_other_one(name, monkeypatch):
    argument, make = WRONG[name]
    seen = []
    zeros = torch.zeros
    monkeypatch.setattr(torch, "zeros", lambda *a, **k: seen.append(zeros(*a, **k)) or seen[-1])
    with pytest.raises(ValueError, match=r"^npu_scatter_pa_kv_cache: \w+_cache (is|overlaps)|"
                       rf"^npu_scatter_pa_kv_cache: {argument} is "):
        scatter(**{argument: make})
    assert not any(tensor.any() for tensor in seen)


def test_caches_in_one_memory_are_written():
    """Engines keep both in one tensor: side by side, or by turns."""
    given = scatter()
    for name in ("key", "value"):
        flat = given[f"{name}_cache"].view(32, 2, 16)
        assert torch.equal(flat[SLOTS.npu()].cpu(), given[name].cpu())
    turns = torch.zeros(4, 2, 8, 2, 16, device="npu")
    given = scatter(key_cache=lambda g, m: turns[:, 0], value_cache=lambda g, m: turns[:, 1])
    for at, name in enumerate(("key", "value")):
        assert torch.equal(turns[SLOTS // 8, at, SLOTS % 8].cpu(), given[name].cpu())


DIRECT = {
    "expanded": lambda m: (m[:1].expand(4, 8, 3), torch.zeros(4, 8, 3), None, None, SLOTS),
    "value_cache expanded": lambda m: (m, torch.zeros(1, 8, 3).expand(4, 8, 3), None, None, SLOTS),
    "the same": lambda m: (m, m, None, None, SLOTS),
    "rank of value_cache": lambda m: (m, torch.zeros(4), None, None, SLOTS),
    "shape of value_cache": lambda m: (m, torch.zeros(4, 8, 5), None, None, SLOTS),
    "blocks of value_cache": lambda m: (m, torch.zeros(3, 8, 3), None, None, SLOTS),
    "dtype of value_cache": lambda m: (m, torch.zeros(4, 8, 3).half(), None, None, SLOTS),
    "rows of value": lambda m: (m, torch.zeros(4, 8, 3), None, torch.ones(2, 3), SLOTS),
    "rows of key": lambda m: (m, torch.zeros(4, 8, 3), torch.ones(1, 3), None, SLOTS),
    "slots of two dimensions": lambda m: (m, torch.zeros(4, 8, 3), None, None, SLOTS.view(3, 1)),
    "slots that are no integers": lambda m: (m, torch.zeros(4, 8, 3), None, None, SLOTS.float()),
    "value in key_cache": lambda m: (m, torch.zeros(4, 8, 3), None, m.view(-1, 3)[:3], SLOTS),
}


@extension
@pytest.mark.parametrize("device", ("cpu", "npu"))
@pytest.mark.parametrize("name", DIRECT)
def test_the_operator_of_the_extension_checks_before_it_writes(name, device):
    memory = torch.zeros(4, 8, 3, device=device)
    ones = torch.ones(3, 3)
    key_cache, value_cache, key, value, slots = DIRECT[name](memory)
    given = [key_cache, value_cache, *(ones if each is None else each for each in (key, value)), slots]
    placed = [each if each.device.type == device else each.to(device) for each in given]
    if "expanded" in name and device == "npu":
        placed[1] = torch.zeros(1, 8, 3).npu().expand(4, 8, 3)
    with pytest.raises((ValueError, RuntimeError), match="scatter_rows_: .*expected"):
        torch.ops.advance_step.scatter_rows_(*placed)
        torch.npu.synchronize()
    assert not memory.any() and not placed[1].any()


def attention(out):
    query = random(1, 2, 3, 16).npu()
    return torch_npu.npu_fused_infer_attention_score.out(
        query, query, query, num_heads=2, input_layout="BNSD", softmax_lse_flag=True, out=out)


def test_a_wrong_out_leaves_the_others():
    memory = torch.zeros(200, device="npu")
    first, second = memory[:96].view(1, 2, 3, 16), memory[96:102].view(1, 2, 3, 1)
    # What the composition of the Python form says, and what torch_npu's own code or the aclnn function does.
    for wrong, text, other in (
            (second.half(), r"out\[1\] is a float16", "softmaxLse is not of ACL_FLOAT"),
            (second[:, :1], r"out\[1\] is a fl", r"softmaxLse has shape \[1, 1, 3, 1\]"),
            (second[:, :1].expand(1, 2, 3, 1), r"out\[1\] is .*not those of expand", "softmaxLse has stride 0"),
            (memory[:6].view(1, 2, 3, 1), r"out\[0\] is .*overlaps out\[1\]", "softmaxLse overlaps attentionOut"),
            (memory[95:101].view(1, 2, 3, 1), r"out\[0\] is .*overlaps out\[1\]", "softmaxLse overlaps attentionOut"),
            (torch.zeros(1, 2, 3, 1), r"out\[1\] is on cpu", "softmax_lse is on cpu")):
        with pytest.raises((ValueError, RuntimeError), match=rf"^npu_fused_infer_attention_score: {text}|{other}"):
            attention([first, wrong])
            torch.npu.synchronize()
        assert not memory.any()
    attention([first, second])
    assert memory[:102].all() and not memory[102:].any()


def test_sums_and_norms_are_not_written_to_one_memory():
    memory, gamma = random(2, 8).npu(), random(8, seed=1).npu()
    before = memory.cpu()
    for x1, x2, name in ((memory, memory, "x1"), (memory, random(1, 8).npu().expand(2, 8), "x2"),
                         (memory[:1], memory.view(-1)[4:12].view(1, 8), "x1")):
        with pytest.raises(ValueError, match=f"^npu_add_rms_norm_v2: {name} is "):
            torch_npu.npu_add_rms_norm_v2(x1, x2, gamma)
        assert torch.equal(memory.cpu(), before)
