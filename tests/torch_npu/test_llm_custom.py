# SPDX-License-Identifier: Apache-2.0
"""torch.ops._C_ascend: how the operators get there, norms, LoRA, rows and blocks of caches.

run.sh runs this file in each mode of ADVANCE_STEP_HOST_OPERATORS.
"""

import inspect
import os
import pathlib

import llm_reference as reference
import numpy as np
import pytest
import torch
from llm_cases import TYPES, near, random
from llm_custom import ops

import advance_step.torch_npu
from advance_step import _host_operators
from advance_step._npu import table
from advance_step._vllm import custom_operators

SINGLE = os.environ.get("ADVANCE_STEP_HOST_OPERATORS") in (None, "", "1")
own_program = pytest.mark.skipif(not SINGLE, reason="its programs choose the mode themselves")
native = pytest.mark.skipif(_host_operators.form() != "native", reason="the Python form captures nothing")


@pytest.fixture(params=TYPES, ids=lambda dtype: str(dtype).replace("torch.", ""))
def dtype(request):
    return request.param


def test_schemas_are_read_from_the_texts_of_a_file(tmp_path):
    data = b"f(Tensor x) -> Tensor\0\0g.out(Tensor x,\n   *, Tensor(a!) out) -> Tensor(a!)\0h(int x)\0k() -> ()"
    assert custom_operators.schemas(b"\0" + data) == ["f(Tensor x) -> Tensor",
                                                     "g.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)"]
    file = tmp_path / "vllm_ascend_C.so"
    file.write_bytes(b"\0not(a schema -> at all)\0")
    with pytest.raises(ImportError, match="vllm_ascend_C.so has no schema of an operator; expected"):
        custom_operators.Loader(str(file)).exec_module(None)


def test_an_operator_without_a_definition_names_itself_until_it_has_one():
    x = torch.ones(2, device="npu")
    for device in ("npu", "meta"):
        with pytest.raises(NotImplementedError, match=r"^_C_ascend::device_print_tensor is not there.*"
                           r'operator\("_C_ascend::device_print_tensor"\)$'):
            ops.device_print_tensor(x.to(device))
    with pytest.raises(ValueError, match="vllm-ascend has no operator _C_ascend::nothing; expected"):
        advance_step.torch_npu.operator("_C_ascend::nothing")(lambda: None)

    @advance_step.torch_npu.operator("_C_ascend::device_print_tensor")
    def doubled(tensor):
        tensor.mul_(2)

    ops.device_print_tensor(x)
    assert x.tolist() == [2, 2]


def parameters(full, function):
    """Yields what differs between the parameters of a function and the schema of its operator. torch leaves
    out an argument that has the schema's default."""
    taken = inspect.signature(function).parameters
    rest = any(parameter.kind == parameter.VAR_KEYWORD for parameter in taken.values())
    for argument in table._overload(torch, full)._schema.arguments:
        parameter = taken.get(argument.name)
        if parameter is None and not rest:
            yield f"{full} does not take {argument.name}"
        elif parameter is not None and argument.has_default_value():
            if (parameter.default or None) != (argument.default_value or None):
                yield f"{full} has {argument.name}={parameter.default}; the schema has {argument.default_value}"


def test_functions_have_the_defaults_of_the_schemas():
    mine = {full: function for full, function in table._functions.items()
            if function.__module__.startswith("advance_step.") and "get_max_workspace" not in full
            and "get_workspace" not in full}
    assert len(mine) > 60
    assert [line for full, function in mine.items() for line in parameters(full, function)] == []


@own_program
def test_a_definition_before_the_operators_are_there_is_kept(program):
    text = f"""
import sys
import advance_step.torch_npu

@advance_step.torch_npu.operator("_C_ascend::npu_gemma_rms_norm")
def mine(x, gamma, epsilon=1e-6):
    return x + 1, gamma

sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})
import llm_custom, torch
for device in ("npu", "meta"):
    y, _ = llm_custom.ops.npu_gemma_rms_norm(torch.ones(2, device=device), torch.ones(2, device=device))
    print(y.tolist() if device == "npu" else list(y.shape))
"""
    assert program.code(text).stdout == "[2.0, 2.0]\n[2]\n"


@pytest.mark.parametrize("bias", (False, True))
def test_add_rms_norm_bias(dtype, bias):
    x1, x2, gamma, beta = (random(5, 8, seed=s, dtype=dtype) for s in range(4))
    gamma, beta, total = gamma[0].contiguous(), beta[0].contiguous(), (x1 + x2).float()
    wanted, rstd = reference.rms_norm(total, gamma.float(), 1e-5)
    given = (x1, x2, gamma, beta if bias else None, 1e-5)
    y, found, x = ops.npu_add_rms_norm_bias(*(t.npu() if torch.is_tensor(t) else t for t in given))
    near(y, wanted + (beta.float().numpy() if bias else 0), dtype)
    near(found, rstd)
    near(x, total.numpy(), dtype)
    shapes = ops.npu_add_rms_norm_bias(*(t.to("meta") if torch.is_tensor(t) else t for t in given))
    assert [(s.shape, s.dtype) for s in shapes] == [(t.shape, t.dtype) for t in (y, found, x)]


def test_gemma_rms_norm(dtype):
    x, gamma = random(3, 8, dtype=dtype), random(8, seed=1, dtype=dtype)
    wanted, rstd = reference.rms_norm(x.float(), 1 + gamma.float(), 1e-6)
    y, found = ops.npu_gemma_rms_norm(x.npu(), gamma.npu())
    near(y, wanted, dtype)
    near(found, rstd)


def test_rms_norm_dynamic_quant():
    x, gamma, smooth, beta = random(3, 8), random(8, seed=1), random(8, seed=2), random(8, seed=3)
    y, scale = ops.npu_rms_norm_dynamic_quant(x.npu(), gamma.npu(), smooth.npu(), beta.npu())
    wanted = (reference.rms_norm(x, gamma, 1e-6)[0] + beta.numpy()) * smooth.numpy()
    near(scale, np.abs(wanted).max(1) / 127)
    assert y.dtype == torch.int8
    assert np.abs(y.cpu().numpy() * scale.cpu().numpy()[:, None] - wanted).max() <= scale.max().item() * 0.51


ADAPTERS = [1, -1, 0, 2]


def low_rank(x, weight, adapters, y, scale=1.0, offset=None):
    """Writes, or with an offset adds, the products of rows with the matrices of their adapters."""
    wanted = y.double().numpy().copy()
    for row, adapter in enumerate(adapters):
        if adapter < 0:
            continue
        for column, factors in enumerate(weight[adapter].double().numpy().reshape(-1, weight.shape[-1])):
            product = sum(a * b for a, b in zip(x[row].double().numpy(), factors)) * scale
            if offset is None:
                wanted[row, column] = product
            else:
                wanted[row, offset + column] += product
    return wanted


def test_bgmv(dtype):
    x, down, up = random(4, 8, dtype=dtype), random(3, 1, 2, 8, seed=1, dtype=dtype), random(3, 1, 6, 2, seed=2)
    indices = torch.tensor(ADAPTERS)
    y = torch.full((4, 2), 7.0, device="npu")
    ops.bgmv_shrink(x.npu(), down.npu(), indices.npu(), y, 0.5)
    wanted = low_rank(x, down, ADAPTERS, torch.full((4, 2), 7.0), 0.5)
    near(y, wanted)
    whole = random(4, 10, seed=3)
    out = whole.npu()
    ops.bgmv_expand(y, up.npu(), indices.npu(), out, 3, 6)
    near(out, low_rank(torch.tensor(wanted), up, ADAPTERS, whole, offset=3))


def test_sgmv():
    x, down, up = random(6, 8), random(3, 1, 2, 8, seed=1), random(3, 1, 6, 2, seed=2)
    adapters, lengths, rows = torch.tensor([2, -1, 0]), torch.tensor([2, 1, 2]), [2, 2, -1, 0, 0, -1]
    y = torch.zeros(6, 2, device="npu")
    ops.sgmv_shrink(x.npu(), down.npu(), adapters.npu(), lengths.npu(), y, 2.0)
    wanted = low_rank(x, down, rows, torch.zeros(6, 2), 2.0)
    near(y, wanted)
    out = torch.ones(6, 6, device="npu")
    ops.sgmv_expand(y, up.npu(), adapters.npu(), lengths.npu(), out, 0, 6)
    near(out, low_rank(torch.tensor(wanted), up, rows, torch.ones(6, 6), offset=0))


@native
def test_a_graph_takes_adapters_that_come_later():
    x, down = random(4, 8), random(3, 1, 2, 8, seed=1)
    indices, npu, weight = torch.full((4,), -1, device="npu"), x.npu(), down.npu()
    y = torch.zeros(4, 2, device="npu")
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        ops.bgmv_shrink(npu, weight, indices, y, 1.0)
    indices.copy_(torch.tensor(ADAPTERS))
    graph.replay()
    near(y, low_rank(x, down, ADAPTERS, torch.zeros(4, 2)))


def test_masked_input():
    tokens = [0, 9, 10, 14, 15, 99, 100, 103, 104]
    rows, mask = ops.get_masked_input_and_mask(torch.tensor(tokens).npu(), 10, 15, 3, 100, 104)
    # 10 to 14 are rows 0 to 4, then 3 rows of padding, then 100 to 103.
    assert rows.tolist() == [0, 0, 0, 4, 0, 0, 8, 11, 0]
    assert mask.tolist() == [True, True, False, False, True, True, False, False, True]


def test_swap_blocks():
    x, y = random(4, 2, 3), random(5, 2, 3, seed=1)
    npu = y.npu()
    ops.swap_blocks(x.npu(), npu, torch.tensor([[3, 0], [1, 4]]))
    y[0], y[4] = x[3], x[1]
    assert torch.equal(npu.cpu(), y)
    host = torch.zeros(5, 2, 3)
    with pytest.raises(ValueError, match=r"^swap_blocks: z is \[1, 5\]; expected blocks below 4 and 5"):
        ops.swap_blocks(x.npu(), npu, torch.tensor([[0, 1], [1, 5]]))
    assert torch.equal(npu.cpu(), y)  # the first pair is not copied either
    ops.swap_blocks(npu, host, torch.tensor([[0, 2]]))
    torch.npu.synchronize()
    assert torch.equal(host[2], y[0])


@pytest.mark.parametrize("mode", ("half", "interleave"))
def test_partial_rotary(mode):
    x, cos, sin = random(1, 3, 2, 12), random(1, 3, 1, 8, seed=1), random(1, 3, 1, 8, seed=2)
    npu = x.npu()
    ops.inplace_partial_rotary_mul(npu, cos.npu(), sin.npu(), mode, [2, 10])
    wanted = x.double().numpy().copy()
    wanted[..., 2:10] = reference.rotary(x[..., 2:10], cos, sin, mode)
    near(npu, wanted)
    with pytest.raises(ValueError, match=r"^inplace_partial_rotary_mul: partial_slice is \[4, 13\]"):
        ops.inplace_partial_rotary_mul(npu, cos.npu(), sin.npu(), mode, [4, 13])


def test_scatter_nd_update():
    var, update = random(3, 4, 2), random(2, 2, seed=1)
    npu = var.npu()
    ops.npu_scatter_nd_update_v2(npu, torch.tensor([[2, 1], [0, 3]]).npu(), update.npu())
    var[2, 1], var[0, 3] = update
    assert torch.equal(npu.cpu(), var)


X, W = torch.ones(4, 8), torch.ones(3, 1, 2, 8)
I4, I3 = torch.zeros(4, dtype=torch.long), torch.zeros(3, dtype=torch.long)


@pytest.mark.parametrize("call, text", (
    (lambda: ops.bgmv_shrink(X.npu(), W[..., :7].contiguous().npu(), I4.npu(), X[:, :2].npu(), 1.0), "weight is"),
    (lambda: ops.bgmv_shrink(X.npu(), W.npu(), I3.npu(), X[:, :2].npu(), 1.0), "indices is"),
    (lambda: ops.bgmv_shrink(X.npu(), W.npu(), I4.npu(), X[:, :1].npu(), 1.0), "y is"),
    (lambda: ops.bgmv_expand(X.npu(), W.npu(), I4.npu(), X.npu(), 7, 2), "slice_size is 2"),
    (lambda: ops.sgmv_shrink(X.npu(), W.npu(), I3.npu(), I4.npu(), X[:, :2].npu(), 1.0), "lora_indices is"),
    (lambda: ops.npu_add_rms_norm_bias(X.npu(), X[:1].npu(), X[0].npu()), "x2 is"),
    (lambda: ops.npu_add_rms_norm_bias(X.npu(), X.npu(), X[0].npu(), X.npu()), "beta is"),
    (lambda: ops.npu_scatter_nd_update_v2(X.npu(), I4.view(1, 4).npu(), X.npu()), "indices is"),
))
def test_wrong_arguments_are_named(call, text):
    with pytest.raises(ValueError, match=f"^[a-z_0-9]+: {text}"):
        call()
