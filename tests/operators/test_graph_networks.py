# SPDX-License-Identifier: Apache-2.0
"""A small CNN and a small transformer as graphs, against the same networks in torch."""

import subprocess

import pytest
import torch
import torch.nn.functional as F

import aclnn
import graph_program

BATCH, TOKENS, HEADS, WIDTH = 2, 5, 2, 16


@pytest.fixture(scope="session")
def program(tmp_path_factory):
    return graph_program.compiled(tmp_path_factory, "graph_networks")


def run(program, folder, network, tensors, *likes):
    """The outputs of a network, each with the shape and dtype of the one it should be like."""
    with open(folder / "tensors", "w", encoding="utf-8") as lines:
        for name, tensor in tensors.items():
            (folder / name).write_bytes(tensor.contiguous().numpy().tobytes())
            lines.write(f"{name} {aclnn.DTYPES[tensor.dtype]} {tensor.dim()} {' '.join(map(str, tensor.shape))}\n")
    done = subprocess.run([program, network, folder], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return [torch.frombuffer(bytearray((folder / f"out.{place}").read_bytes()), dtype=like.dtype).reshape(like.shape)
            for place, like in enumerate(likes)]


def test_a_shape_in_device_memory_changes_between_runs(program, tmp_path):
    done = subprocess.run([program, "reshape", tmp_path], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "in a capture, which cannot read them" in done.stderr


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_cnn_computes(program, tmp_path, seed):
    torch.manual_seed(seed)
    t = {"input": torch.randn(2, 1, 9, 9), "filter1": torch.randn(4, 1, 3, 3), "bias1": torch.randn(4),
         "filter2": torch.randn(8, 2, 3, 3), "scale": torch.randn(8), "offset": torch.randn(8), "mean": torch.randn(8),
         "variance": torch.rand(8) + 0.5, "weight": torch.randn(10, 24) / 4, "bias": torch.randn(10)}
    x = F.relu(F.conv2d(t["input"], t["filter1"], t["bias1"], padding=1))
    x = F.max_pool2d(F.pad(x, (0, 1, 0, 1), value=float("-inf")), 2)
    x = F.conv2d(x, t["filter2"], groups=2)
    x = F.relu(F.batch_norm(x, t["mean"], t["variance"], t["scale"], t["offset"]))
    odds = F.linear(x.mean(-1).reshape(2, -1), t["weight"], t["bias"]).softmax(-1)
    best = odds.argmax(-1).int()
    made, at = run(program, tmp_path, "cnn", t, odds, best)
    torch.testing.assert_close(made, odds)
    assert torch.equal(at, best)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_transformer_computes(program, tmp_path, seed):
    torch.manual_seed(seed)
    t = {"input": torch.randint(0, 20, (BATCH, TOKENS)), "embedding": torch.randn(20, WIDTH),
         "positions": torch.randn(TOKENS, WIDTH), "qkv": torch.randn(WIDTH, 3 * WIDTH) / 4,
         "mask": torch.full((TOKENS, TOKENS), float("-inf")).triu(1), "out": torch.randn(WIDTH, WIDTH) / 4,
         "up": torch.randn(WIDTH, 4 * WIDTH) / 4, "down": torch.randn(4 * WIDTH, WIDTH) / 8}
    for norm in ("norm1", "norm2"):
        t |= {f"{norm}.gamma": torch.randn(WIDTH), f"{norm}.beta": torch.randn(WIDTH)}

    x = (t["embedding"][t["input"]] + t["positions"]).reshape(-1, WIDTH)
    normed = F.layer_norm(x, [WIDTH], t["norm1.gamma"], t["norm1.beta"])
    query, key, value = (part.reshape(BATCH, TOKENS, HEADS, -1).transpose(1, 2) for part in (normed @ t["qkv"]).chunk(3, -1))
    seen = F.scaled_dot_product_attention(query, key, value, is_causal=True)
    x = x + seen.transpose(1, 2).reshape(-1, WIDTH) @ t["out"]
    normed = F.layer_norm(x, [WIDTH], t["norm2.gamma"], t["norm2.beta"])
    x = (x + F.gelu(normed @ t["up"]) @ t["down"]).reshape(BATCH, TOKENS, WIDTH)
    halves = torch.cat([x.mean(1), x[:, -1]], -1).half()
    tokens, both = run(program, tmp_path, "transformer", t, x, halves)
    torch.testing.assert_close(tokens, x, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(both, halves)
