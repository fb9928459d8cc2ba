# SPDX-License-Identifier: Apache-2.0
"""zero_ of large tensors: the library fills them, which takes no memory."""

import pytest
import torch
import torch_npu  # noqa: F401

LARGE = 3 << 20  # elements


@pytest.fixture
def ones():
    return torch.ones(3, LARGE // 3, device="npu")


def test_large_zeros_take_no_memory(program):
    text = """
import torch
def shared():
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("RssShmem")) // 1024
torch.zeros(1, device="npu").cpu()
before = shared()
first = torch.zeros(1 << 28, device="npu")
second = torch.empty(16, 1 << 12, 1 << 12, device="npu", dtype=torch.float16).zero_()
third = torch.zeros_like(second)
torch.npu.synchronize()
print(shared() - before)
assert not first[::4093].any() and not third[:, ::7, ::511].any()
del third
first.fill_(1)
torch.npu.synchronize()
assert shared() - before >= 1024
first.zero_()
torch.npu.synchronize()
print(shared() - before)
assert not first[::4093].any()
"""
    done = program.forked(text)
    fresh, again = map(int, done.stdout.split())
    assert fresh < 64 and again < 512, done.stdout


def test_a_part_leaves_the_rest(ones):
    ones[:, 1000:].zero_()
    assert ones[:, :1000].all() and not ones[:, 1000:].any()
    ones.fill_(1)
    ones[1].zero_()
    assert ones[0].all() and not ones[1].any() and ones[2].all()


def test_order_of_the_stream(ones):
    for _ in range(5):
        ones.add_(1)
        ones.zero_()
        ones.add_(2)
    assert (ones == 2).all()
    side = torch.npu.Stream()
    side.wait_stream(torch.npu.current_stream())
    with torch.npu.stream(side):
        ones.zero_()
    torch.npu.current_stream().wait_stream(side)
    assert not ones.any()


def test_a_captured_one_runs_at_each_replay(ones):
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        ones.zero_()
        ones.add_(3)
    for value in (5, 7):
        ones.fill_(value)
        graph.replay()
        assert (ones == 3).all()


def test_what_autograd_sees(ones):
    version = ones._version
    assert ones.zero_() is ones and ones._version == version + 1
    leaf = torch.ones(LARGE, device="npu", requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf Variable"):
        leaf.zero_()
    factor = torch.ones(LARGE, device="npu")
    product = leaf * factor
    factor.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.sum().backward()


def test_another_layout():
    whole = torch.ones(2, 64, 128, 128, device="npu").to(memory_format=torch.channels_last)
    whole.zero_()
    assert not whole.any() and whole.is_contiguous(memory_format=torch.channels_last)
    assert not torch.ones(LARGE, device="npu", dtype=torch.complex64).conj().zero_().any()
