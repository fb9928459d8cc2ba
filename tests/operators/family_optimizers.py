# SPDX-License-Identifier: Apache-2.0
"""Steps of optimizers: arguments and references."""

import math

import torch

from family_norms import DTYPES, draw, some
from loops import flat, shaped


def adam(a, powers, second):
    """One step, element by element. `powers`: of the betas, at this step."""
    shape, made = a["varRef"].shape, {"varRef": [], "mRef": [], "vRef": [], "most": []}
    beta1, beta2, rate, decay, epsilon = (float(a[name]) for name in ("beta1", "beta2", "lr", "weightDecay", "eps"))
    name = "maxGradNormOptionalRef" if second else "maxGradNormOptional"
    largest = flat(a[name]) if a[name] is not None else None
    for at, (var, m, v, grad) in enumerate(zip(*(flat(a[key]) for key in ("varRef", "mRef", "vRef", "grad")))):
        grad = -grad if a["maximize"] else grad
        m, v = beta1 * m + (1 - beta1) * grad, beta2 * v + (1 - beta2) * grad * grad
        most = max(largest[at], v) if a["amsgrad"] else v
        step = m / (1 - powers[0]) / (math.sqrt(most / (1 - powers[1])) + epsilon)
        made["varRef"].append(var - rate * decay * var - rate * step)
        made["mRef"].append(m)
        made["vRef"].append(v if second else most)
        made["most"].append(most)
    dtype = a["varRef"].dtype
    results = {key: shaped(made[key], shape).to(dtype) for key in ("varRef", "mRef", "vRef")}
    if second and largest is not None:
        results[name] = shaped(made["most"], shape).to(dtype) if a["amsgrad"] else a[name]
    return results


def states(dice):
    dtype = dice.choice(DTYPES)
    return {"varRef": draw(3, 5, dtype=dtype), "mRef": draw(3, 5, dtype=dtype), "vRef": draw(3, 5, dtype=dtype).abs(),
            "grad": draw(3, 5, dtype=dtype), "amsgrad": dice.random() < 0.5, "maximize": dice.random() < 0.5}


def most_of(dice, a):
    largest = a["vRef"].abs() + 0.25
    return largest if a["amsgrad"] else some(dice, largest)


def case_first(dice):
    a = states(dice)
    dtype, step = a["varRef"].dtype, dice.choice([0, 1, 4])
    numbers = {"beta1Power": 0.5 ** step, "beta2Power": 0.75 ** step, "lr": 0.125, "weightDecay": 0.25, "beta1": 0.5,
               "beta2": 0.75, "eps": 0.0625}  # all of them are exact in each dtype, but for a small power
    return {**a, **{name: torch.tensor([number], dtype=dtype) for name, number in numbers.items()},
            "maxGradNormOptional": most_of(dice, a)}


def case_second(dice):
    a = states(dice)
    return {**a, "maxGradNormOptionalRef": most_of(dice, a), "lr": 0.1, "beta1": 0.9, "beta2": 0.99, "weightDecay": 0.02,
            "eps": 1e-3, "step": torch.tensor([dice.choice([0, 1, 8])], dtype=dice.choice([torch.int64, torch.float32]))}


CASES = {
    "ApplyAdamW": (case_first, lambda a: adam(
        a, (float(a["beta1Power"]) * float(a["beta1"]), float(a["beta2Power"]) * float(a["beta2"])), False)),
    "ApplyAdamWV2": (case_second, lambda a: adam(
        a, (a["beta1"] ** (int(a["step"]) + 1), a["beta2"] ** (int(a["step"]) + 1)), True)),
}
