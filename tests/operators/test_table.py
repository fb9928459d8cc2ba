# SPDX-License-Identifier: Apache-2.0
"""Every function that computes, against torch on plain tensors: bit for bit."""

import pytest
import torch

import aclnn
import families
import recipes
import references

COMPUTED = sorted(name for name, row in aclnn.functions().items() if row["computes"])
# The families of language models have tests of their own.
TABLE = [name for name in COMPUTED if name not in recipes.RANDOM
         and aclnn.functions()[name]["table"] not in families.TABLES]
ELEMENTWISE = [name for name in TABLE if aclnn.functions()[name]["table"] == "elementwise"]


def same(one, other):
    if isinstance(one, list):
        return all(map(same, one, other))
    return one.dtype == other.dtype and torch.equal(torch.nan_to_num(one, 12345.0), torch.nan_to_num(other, 12345.0))


def copied(value):
    if isinstance(value, torch.Tensor):
        return value.clone()
    return [copied(member) for member in value] if isinstance(value, list) else value


def cast(result, output):
    if isinstance(result, (list, tuple)):
        return [cast(one, other) for one, other in zip(result, output, strict=True)]
    return result.to(output.dtype).reshape(output.shape)


def run(device, name, values, outputs=None, dtype=None):
    """Runs a function. Returns its outputs and what they must be."""
    row = aclnn.functions()[name]
    before = {word: copied(value) for word, value in values.items()}
    if name in ("aclnnEye", "aclnnArange", "aclnnRange"):
        shape = {"aclnnEye": (4, 3), "aclnnArange": (4,), "aclnnRange": (5,)}[name]
        before["out"] = torch.empty(shape)
    wanted = references.expected(name, before)
    places = row["outputs"]
    words = [row["arguments"][place]["name"] for place in places]
    made = outputs or recipes.outputs_for(wanted, dtype)
    for place, word in enumerate(words):
        if word in values:
            made[place] = values[word]
    arguments = []
    for argument in row["arguments"]:
        word = argument["name"]
        if word in words:
            arguments.append(made[words.index(word)])
        else:
            arguments.append(values.get(word, 0))
    aclnn.call(device, name, *arguments)
    if name == "aclnnCtcLoss":  # of log_alpha, what lies beyond the lengths has no value
        made, wanted = made[:1], wanted[:1]
    return [(output, cast(result, output)) for output, result in zip(made, wanted, strict=True) if output is not None
            and result is not None]


def check(pairs):
    for output, wanted in pairs:
        assert same(output, wanted), (output, wanted)


@pytest.mark.parametrize("name", TABLE)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_usual_call(device, name, seed):
    torch.manual_seed(seed)
    check(run(device, name, recipes.arguments(name)))


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise_dtypes(device, name):
    """Where torch refuses a dtype, the function refuses, too: then no output is written."""
    computed = 0
    for dtype in (torch.float16, torch.bfloat16, torch.float64, torch.int32, torch.int64, torch.uint8, torch.bool):
        for shape in ((3, 4), (), (0, 2), (2, 1, 2, 3, 1)):
            torch.manual_seed(4)
            values = recipes.plain(name, dtype, shape)
            try:
                pairs = run(device, name, values)
            except (RuntimeError, TypeError, IndexError, KeyError):
                continue
            except aclnn.Failed as failed:
                assert failed.code in (161002, 507035, 507018), failed
                continue
            computed += 1
            check(pairs)
    assert computed > 0


@pytest.mark.parametrize("name", ELEMENTWISE)
@pytest.mark.parametrize("layout", [0, 1, 2])
def test_elementwise_layouts(device, name, layout):
    """Views of all kinds. ATen's vectors and its loops for strides may differ in the last bits."""
    torch.manual_seed(5)
    values = {word: recipes.layout(value, layout) if isinstance(value, torch.Tensor) else value
              for word, value in recipes.arguments(name).items()}
    for output, wanted in run(device, name, values):
        torch.testing.assert_close(output, wanted, rtol=1e-5, atol=1e-6, equal_nan=True)
