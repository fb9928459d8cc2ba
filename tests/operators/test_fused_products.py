# SPDX-License-Identifier: Apache-2.0
"""A product and what follows it in one operator, by loops."""

import itertools

import pytest
import torch

import aclnn
import loops

AFTER = {"": lambda y, x3: y, "relu": lambda y, x3: max(y, 0.0), "gelu_erf": lambda y, x3: loops.gelu(y, False),
         "gelu_tanh": lambda y, x3: loops.gelu(y, True), "add": lambda y, x3: y + x3, "mul": lambda y, x3: y * x3}
TOLERANCES = {torch.float32: 2e-5, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}


def call(device, given):
    words = ("x1", "x2", "bias", "x3", "fusedOpType", "cubeMathType", "y")
    aclnn.call(device, "aclnnFusedMatmul", *[given.get(word, 0 if word == "cubeMathType" else None) for word in words])
    return given["y"]


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("batch", [(), (2,)])
@pytest.mark.parametrize("after, biased", itertools.product(AFTER, [False, True]))
def test_what_follows(device, dtype, batch, after, biased):
    torch.manual_seed(4)
    x1, x2, bias = torch.randn(*batch, 3, 4).to(dtype), torch.randn(*batch, 4, 5).to(dtype), torch.randn(5).to(dtype)
    x3 = torch.randn(*batch, 3, 5).to(dtype)
    wanted = torch.zeros(*batch, 3, 5, dtype=torch.float64)
    for place in itertools.product(*map(range, wanted.shape)):
        *before, row, column = place
        one, other = x1[tuple(before)], x2[tuple(before)]
        total = sum(one[row, at].item() * other[at, column].item() for at in range(4))
        total += bias[column].item() if biased else 0.0
        wanted[place] = AFTER[after](total, x3[place].item())
    y = call(device, {"x1": x1, "x2": x2, "bias": bias if biased else None, "x3": x3 if after in ("add", "mul") else None,
                      "fusedOpType": after, "y": torch.full_like(x3, 7)})
    torch.testing.assert_close(y.double(), wanted, rtol=TOLERANCES[dtype], atol=TOLERANCES[dtype])


WRONG = [({"fusedOpType": "tanh"}, "fusedOpType is tanh; expected relu, gelu_erf, gelu_tanh, add, mul or an empty text"),
         ({"fusedOpType": "add"}, "x3 is null; expected a tensor if fusedOpType is add or mul"),
         ({"x3": torch.ones(3, 5)}, "x3 is not null; expected a tensor if fusedOpType is add or mul, and null"),
         ({"fusedOpType": "mul", "x3": torch.ones(3, 4)}, "x3 has shape \\[3, 4\\]; expected \\[3, 5\\]"),
         ({"bias": torch.ones(4)}, "bias has shape \\[4\\]; expected one number for each of the 5 columns"),
         ({"x2": torch.ones(3, 5)}, "x1 and x2 have shapes \\[3, 4\\] and \\[3, 5\\]; expected matrices"),
         ({"x2": torch.ones(4, 5).half()}, "x1 and x2 have dtypes Float and Half; expected"),
         ({"y": torch.full((3, 4), 7.0)}, "y has shape \\[3, 4\\]; expected \\[3, 5\\], the shape of the result")]


@pytest.mark.parametrize("changes, text", WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_is_named(device, changes, text):
    given = {"x1": torch.ones(3, 4), "x2": torch.ones(4, 5), "fusedOpType": "relu", "y": torch.full((3, 5), 7.0)} | changes
    with pytest.raises(aclnn.Failed, match=f"aclnnFusedMatmulGetWorkspaceSize: {text}") as info:
        call(device, given)
    assert info.value.code == 161002
    assert (given["y"] == 7).all()
