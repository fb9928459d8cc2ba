# SPDX-License-Identifier: Apache-2.0
"""Plain loops over lists of Python's floats, which are float64: parts of references."""

import itertools
import math

import torch


class Near:
    """Whole numbers that a function rounds: the float64 values before, and the least and most number."""

    def __init__(self, values, least=-128, most=127, dtype=torch.int8):
        self.values, self.least, self.most, self.dtype = values.double(), least, most, dtype

    def tensor(self):
        return self.values.nan_to_num(0).round().clamp(self.least, self.most).to(self.dtype)


def flat(tensor):
    return tensor.double().flatten().tolist()


def rows(tensor, dims=1):
    """The rows of the last dims, as lists."""
    size = math.prod(tensor.shape[tensor.dim() - dims:])
    numbers = flat(tensor)
    return [numbers[begin:begin + size] for begin in range(0, len(numbers), size)] if size else []


def shaped(numbers, shape, dtype=torch.float64):
    """Nested or flat lists as a tensor of that shape and dtype."""
    while numbers and isinstance(numbers[0], list):
        numbers = list(itertools.chain.from_iterable(numbers))
    return torch.tensor(numbers, dtype=torch.float64).reshape(shape).to(dtype)


def sigmoid(x):
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def silu(x):
    return x * sigmoid(x)


def gelu(x, tanh):
    if tanh:
        return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))
    return 0.5 * x * (1 + math.erf(x / math.sqrt(2)))


def half_even(x):
    """Rounds half to even, as Python's own round does."""
    return math.copysign(math.inf, x) if math.isinf(x) else 0 if math.isnan(x) else round(x)


def saturated(x, least=-128, most=127):
    return min(max(x, least), most)


def row_scale(row, most=127):
    """What a row's numbers are multiplied with, in float32."""
    return max(abs(x) for x in row) / most


def by_row(numbers, shape, most=127):
    """Dynamic numbers of rows of the last dim: those before rounding, and their scales."""
    scales = [row_scale(row, most) for row in numbers]
    values = [[x / scale if scale else 0.0 for x in row] for row, scale in zip(numbers, scales)]
    return (Near(shaped(values, shape), -most - 1, most),
            shaped(scales, shape[:-1], torch.float32))


def gradient(function, tensors, place, weights, step=1e-6):
    """The gradient of sum(weights * function(*tensors)) by tensors[place], by central differences in float64.
    `function` takes and returns float64 tensors."""
    tensors = [tensor.double().clone() if tensor is not None else None for tensor in tensors]
    into = tensors[place]
    result = torch.zeros_like(into)
    for at in itertools.product(*map(range, into.shape)):
        kept = into[at].item()
        sums = []
        for moved in (kept + step, kept - step):
            into[at] = moved
            sums.append((function(*tensors) * weights.double()).sum().item())
        into[at] = kept
        result[at] = (sums[0] - sums[1]) / (2 * step)
    return result
