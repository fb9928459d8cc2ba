# SPDX-License-Identifier: Apache-2.0
"""torch's own state at the call of an operator: default dtype, deterministic mode, denormals.

An operator that runs later has that of its call. run.sh runs this file in each mode of
ADVANCE_STEP_HOST_OPERATORS.
"""

import contextlib

import pytest
import torch
from pending import hold, native

WHOLE = torch.arange(2**24 - 2, 2**24 + 3)
CALLS = {
    "div": lambda x: x / 3,
    "sqrt": lambda x: x.sqrt(),
    "add": lambda x: x + 1.5,
    "compare": lambda x: x > 2**24 + 0.5,
    "where": lambda x: torch.where(x > 2**24, x, 0.5),
    "clamp": lambda x: x.clamp(min=2.5),
    "complex": lambda x: x * 1j,
    "logsumexp": lambda x: torch.logsumexp(x, 0),
    "list": lambda x: torch._foreach_sqrt([x, x])[1],
    "list of two dtypes": lambda x: torch._foreach_div([x, x.float()], 3)[0],
    "out": lambda x: torch.div(x, 3, out=torch.empty(x.shape, dtype=torch.float64, device=x.device)),
}


@contextlib.contextmanager
def default(dtype):
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


@contextlib.contextmanager
def deterministic(**options):
    torch.use_deterministic_algorithms(True, **options)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)


@contextlib.contextmanager
def flushed():
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtypes", ((torch.float64, torch.float32), (torch.float32, torch.float64),
                                    (torch.bfloat16, torch.float32)), ids=str)
def test_the_default_dtype_is_that_of_the_call(name, dtypes):
    there = WHOLE.npu()
    with default(dtypes[0]):
        expected = CALLS[name](WHOLE)
        hold(20)
        result = CALLS[name](there)
    with default(dtypes[1]):
        torch.npu.synchronize()
    assert result.dtype == expected.dtype and torch.equal(result.cpu(), expected)


@native
def test_the_default_dtype_of_a_graph_is_that_of_its_capture():
    there, graph = WHOLE.npu(), torch.npu.NPUGraph()
    torch.npu.synchronize()
    with default(torch.float64):
        expected = [WHOLE / 3, WHOLE.sqrt()]
        with torch.npu.graph(graph):
            results = [there / 3, *torch._foreach_sqrt([there])]
    graph.replay()
    assert all(torch.equal(npu.cpu(), cpu) for npu, cpu in zip(results, expected))


def unpool(device):
    given = torch.arange(16., device=device).reshape(1, 1, 4, 4)
    return torch.nn.functional.max_pool2d(given, 2, return_indices=True)


ALERTS = {
    "put_": lambda tensors: torch.zeros_like(tensors[0]).put_(tensors[1], tensors[0]),
    "max_unpool2d": lambda tensors: torch.nn.functional.max_unpool2d(*tensors, 2),
}


@pytest.mark.parametrize("name", ALERTS)
def test_what_is_not_deterministic_is_refused_by_the_call(name):
    given = [tensor % 4 for tensor in unpool("npu")]
    hold(20)
    with deterministic(), pytest.raises(RuntimeError, match="does not have a deterministic impl"):
        ALERTS[name](given)
    hold(20)
    result = ALERTS[name](given)
    with deterministic():
        torch.npu.synchronize()
    assert torch.equal(result.cpu(), ALERTS[name]([tensor % 4 for tensor in unpool("cpu")]))


@native
@pytest.mark.parametrize("name", ALERTS)
def test_what_is_not_deterministic_is_refused_by_a_capture(name):
    given, graph = [tensor % 4 for tensor in unpool("npu")], torch.npu.NPUGraph()
    torch.npu.synchronize()
    with deterministic(), pytest.raises(RuntimeError, match="does not have a deterministic impl"):
        with torch.npu.graph(graph):
            ALERTS[name](given)
    torch.npu.synchronize()


def test_sums_at_indices_are_in_order_if_they_were_deterministic_at_the_call():
    torch.manual_seed(1)
    index, values = torch.randint(0, 3, (200_000,)), torch.randn(200_000)
    with deterministic():
        expected = torch.zeros(3).index_put_((index,), values, accumulate=True)
        there = [torch.zeros(3).npu(), index.npu(), values.npu()]
        hold(20)
        there[0].index_put_((there[1],), there[2], accumulate=True)
    assert torch.equal(there[0].cpu(), expected)


@pytest.mark.parametrize("count", (4, 100_000))
def test_denormals_are_as_at_the_call(count):
    there = torch.full((count,), 1e-40).npu()
    hold(20)
    with flushed():
        none = there * 0.5
    some = there * 0.5
    with flushed():
        torch.npu.synchronize()
        # This thread goes on as it was.
        assert (torch.full((1,), 1e-40) * 0.5).item() == 0
    assert none.cpu()[0].item() == 0 and some.cpu()[0].item() != 0
