# SPDX-License-Identifier: Apache-2.0
"""Outputs of torch's operators on "npu" that grow, strides, generators, kernels that ask for "cpu".

All is as on "cpu", also while work is pending.

run.sh runs this file in each mode of ADVANCE_STEP_HOST_OPERATORS.
"""

import ctypes

import pytest
import torch
from pending import NATIVE, begin, hold, native, same  # noqa: F401

from advance_step import _native


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
def test_outputs_that_grow(begin):
    for device in ("cpu", "npu"):
        seen = []
        buffer = torch.empty(0, device=device)
        for size in (4, 8, 16, 64):
            parts = [torch.full((size,), float(size + sign), device=device) for sign in (0, 1)]
            buffer.resize_(0)
            torch.cat(parts, out=buffer)
            seen.append(buffer.tolist())
        whole = torch.arange(6., device=device)
        part = whole[2:2]
        torch.add(torch.arange(20., device=device), 1, out=part)
        seen += [part.tolist(), whole.tolist()]
        if NATIVE:  # these outputs hold elements before
            square = torch.ones(2, 2, device=device)
            torch.mm(torch.full((4, 4), 2., device=device), torch.eye(4, device=device), out=square)
            values = torch.ones(1, device=device)
            places = torch.ones(1, dtype=torch.int64, device=device)
            torch.topk(torch.arange(10., device=device), 4, out=(values, places))
            seen += [tensor.tolist() for tensor in (square, values, places)]
        if device == "cpu":
            expected = seen
    assert seen == expected


def outputs_of_lists(device):
    sizes = [torch.empty(0, device=device), torch.empty(5, device=device)]
    torch.split_with_sizes_copy(torch.arange(6., device=device), [2, 4], out=sizes)
    return sizes


def factors(device):
    outputs = [torch.empty(0, device=device) for _ in range(2)]
    torch.linalg.qr(torch.eye(5, 3, device=device), out=outputs)
    solved = torch.empty(0, device=device)
    torch.ormqr(*torch.geqrf(torch.eye(5, 3, device=device)), torch.ones(5, 2, device=device), out=solved)
    return [*outputs, solved]


@pytest.mark.parametrize("call", (
    lambda device: [torch.fft.rfft2(torch.ones(4, 6, device=device))],
    lambda device: torch.linalg.eig(torch.eye(4, device=device)),
    lambda device: torch.ops.aten._linalg_svd(torch.ones(5, 3, device=device)),
    pytest.param(outputs_of_lists, marks=native), pytest.param(factors, marks=native)))
@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
def test_shapes_and_strides_are_those_of_cpu(call):
    expected = [(tensor.shape, tensor.stride()) for tensor in call("cpu")]
    call("npu")  # torch imports modules at the first use of a shape function
    torch.npu.synchronize()
    hold(20)
    assert [(tensor.shape, tensor.stride()) for tensor in call("npu")] == expected


@pytest.mark.parametrize("dtype, call", (
    (torch.float32, lambda x, out: torch.linalg.inv(x, out=out)),
    (torch.int64, lambda x, out: torch.nonzero(x, out=out)),
    (torch.float32, lambda x, out: torch.mm(x.t(), x.t(), out=out))))
def test_empty_outputs_get_the_strides_of_cpu(begin, dtype, call):
    given = torch.tensor([[2., 1., 0.], [0., 4., 2.], [1., 0., 8.]])
    expected = call(given, torch.empty(0, dtype=dtype))
    same(call(given.npu(), torch.empty(0, dtype=dtype, device="npu")), expected)


def test_attention_without_weights_has_none():
    layer = torch.nn.MultiheadAttention(8, 2, batch_first=True).npu().eval()
    query = torch.ones(2, 3, 8, device="npu")
    with torch.no_grad():
        for _ in range(2):
            assert layer(query, query, query, need_weights=False)[1] is None
            hold(20)


@pytest.mark.parametrize("name", ("logical_xor_", "ldexp_"))
def test_what_is_written_in_place_does_not_broadcast(begin, name):
    narrow, wide = torch.ones(2, 1, device="npu"), torch.ones(2, 2, device="npu")
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        getattr(narrow, name)(wide)
    assert narrow.shape == (2, 1)


def tensors_to_write(device):
    return (torch.zeros(3, device=device), torch.zeros(3, dtype=torch.int64, device=device),
            torch.ones(4, device=device))


REFUSED_IN_PLACE = {
    "shape": lambda reals, whole, four: reals.add_(four),
    "dtype": lambda reals, whole, four: whole.add_(1.5),
    "overlap": lambda reals, whole, four: reals[:1].expand(3).add_(1),
    "index": lambda reals, whole, four: reals.index_add_(0, whole[:2], four[:3]),
    "dtype of an index": lambda reals, whole, four: reals.scatter_(0, four[:1], 1.0),
    "list": lambda reals, whole, four: torch._foreach_add_([four, reals], [four, four]),
    "item": lambda reals, whole, four: reals.__setitem__(slice(0, 2), four[:3]),
}


def refusal(call, tensors):
    with pytest.raises((RuntimeError, IndexError)) as refused:
        call(*tensors)
    return str(refused.value).splitlines()[0].replace("npu", "cpu")


@pytest.mark.parametrize("name", REFUSED_IN_PLACE)
def test_a_refusal_in_place_is_raised_by_the_call(begin, name):
    tensors = tensors_to_write("npu")
    told = refusal(REFUSED_IN_PLACE[name], tensors)
    torch.npu.synchronize()  # and by nothing else
    assert told == refusal(REFUSED_IN_PLACE[name], tensors_to_write("cpu"))
    for npu, cpu in zip(tensors, tensors_to_write("cpu")):
        assert name == "list" or torch.equal(npu.cpu(), cpu)


@native
@pytest.mark.parametrize("name", [name for name in REFUSED_IN_PLACE if name != "list"])
def test_a_refusal_in_place_ends_a_capture(name):
    tensors = tensors_to_write("npu")
    with pytest.raises((RuntimeError, IndexError)), torch.npu.graph(torch.npu.NPUGraph()):
        REFUSED_IN_PLACE[name](*tensors)


def grow(device):
    batches = torch.ones(2, 2, 3, device=device), torch.ones(2, 3, 2, device=device)
    narrow = torch.ones(1, device=device)
    return narrow, lambda: narrow.addbmm_(*batches)


@native
def test_an_argument_grows_as_on_cpu(begin):
    npu, grow_npu = grow("npu")
    cpu, grow_cpu = grow("cpu")
    grow_npu()
    grow_cpu()
    same(npu, cpu)


@native
def test_a_replay_that_grows_its_argument_is_an_error():
    _, call = grow("npu")
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        call()
    graph.replay()
    with pytest.raises(RuntimeError, match=r"aten::addbmm_: an argument .* \[2, 2\]; expected \[1\]"):
        torch.npu.synchronize()


def statistics(device, times):
    """Returns what quantization aware training keeps for each channel; its first call resizes that."""
    given, on = torch.arange(12., device=device).reshape(4, 3), torch.ones(1, device=device).long()
    kept = [torch.empty(0, device=device), torch.empty(0, device=device),
            torch.ones(1, device=device), torch.zeros(1, device=device).int()]
    for _ in range(times):
        if NATIVE:
            hold(5)
        rounded = torch.fused_moving_avg_obs_fake_quant(given, on, on, *kept, 0.01, -128, 127, 0, True)
        given = given * 2
    return [rounded, *kept]


@pytest.mark.parametrize("times", (1, 3))
def test_statistics_of_channels_grow(times):
    for found, expected in zip(statistics("npu", times), statistics("cpu", times)):
        same(found, expected)


def test_generators_of_another_device_are_refused(begin):
    other = torch.Generator("npu:1").manual_seed(3)
    with pytest.raises(RuntimeError, match="npu:0.*npu:1"):
        torch.rand(2, device="npu:0", generator=other)
    assert torch.rand(2, device="npu:1", generator=other).device.index == 1
    own = torch.Generator("npu").manual_seed(3)
    assert torch.rand(2, device="npu", generator=own).device.index == 0


@native
def test_saved_states_cost_the_draws_since_a_state_near_them():
    repeated = _native._libraries[-1].advstep_torch_draws_repeated
    repeated.restype = ctypes.c_uint64
    torch.npu.manual_seed(3)
    saved = []
    for _ in range(20):
        saved.append((torch.npu.get_rng_state(), torch.rand(300000, device="npu")[:5]))
    before = repeated()
    for state, expected in reversed(saved):
        torch.npu.set_rng_state(state)
        same(torch.rand(5, device="npu"), expected.cpu())
    assert repeated() - before < 20 << 20  # 57 million since the seed
    torch.manual_seed(3)
    assert torch.equal(torch.rand(6000000)[-300000:][:5], saved[-1][1].cpu())


def test_operators_whose_kernels_ask_for_cpu(begin):
    for more in ((), (False,), (False, 3.)):
        same(torch.kaiser_window(7, *more, device="npu"), torch.kaiser_window(7, *more))
    values, places = torch.empty(0, device="npu"), torch.empty(0, dtype=torch.int64, device="npu")
    given = torch.tensor([[2., 1., 2.], [5., 5., 3.]])
    torch.mode(given.npu(), out=(values, places))
    for found, expected in zip((values, places), torch.mode(given)):
        same(found, expected)
    copies = [torch.zeros(3, device="npu"), torch.zeros(2, 2, device="npu")]
    torch._foreach_copy_(copies, [torch.arange(3), torch.full((2, 2), 4.).npu()])
    same(copies[0], torch.arange(3.))
    same(copies[1], torch.full((2, 2), 4.))
