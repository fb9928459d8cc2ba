# SPDX-License-Identifier: Apache-2.0
"""Operators of language models against plain loops, over generated shapes, dtypes and options."""

import random

import pytest
import torch

import aclnn
import families
import loops
import recipes

FUNCTIONS = aclnn.functions()
NUMBERS = ("kInt", "kReal", "kFlag")
EXACT = "quant"  # the table whose results are equal, not near
TOLERANCES = {torch.float64: (2e-5, 2e-5), torch.float32: (2e-5, 2e-5), torch.float16: (2e-3, 2e-3),
              torch.bfloat16: (1.6e-2, 1.6e-2)}
ROUNDS = {"attention": 24}  # of tables that have many options; 6 of others
NEAR_HALF = 1e-3  # float32 may round such a number to the other side


def check(name, word, output, wanted):
    if isinstance(wanted, list):
        for one, other in zip(output, wanted, strict=True):
            check(name, word, one, other)
        return
    if isinstance(wanted, loops.Near):
        found, most = output.double(), wanted.values.clamp(wanted.least, wanted.most).nan_to_num(0)
        assert ((found - most).abs() <= 0.5 + NEAR_HALF).all(), (word, output, wanted.values)
    elif isinstance(wanted, aclnn.Int4):
        assert torch.equal(output.read(), wanted.numbers), (word, output.read(), wanted.numbers)
    elif wanted.dtype.is_floating_point and wanted.dtype.itemsize == 1:
        assert torch.equal(output.view(torch.uint8), wanted.view(torch.uint8)), (word, output, wanted)
    elif wanted.dtype.is_floating_point:
        exact = FUNCTIONS[name]["table"] == EXACT and "Weight" not in name
        relative, absolute = (0, 0) if exact else TOLERANCES[wanted.dtype]
        torch.testing.assert_close(output, wanted, rtol=relative, atol=absolute, equal_nan=True,
                                   msg=lambda text: f"{word}: {text}")
    else:
        assert torch.equal(output, wanted), (word, output, wanted)


def outputs_of(name, values):
    """Outputs of the shapes and dtypes that a call of these arguments has, with other contents."""
    return outputs_for(name, values, expected_of(name, values))


def expected_of(name, values):
    return families.CASES[name][1]({word: value.clone() if isinstance(value, torch.Tensor) else value
                                    for word, value in values.items()})


def outputs_for(name, values, wanted):
    outputs, row = {}, FUNCTIONS[name]
    for word in (row["arguments"][place]["name"] for place in row["outputs"]):
        result = wanted.get(word)
        if isinstance(result, loops.Near):
            result = result.tensor()
        outputs[word] = values[word] if values.get(word) is not None else \
            recipes.outputs_for([result])[0] if result is not None else None
    return outputs


def arguments_of(name, values, outputs):
    """The arguments in the order of the signature."""
    return [outputs[argument["name"]] if argument["name"] in outputs else
            values.get(argument["name"], 0 if argument["kind"] in NUMBERS else None)
            for argument in FUNCTIONS[name]["arguments"]]


def run(device, name, values):
    """Runs a function. Returns its outputs and the expected ones, by name."""
    wanted = expected_of(name, values)
    outputs = outputs_for(name, values, wanted)
    aclnn.call(device, name, *arguments_of(name, values, outputs))
    return outputs, wanted


def test_every_function_of_the_families_has_a_case():
    named = {name for name, row in FUNCTIONS.items() if row["table"] in families.TABLES}
    assert named == set(families.CASES) | {"aclnnMultinomialTensor"}  # which test_random.py has


@pytest.mark.parametrize("name", sorted(families.CASES))
def test_against_loops(device, name):
    for seed in range(1, 1 + ROUNDS.get(FUNCTIONS[name]["table"], 6)):
        torch.manual_seed(seed)
        outputs, wanted = run(device, name, families.CASES[name][0](random.Random(seed)))
        for word, output in outputs.items():
            if output is not None:
                check(name, word, output, wanted[word])
