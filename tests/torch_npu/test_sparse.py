# SPDX-License-Identifier: Apache-2.0
"""Sparse tensors on "npu", which torch's kernels for "cpu" compute at once."""

import pytest
import torch
import torch_npu  # noqa: F401
from pending import hold, native

functional = torch.nn.functional


def embedding(device):
    module = torch.nn.Embedding.from_pretrained(torch.ones(4, 2), freeze=False, sparse=True).to(device)
    optimizer = torch.optim.SparseAdam(module.parameters(), 0.1)
    for _ in range(2):
        optimizer.zero_grad()
        module(torch.tensor([1, 1, 2], device=device)).square().sum().backward()
        optimizer.step()
    return module.weight.detach()


def bag(device, mode, given, *offsets):
    module = torch.nn.EmbeddingBag.from_pretrained(torch.arange(8.).reshape(4, 2), freeze=False,
                                                   mode=mode, sparse=True).to(device)
    module(torch.tensor(given, device=device),
           *(torch.tensor(each, device=device) for each in offsets)).sum().backward()
    assert module.weight.grad.layout == torch.sparse_coo
    return module.weight.grad.to_dense()


def in_place(device):
    dense = torch.ones(2, 3, device=device)
    sparse = torch.sparse_coo_tensor(torch.tensor([[0, 0], [1, 1]], device=device),
                                     torch.tensor([1., 2.], device=device), (2, 3))
    dense.add_(sparse)
    sparse.mul_(2)
    sparse.add_(sparse.clone())
    return torch.stack((dense, sparse.to_dense()))


CALLS = {
    "embedding": embedding,
    "bag of rows": lambda device: bag(device, "sum", [[1, 1, 2], [0, 3, 3]]),
    "bag of offsets": lambda device: bag(device, "mean", [1, 2, 0, 3, 3], [0, 2, 2]),
    "mm": lambda device: torch.eye(3).to_sparse().to(device) @ torch.ones(3, 2, device=device),
    "to_sparse": lambda device: (torch.eye(3, device=device) * 2).to_sparse().coalesce().values(),
    "csr": lambda device: torch.eye(3).to_sparse_csr().to(device) @ torch.ones(3, 1, device=device),
    "in place": in_place,
    "sum": lambda device: torch.sparse.sum(torch.eye(3, device=device).to_sparse(), 0).to_dense(),
}


@pytest.mark.parametrize("name", CALLS)
def test_it_is_as_on_cpu(name):
    hold(5)
    found = CALLS[name]("npu")
    assert found.device.type == "npu" and torch.equal(found.cpu(), CALLS[name]("cpu"))


def test_devices_are_not_mixed():
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        torch.eye(3).to_sparse().to("npu:0") @ torch.ones(3, 2, device="npu:1")


@native
def test_a_capture_refuses_it_by_name():
    tensor, graph = torch.eye(3, device="npu"), torch.npu.NPUGraph()
    torch.npu.synchronize()
    with pytest.raises(RuntimeError, match="aten::_to_sparse cannot be captured: it has sparse tensors"):
        with torch.npu.graph(graph):
            tensor.to_sparse()
    torch.npu.synchronize()
