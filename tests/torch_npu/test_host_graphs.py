# SPDX-License-Identifier: Apache-2.0
"""Operators of torch in graphs: capture, replay, random numbers, failures."""

import gc
import threading

import pytest
import torch
import torch_npu
from decode import Decode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint

from advance_step import _host_operators

pytestmark = pytest.mark.skipif(_host_operators.form() != "native",
                                reason="the Python form runs at once, so it captures nothing")


def capture(body):
    graph = torch.npu.NPUGraph()
    torch.npu.synchronize()
    with torch.npu.graph(graph):
        results = body()
    return graph, results


def model():
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.LayerNorm(32), torch.nn.GELU(),
                               torch.nn.Linear(32, 4), torch.nn.Softmax(-1))


def test_a_model_in_a_graph_gives_what_cpu_gives():
    cpu, npu = model(), model().npu()
    given = torch.zeros(3, 8, device="npu")
    with torch.no_grad():
        graph, result = capture(lambda: npu(given))
        for seed in range(5):
            torch.manual_seed(seed)
            fresh = torch.randn(3, 8)
            given.copy_(fresh)
            graph.replay()
            assert torch.equal(result.cpu(), cpu(fresh))


def test_capture_runs_nothing():
    total = torch.zeros(4, device="npu")
    graph, _ = capture(lambda: total.add_(1))
    assert total.cpu().tolist() == [0] * 4
    for _ in range(10):
        graph.replay()
    assert total.cpu().tolist() == [10] * 4


class Seen(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.append(str(func))
        return func(*args, **(kwargs or {}))


def test_the_waiting_thread_keeps_its_modes_and_threads():
    """A thread that waits for a replay may run it."""
    threads = torch.get_num_threads()
    total = torch.zeros(4, device="npu")
    graph, _ = capture(lambda: total.add_(1))
    torch.set_num_threads(threads + 1)
    try:
        with Seen() as seen:
            for _ in range(50):
                graph.replay()
                torch.npu.synchronize()
        assert torch.get_num_threads() == threads + 1
    finally:
        torch.set_num_threads(threads)
    assert seen.names == []
    assert total.cpu().tolist() == [50] * 4


def test_training_in_a_graph():
    cpu, npu = model(), model().npu()
    optimizers = [torch.optim.SGD(net.parameters(), lr=0.1) for net in (cpu, npu)]
    given = torch.ones(3, 8)
    there = given.npu()

    def step(net, optimizer, data):
        optimizer.zero_grad(set_to_none=False)
        net(data).square().sum().backward()
        optimizer.step()

    for _ in range(2):
        step(cpu, optimizers[0], given)
        step(npu, optimizers[1], there)
    graph, _ = capture(lambda: step(npu, optimizers[1], there))
    for _ in range(3):
        graph.replay()
        step(cpu, optimizers[0], given)
    torch.npu.synchronize()
    for one, other in zip(cpu.parameters(), npu.parameters()):
        assert torch.equal(one, other.cpu())


def test_operators_beside_advance_step_in_a_graph():
    decode = Decode.steady(3)
    copies = []

    def body():
        torch_npu.npu_advance_step_flashattn(*decode.tensors, *decode.sizes)
        copies.append(decode.tensors[2] * 2)

    graph, _ = capture(body)
    for _ in range(5):
        graph.replay()
        decode.expect_one_more()
        assert copies[0].cpu().tolist() == [2 * p for p in decode.state["input_positions"]]
    decode.check()


@pytest.mark.parametrize("body, name", (
    (lambda t: torch.nonzero(t), "aten::nonzero"),
    (lambda t: t[t > 0], "aten::"),
    (lambda t: t.sum().item(), "aten::_local_scalar_dense"),
    (lambda t: torch.unique(t), "aten::"),
))
def test_data_dependent_shapes_are_refused_by_name(body, name):
    tensor = torch.ones(4, device="npu")
    with pytest.raises(RuntimeError, match=name + ".*cannot be captured"):
        capture(lambda: body(tensor))
    torch.npu.synchronize()
    graph, result = capture(lambda: tensor + 1)
    graph.replay()
    assert result.cpu().tolist() == [2] * 4


def test_repeats_of_a_known_size_are_captured():
    tensor, repeats = torch.arange(3., device="npu"), torch.tensor([2, 0, 3]).npu()
    graph, result = capture(lambda: torch.repeat_interleave(tensor, repeats, output_size=5))
    for _ in range(2):
        graph.replay()
        assert torch.equal(result.cpu(), torch.repeat_interleave(tensor.cpu(), repeats.cpu()))
        repeats.copy_(torch.tensor([1, 4, 0]))
    repeats.fill_(3)
    graph.replay()
    with pytest.raises(RuntimeError, match="aten::repeat_interleave.Tensor: allocated size"):
        torch.npu.synchronize()
    with pytest.raises(RuntimeError, match="repeat_interleave.*cannot be captured"):
        capture(lambda: torch.repeat_interleave(tensor, repeats))
    torch.npu.synchronize()


def test_statistics_of_channels_are_captured_once_they_have_their_size():
    given, on = torch.arange(12., device="npu").reshape(4, 3), torch.ones(1, device="npu").long()
    kept = [torch.empty(0, device="npu"), torch.empty(0, device="npu"), torch.ones(1, device="npu"),
            torch.zeros(1, device="npu").int()]

    def observe():
        return torch.fused_moving_avg_obs_fake_quant(given, on, on, *kept, 0.01, -128, 127, 0, True)

    with pytest.raises(RuntimeError, match="fq_helper cannot be captured"):
        capture(observe)
    expected = observe()
    graph, result = capture(observe)
    graph.replay()
    assert torch.equal(result.cpu(), expected.cpu())


def test_a_replay_draws_anew_and_as_the_seed_says():
    torch.npu.manual_seed(11)
    graph, drawn = capture(lambda: torch.rand(20, device="npu"))
    torch.npu.manual_seed(11)
    seen = []
    for _ in range(3):
        graph.replay()
        seen.append(drawn.cpu().clone())
    torch.manual_seed(11)
    assert all(torch.equal(found, torch.rand(20)) for found in seen)
    torch.npu.manual_seed(11)
    graph.replay()
    torch.npu.manual_seed(5)  # after the replay, also if it has not been waited for
    assert torch.equal(drawn.cpu(), seen[0])


def dropped(given):
    result = checkpoint(lambda tensor: torch.nn.functional.dropout(tensor, 0.5), given, use_reentrant=False)
    gradient, = torch.autograd.grad(result.sum(), given)
    return result.detach(), gradient


def test_a_checkpoint_in_a_graph_draws_the_same_mask_again():
    given = torch.ones(64, device="npu", requires_grad=True)
    graph, (result, gradient) = capture(lambda: [*dropped(given)])
    torch.npu.manual_seed(3)
    seen = []
    for _ in range(3):
        graph.replay()
        assert torch.equal(result, gradient)
        seen.append(result.clone())
    assert not torch.equal(seen[0], seen[1])
    torch.npu.manual_seed(3)
    for one in seen:  # a replay leaves the state that the same calls leave
        assert torch.equal(dropped(given)[0], one)
    last = torch.rand(3, device="npu")
    torch.npu.manual_seed(3)
    for _ in range(3):
        graph.replay()
    assert torch.equal(torch.rand(3, device="npu"), last)


def test_states_in_a_capture_hold_in_replays():
    def body():
        begin, drawn = torch.npu.get_rng_state(), [torch.rand(5, device="npu")]
        middle = torch.npu.get_rng_state()
        drawn.append(torch.randn(3, device="npu"))
        torch.npu.set_rng_state(begin)
        drawn.append(torch.rand(7, device="npu"))
        torch.npu.set_rng_state(middle)
        drawn.append(torch.randn(3, device="npu"))
        return drawn

    torch.npu.manual_seed(9)
    expected = [[drawn.clone() for drawn in body()] for _ in range(3)]
    last = torch.rand(4, device="npu")
    torch.npu.manual_seed(9)
    graph, drawn = capture(body)
    for eager in expected:
        graph.replay()
        assert all(torch.equal(one, other) for one, other in zip(drawn, eager))
    assert torch.equal(torch.rand(4, device="npu"), last)


def test_draws_of_a_replay_and_of_another_thread_are_apart_beside_many_generators():
    count, turns = 50_000, 20
    graph, _ = capture(lambda: torch.rand(count, device="npu"))
    others = [torch.Generator("npu") for _ in range(600)]
    for other in others:
        torch.rand(1, device="npu", generator=other)
    torch.npu.manual_seed(11)

    def replay():
        with torch.npu.stream(torch.npu.Stream()):
            for _ in range(turns):
                graph.replay()

    thread = threading.Thread(target=replay)
    thread.start()
    for _ in range(turns):
        torch.rand(count, device="npu")
    thread.join()
    drawn = torch.rand(4, device="npu").cpu()
    torch.manual_seed(11)
    torch.rand(2 * turns * count)
    assert torch.equal(drawn, torch.rand(4))


def test_an_operator_that_fails_in_a_task_group_ends_the_capture():
    tensor, graph, stream = torch.ones(2, device="npu"), torch.npu.NPUGraph(), torch.npu.Stream()
    torch.npu.synchronize()
    with pytest.raises(RuntimeError, match="task group"):
        with torch.npu.graph(graph, stream=stream):
            torch.npu.graph_task_group_begin(stream)
            tensor + 1
    assert (tensor + 1).cpu().tolist() == [2, 2]
    torch.npu.synchronize()
    graph, result = capture(lambda: tensor + 2)
    graph.replay()
    assert result.cpu().tolist() == [3, 3]


def test_an_error_in_a_replay_names_its_operator():
    index = torch.zeros(2, dtype=torch.int64, device="npu")
    graph, _ = capture(lambda: torch.arange(5, device="npu")[index])
    graph.replay()
    torch.npu.synchronize()
    index.fill_(9)
    graph.replay()
    with pytest.raises(RuntimeError, match="aten::index.Tensor: index 9 is out of bounds"):
        torch.npu.synchronize()
    index.fill_(1)
    graph.replay()
    torch.npu.synchronize()


def test_graphs_that_end_give_their_memory_back():
    def resident():
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * 4096

    tensor = torch.ones(16, device="npu")

    def many():
        result = tensor
        for _ in range(200):
            result = result + 1
        return result

    for turn in range(30):
        graph, result = capture(many)
        graph.replay()
        torch.npu.synchronize()
        del graph, result
        gc.collect()
        if turn == 10:
            before = resident()
    assert resident() - before < 16 << 20
