# SPDX-License-Identifier: Apache-2.0
"""The table of `npu` operators: decorator, missing operators, pairs that stay, trace."""

import json
import os

import pytest
import torch
import torch_npu

import advance_step.torch_npu
from advance_step._npu import table

SINGLE = os.environ.get("ADVANCE_STEP_HOST_OPERATORS") in (None, "", "1")
own_program = pytest.mark.skipif(not SINGLE, reason="its programs choose the mode themselves")


def test_a_missing_operator_names_itself_and_the_line_that_defines_it():
    x = torch.ones(3, device="npu", requires_grad=True)
    for call, name in ((lambda: torch_npu.npu_mish(x), "npu_mish"),
                       (lambda: torch.ops.npu.npu_reshape.out(x.detach(), [3], out=x.detach()),
                        "npu_reshape.out"),
                       (lambda: torch_npu.npu_moe_compute_expert_tokens(x.detach().int(), 2), "npu_moe_compute_expert_tokens")):
        with pytest.raises(NotImplementedError, match=rf'^npu::{name} is not there.*'
                           rf'@advance_step.torch_npu.operator\("{name}"\)$'):
            call()
    torch.npu.synchronize()


def test_an_operator_without_tensors_is_missing_too_and_events_go_on():
    """By its name, in torch_npu's queue, it would end that: no event would be recorded any more."""
    with pytest.raises(NotImplementedError, match="^npu::obfuscation_initialize is not there"):
        torch.ops.npu.obfuscation_initialize(64, 0, 1)
    event = torch.npu.Event()
    event.record(torch.npu.Stream())
    event.synchronize()
    assert event.query()
    assert torch_npu.empty_with_format((2, 3), device="npu", dtype=torch.float16).shape == (2, 3)


def test_the_decorator_defines_an_operator_also_in_a_graph():
    @advance_step.torch_npu.operator("npu_fast_gelu")
    def fast_gelu(input):
        return input * torch.sigmoid(1.702 * input)

    @advance_step.torch_npu.operator("npu::npu_fast_gelu_backward")
    def fast_gelu_backward(grad, input):
        sigmoid = torch.sigmoid(1.702 * input)
        return grad * sigmoid * (1 + 1.702 * input * (1 - sigmoid))

    cpu = torch.linspace(-2, 2, 7, requires_grad=True)
    npu = cpu.detach().npu().requires_grad_()
    wanted = cpu * torch.sigmoid(1.702 * cpu)
    found = torch_npu.npu_fast_gelu(npu)
    assert torch.allclose(found.cpu(), wanted)
    found.sum().backward()
    wanted.sum().backward()
    assert torch.allclose(npu.grad.cpu(), cpu.grad)

    @advance_step.torch_npu.operator("npu_fast_gelu")
    def another(input):
        return input + 1

    assert torch.equal(torch_npu.npu_fast_gelu(npu.detach()).cpu(), cpu.detach() + 1)


def test_an_operator_without_tensors_is_missing_by_name_and_can_be_defined():
    def call():
        return torch.ops.npu.obfuscation_initialize(1, 2, 3)

    for _ in range(2):
        with pytest.raises(NotImplementedError, match="^npu::obfuscation_initialize is not there"):
            call()
    event = torch.npu.Event()
    event.record()
    event.synchronize()  # nothing has reached the device

    @advance_step.torch_npu.operator("obfuscation_initialize")
    def initialize(hidden_size, tp_rank, cmd, **others):
        return torch.full((hidden_size,), cmd, device="npu")

    assert call().tolist() == [3]


def test_the_decorator_refuses_names():
    for name in (None, 3, b"npu_fast_gelu"):
        with pytest.raises(TypeError, match="operator: name is of type .*; expected a str"):
            advance_step.torch_npu.operator(name)
    with pytest.raises(TypeError, match="operator: the definition of npu_fast_gelu is of type int"):
        advance_step.torch_npu.operator("npu_fast_gelu")(3)
    with pytest.raises(ValueError, match="no operator npu::npu_fast_gelo; expected"):
        advance_step.torch_npu.operator("npu_fast_gelo")(lambda: None)
    with pytest.raises(ValueError, match="no operator npu::npu_max; expected one of npu::npu_max.dim"):
        advance_step.torch_npu.operator("npu_max")(lambda: None)
    with pytest.raises(ValueError, match="npu_advance_step_flashattn is computed by an aclnn function"):
        advance_step.torch_npu.operator("npu_advance_step_flashattn")(lambda: None)


@pytest.mark.parametrize("pair, operators", (
    ("rms_norm", ("npu_rms_norm",)), ("fused_infer_attention_score_v3", (
        "npu_fused_infer_attention_score", "npu_fused_infer_attention_score_v2.out")),
    ("swi_glu", ("npu_swiglu",)), ("ge_glu_v3", ("npu_geglu",)), ("ge_glu_v3_backward", ("npu_geglu_grad",)),
    ("rotary_position_embedding", ("npu_rotary_mul",)),
    ("scatter_pa_kv_cache", ("npu_scatter_pa_kv_cache",))))
def test_a_pair_of_the_user_is_not_replaced(pair, operators, monkeypatch):
    assert not any(table.has_pair(name) for name in operators)
    monkeypatch.setattr(table, "_pairs", lambda: {pair})
    assert all(table.has_pair(name) for name in operators)
    assert not table.has_pair("npu_rms_norm_backward") and not table.has_pair("npu_mish")


@own_program
def test_definitions_before_torch_and_without_host_operators(program):
    text = """
import advance_step.torch_npu

@advance_step.torch_npu.operator("npu_rms_norm")
def mine(input, gamma, epsilon=1e-6):
    return input + 5, gamma

import torch, torch_npu
try:
    print(torch_npu.npu_rms_norm(torch.ones(2).npu(), torch.ones(2).npu())[0].tolist())
except RuntimeError as error:
    print(str(error).splitlines()[0])
"""
    assert program.code(text).stdout == "[6.0, 6.0]\n"
    assert "RmsNorm" in program.code(text, ADVANCE_STEP_HOST_OPERATORS="0").stdout


@own_program
def test_the_trace_has_host_operators_by_name_beside_advance_step(program):
    text = f"""
import sys
sys.path[:0] = {[path for path in __import__("sys").path if "tests" in path]!r}
from decode import Decode, torch, torch_npu
decode = Decode.steady(1)
stream = torch.npu.Stream()
torch.npu.synchronize()
with torch.npu.stream(stream):
    decode.launch()
    positions = decode.tensors[2] * 2  # as idle as the stream may be, it is in the trace
    x = torch.ones(4, 8, device="npu")
    torch_npu.npu_scatter_pa_kv_cache(x[:, None], x[:, None], torch.zeros(2, 4, 1, 8, device="npu"),
        torch.zeros(2, 4, 1, 8, device="npu"), decode.tensors[5][:4, 0] * 0, cache_mode="Norm")
    stream.synchronize()
"""
    program.code(text, ADVANCE_STEP_TRACE="trace.json", ADVANCE_STEP_HOST_OPERATORS=None)
    with open(program.folder / "trace.json", encoding="utf-8") as file:
        slices = [event for event in json.load(file)["traceEvents"] if event["ph"] == "X"]
    step = next(event for event in slices if event["name"] == "aclnnAdvanceStep"
                and event["cat"] == "kernel")
    track = sorted((event for event in slices if event["tid"] == step["tid"]), key=lambda e: e["ts"])
    names = [event["name"] for event in track]
    places = [names.index(name) for name in (
        "aclnnAdvanceStep", "aten::mul.Tensor", "npu::npu_scatter_pa_kv_cache")]
    assert places == sorted(places)
    assert {event["cat"] for event in track if event["name"].startswith(("aten::", "npu::"))} == {"kernel"}
    tracks = {event["name"] for event in slices if event["tid"] != step["tid"]}
    assert "aten::mul.Tensor" not in tracks
