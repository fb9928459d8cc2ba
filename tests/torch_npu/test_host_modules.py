# SPDX-License-Identifier: Apache-2.0
"""Modules that torch composes by the device: recurrent cells, attention, padded encoders."""

import copy
import threading

import pytest
import torch
import torch_npu  # noqa: F401
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from advance_step import _host_operators


def near(mine, expected):
    torch.testing.assert_close(mine.cpu(), expected, rtol=1e-4, atol=1e-5)


def both(module):
    return module, copy.deepcopy(module).npu()


def same_gradients(mine, expected):
    for one, other in zip(mine.parameters(), expected.parameters(), strict=True):
        near(one.grad, other.grad)


@pytest.mark.parametrize("options", [{}, {"bias": False}, {"bidirectional": True, "num_layers": 2}],
                         ids=["plain", "no bias", "deep"])
@pytest.mark.parametrize("kind", [nn.RNN, nn.GRU, nn.LSTM])
def test_recurrent_networks(kind, options):
    torch.manual_seed(0)
    cpu, npu = both(kind(5, 7, **options))
    values = torch.randn(4, 3, 5)
    here, there = values.clone().requires_grad_(), values.npu().requires_grad_()
    expected, mine = cpu(here)[0], npu(there)[0]
    near(mine, expected)
    expected.square().sum().backward()
    mine.square().sum().backward()
    near(there.grad, here.grad)
    same_gradients(npu, cpu)
    with torch.no_grad():
        near(npu(there)[0], expected)


@pytest.mark.parametrize("output", [0, 1])
def test_a_gradient_of_one_output_of_a_cell(output):
    torch.manual_seed(0)
    cpu, npu = both(nn.LSTMCell(3, 4))
    values = torch.randn(2, 3)
    cpu(values)[output].square().sum().backward()
    npu(values.npu())[output].square().sum().backward()
    same_gradients(npu, cpu)


@pytest.mark.parametrize("kind", [nn.GRUCell, nn.LSTMCell])
def test_second_gradients_of_cells(kind):
    cell = kind(2, 2).npu().double()
    given = torch.randn(1, 2, device="npu", dtype=torch.float64, requires_grad=True)

    def run(values):
        result = cell(values)
        return result[0] if isinstance(result, tuple) else result

    assert torch.autograd.gradcheck(run, (given,))
    assert torch.autograd.gradgradcheck(run, (given,))


@pytest.mark.parametrize("argument, shape", [("input_gates", (2, 10)), ("hidden_gates", (1, 12)),
                                             ("cx", (12,)), ("input_bias", (1,)), ("hidden_bias", (13,))])
def test_shapes_that_a_cell_would_broadcast(argument, shape):
    given = {"input_gates": (2, 12), "hidden_gates": (2, 12), "cx": (2, 3), "input_bias": (12,),
             "hidden_bias": (12,)}
    lstm = {name: torch.zeros(size, device="npu") for name, size in given.items()}
    assert torch.ops.aten._thnn_fused_lstm_cell(**lstm)[0].shape == (2, 3)
    lstm[argument] = torch.zeros(shape, device="npu")
    with pytest.raises(ValueError, match=rf"_thnn_fused_lstm_cell: {argument} is .*shape .*expected"):
        torch.ops.aten._thnn_fused_lstm_cell(**lstm)


def test_shapes_that_a_gru_cell_would_broadcast():
    gates, state = torch.zeros(2, 9, device="npu"), torch.zeros(2, 3, device="npu")
    assert torch.ops.aten._thnn_fused_gru_cell(gates, gates, state)[0].shape == (2, 3)
    with pytest.raises(ValueError, match="_thnn_fused_gru_cell: hidden_gates is .*expected shape"):
        torch.ops.aten._thnn_fused_gru_cell(gates, gates[:1], state)


@pytest.mark.parametrize("argument", ["running_mean", "running_var"])
def test_statistics_of_a_wrong_shape_change_nothing(argument):
    running = {name: torch.ones(3, device="npu") for name in ("running_mean", "running_var")}
    running[argument] = torch.ones(2, device="npu")
    values = torch.zeros(2, 3, device="npu")
    with pytest.raises(ValueError, match=rf"{argument} is a float32 tensor of shape \[2\]; expected"):
        torch.ops.aten.batch_norm_gather_stats_with_counts(
            values, values, values + 1, momentum=0.5, eps=1e-5, counts=torch.ones(2, device="npu"),
            **running)
    assert all((tensor == 1).all() for tensor in running.values())


def test_packed_sequences():
    torch.manual_seed(0)
    cpu, npu = both(nn.LSTM(4, 8, proj_size=3))
    values = [torch.randn(length, 4) for length in (2, 5, 3)]

    def run(model, sequences):
        packed = nn.utils.rnn.pack_sequence(sequences, enforce_sorted=False)
        return nn.utils.rnn.pad_packed_sequence(model(packed)[0])

    expected, _ = run(cpu, values)
    mine, lengths = run(npu, [sequence.npu() for sequence in values])
    near(mine, expected)
    assert lengths.tolist() == [2, 5, 3]
    expected.square().sum().backward()
    mine.square().sum().backward()
    same_gradients(npu, cpu)


@pytest.mark.skipif(_host_operators.form() != "native", reason="the Python form captures nothing")
def test_a_recurrent_network_in_a_graph():
    cpu, npu = both(nn.LSTM(4, 8))
    given = torch.zeros(3, 2, 4, device="npu")
    graph = torch.npu.NPUGraph()
    torch.npu.synchronize()
    with torch.no_grad():
        with torch.npu.graph(graph):
            result, _ = npu(given)
        given.fill_(0.5)
        graph.replay()
        near(result, cpu(torch.full((3, 2, 4), 0.5))[0])


def test_an_encoder_with_padding():
    torch.manual_seed(0)
    cpu, npu = both(nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True),
                                          2).eval())
    values, padding = torch.randn(2, 5, 16), torch.zeros(2, 5, dtype=torch.bool)
    padding[0, 3:] = True
    with torch.inference_mode():
        expected = cpu(values, src_key_padding_mask=padding)
        mine = npu(values.npu(), src_key_padding_mask=padding.npu())
    near(mine.cpu()[~padding], expected[~padding])


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")
def test_quantized_tensors_are_refused():
    with pytest.raises(RuntimeError, match="the result is quantized"):
        torch.quantize_per_tensor(torch.ones(4, device="npu"), 0.1, 0, torch.quint8)
    assert (torch.ones(2, device="npu") + 1).tolist() == [2, 2]


def attention(device, dtype, options):
    torch.manual_seed(1)
    mask = options.get("attn_mask")
    if mask == "bool":
        mask = torch.rand(8, 8) > 0.3
    elif mask == "number":
        mask = torch.randn(2, 1, 8, 8).to(dtype)
    heads = 2 if options.get("enable_gqa") else 4
    query, key, value = (torch.randn(2, count, 8, 16).to(device, dtype).requires_grad_()
                         for count in (4, heads, heads))
    given = {**options, "attn_mask": mask if mask is None else mask.to(device)}
    result = scaled_dot_product_attention(query, key, value, **given)
    result.float().square().sum().backward()
    return [each.cpu() for each in (result.detach(), query.grad, key.grad, value.grad)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"scale": 0.3}, {"enable_gqa": True},
                                     {"attn_mask": "bool"}, {"attn_mask": "number"}], ids=str)
def test_attention_has_the_bits_of_cpu(dtype, options):
    pairs = zip(attention("npu", dtype, options), attention("cpu", dtype, options), strict=True)
    assert all(torch.equal(mine, expected) for mine, expected in pairs)


def trained(net, values):
    optimizer = torch.optim.AdamW(net.parameters())
    for _ in range(3):
        optimizer.zero_grad()
        # Its gradient is rounding errors only, which AdamW makes as large as any other.
        net(values).square().sum().backward()
        optimizer.step()
    return [parameter.detach().cpu() for parameter in net.parameters()]


def same_training():
    torch.manual_seed(0)
    cpu, npu = both(nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True))
    values = torch.randn(2, 8, 32)
    return all(map(torch.equal, trained(npu, values.npu()), trained(cpu, values)))


def test_a_transformer_trains_to_the_bits_of_cpu():
    assert same_training()


@pytest.fixture
def threads():
    number = torch.get_num_threads()
    yield number
    torch.set_num_threads(number)


@pytest.mark.skipif(_host_operators.form() != "native",
                    reason="the Python form runs gradients with the number of their thread's start")
def test_another_number_of_threads_is_that_of_gradients_too(threads):
    """torch's threads for gradients on "npu" exist already."""
    for number in (threads + 1, 1, threads):
        torch.set_num_threads(number)
        assert same_training(), number


def test_operators_leave_the_number_of_threads_of_the_program(threads):
    tensor, seen = torch.ones(1000, device="npu"), []
    for number in (threads + 1, threads, threads + 2):
        torch.set_num_threads(number)
        tensor + 1
        torch.npu.synchronize()
        started = threading.Thread(target=lambda: seen.append(torch.get_num_threads()))
        started.start()
        started.join()
    assert seen == [threads + 1, threads, threads + 2]


@pytest.mark.parametrize("devices", [[0, 1], [1, 0], [1], None], ids=str)
def test_data_parallel_trains_as_one_device_does(devices):
    torch.manual_seed(0)
    cpu = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8).eval(), nn.GELU(), nn.Linear(8, 3))
    first = 0 if devices is None else devices[0]
    npu = nn.DataParallel(copy.deepcopy(cpu).to(f"npu:{first}"), devices)
    values = torch.randn(7, 6)
    for _ in range(2):
        expected, mine = cpu(values), npu(values.to(f"npu:{first}"))
        assert mine.device == torch.device("npu", first)
        near(mine.detach(), expected.detach())
        expected.square().sum().backward()
        mine.square().sum().backward()
        same_gradients(npu.module, cpu)


class Scaled(nn.Module):
    def forward(self, values, *, factors, fails=None):
        if values.device.index == fails:
            raise KeyError("no such row")
        return values * factors


def test_data_parallel_with_keywords_another_dimension_and_few_rows():
    npu = nn.DataParallel(Scaled().npu(), [0, 1], output_device=1, dim=1)
    values, factors = torch.randn(2, 3, device="npu"), torch.randn(2, 3, device="npu")
    result = npu(values, factors=factors)
    assert result.device.index == 1 and torch.equal(result.cpu(), (values * factors).cpu())
    assert npu(values[:, :1], factors=factors[:, :1]).shape == (2, 1)
    for fails in (0, 1):
        with pytest.raises(KeyError, match=f"in replica {fails} on device {fails}(?s:.*)no such row"):
            npu(values, factors=factors, fails=fails)


def test_copies_along_another_dimension():
    numbers, comm = torch.arange(12.0).reshape(2, 6), nn.parallel.comm
    halves = [numbers[:, :3].tolist(), numbers[:, 3:].tolist()]
    for options in ({}, {"chunk_sizes": [3, 3]}):
        parts = comm.scatter(numbers.npu(), [0, 1], dim=1, **options)
        assert [part.tolist() for part in parts] == halves
        assert torch.equal(comm.gather(parts, 1, 1).cpu(), numbers)
    out = [torch.empty(2, 3, device=f"npu:{index}") for index in range(2)]
    comm.scatter(numbers, dim=1, out=out)
    assert [part.tolist() for part in out] == halves
    assert torch.equal(comm.gather(out, 1, out=torch.empty(2, 6, device="npu")).cpu(), numbers)


def test_copies_between_devices_of_one_process():
    numbers = torch.arange(12.0).reshape(6, 2)
    comm = nn.parallel.comm
    parts = comm.scatter(numbers.npu(), [0, 1], chunk_sizes=[2, 4])
    assert [str(part.device) for part in parts] == ["npu:0", "npu:1"]
    assert [part.tolist() for part in parts] == [numbers[:2].tolist(), numbers[2:].tolist()]
    assert torch.equal(comm.gather(parts, 0, torch.device("cpu")), numbers)
    parts = comm.broadcast(numbers.npu(1), [1, 0])
    assert [(str(part.device), part.sum().item()) for part in parts] == [("npu:1", 66), ("npu:0", 66)]
    with torch.npu.device(1):
        assert str(comm.gather(parts).device) == "npu:1"
    out = [torch.empty(3, 2, device=f"npu:{index}") for index in (1, 0)]
    assert comm.scatter(numbers, out=out)[1] is out[1] and out[1].tolist() == numbers[3:].tolist()
    assert torch.equal(comm.gather(out, out=torch.empty(6, 2, device="npu:1")).cpu(), numbers)
    assert comm.broadcast(numbers[:3], out=out)[0].tolist() == numbers[:3].tolist()
    assert comm.reduce_add([out[0], out[1]], 0).tolist() == (2 * numbers[:3]).tolist()
    with pytest.raises(RuntimeError, match=r"out\[1\] has shape \(3, 2\); expected \(2,\)"):
        outputs = [torch.zeros(2, device="npu"), torch.zeros(3, 2, device="npu:1")]
        comm.broadcast(numbers[0], out=outputs)
    with pytest.raises(RuntimeError, match="3 chunk_sizes and 2 devices"):
        comm.scatter(numbers.npu(), [0, 1], chunk_sizes=[2, 2, 2])
