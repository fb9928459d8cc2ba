# SPDX-License-Identifier: Apache-2.0
"""Random numbers: the same for the same seed and offset, and of their distribution."""

import pytest
import torch

import aclnn
import recipes

FUNCTIONS = aclnn.functions()


def run(device, name, **changes):
    torch.manual_seed(1)
    row = FUNCTIONS[name]
    values = recipes.arguments(name) | changes
    output = row["arguments"][row["outputs"][0]]["name"]
    values.setdefault(output, torch.zeros_like(recipes.RANDOM[name]) if recipes.RANDOM[name] is not None else None)
    aclnn.call(device, name, *[values[argument["name"]] for argument in row["arguments"]])
    return values[output]


@pytest.mark.parametrize("name", sorted(recipes.RANDOM))
def test_seed_and_offset_decide(device, name):
    first = run(device, name, seed=7, offset=3)
    assert torch.equal(first, run(device, name, seed=7, offset=3))
    if first.numel() > 40:
        assert not torch.equal(first, run(device, name, seed=8, offset=3))
        assert not torch.equal(first, run(device, name, seed=7, offset=4))


def test_distributions(device):
    normal = run(device, "aclnnInplaceNormal")
    assert abs(normal.mean() - 2) < 0.1 and abs(normal.std() - 3) < 0.1
    uniform = run(device, "aclnnInplaceUniform")
    assert uniform.min() >= 2 and uniform.max() < 4 and abs(uniform.mean() - 3) < 0.05
    whole = run(device, "aclnnInplaceRandom")
    assert whole.unique().tolist() == [2, 3, 4, 5, 6, 7, 8]
    assert run(device, "aclnnRandperm").sort().values.tolist() == list(range(50))
    mask = run(device, "aclnnDropoutGenMask")
    bits = torch.stack([(mask >> place) & 1 for place in range(8)]).float()
    assert abs(bits.mean() - 0.75) < 0.03


def test_a_mask_drops_what_it_says(device):
    mask = run(device, "aclnnDropoutGenMask")
    ones, out = torch.ones(100, 50), torch.zeros(100, 50)
    aclnn.call(device, "aclnnDropoutDoMask", ones, mask, 0.25, out)
    assert set(out.unique().tolist()) == {0.0, torch.tensor(1 / 0.75).item()}
    assert abs(out.mean() - 1) < 0.05
