# SPDX-License-Identifier: Apache-2.0
"""What a function computes, by torch on plain tensors: the line of its table, read as Python, with
what the lines' helpers mean written once more."""

import re

import torch

import aclnn
import families


def _called(name, values):
    """Calls the first overload that takes the values: C++ has no arguments by keyword only."""
    packet, faults = getattr(torch.ops.aten, name), []
    for overload in packet.overloads():
        operator = getattr(packet, overload)
        taken = operator._schema.arguments
        if overload.endswith("out") or len(values) > len(taken) or any(
                not one.has_default_value() for one in taken[len(values):]):
            continue
        named = list(zip(taken, values))
        if any(isinstance(value, torch.Tensor) for value in values) and not any("Tensor" in str(one.type) for one in taken):
            continue
        if any("Tensor" == str(one.type) and not isinstance(value, torch.Tensor) for one, value in named):
            continue
        try:
            return operator(*[value for one, value in named if not one.kwarg_only],
                            **{one.name: value for one, value in named if one.kwarg_only})
        except (RuntimeError, TypeError, NotImplementedError) as fault:
            faults.append(fault)
    raise faults[0] if faults else TypeError(f"no overload of {name} takes {len(values)} arguments")


class _At:
    kBool, kByte, kInt, kLong, kFloat, kDouble = (torch.bool, torch.uint8, torch.int32, torch.int64, torch.float32,
                                                  torch.float64)

    def __getattr__(self, name):
        if name in ("IntArrayRef",):
            return lambda *values: list(values[0]) if values else []
        if name == "Tensor":
            return lambda tensor: tensor
        return lambda *values: _called(name, values)


def index(tensor):
    return tensor.long()


def product(one, other):
    dtype = torch.result_type(one, other)
    return torch.matmul(one.to(dtype), other.to(dtype))


def add_product(self, one, other, beta, alpha):
    result = product(one, other) * alpha
    return result if beta == 0 else result + self * beta


def divide_rounded(self, other, mode):
    if mode:
        return divided(lambda one, two: torch.div(one, two, rounding_mode=["trunc", "floor"][mode - 1]))(self, other)
    return torch.div(self, other, rounding_mode=[None, "trunc", "floor"][mode])


def divided(function):
    """A division whose integers torch would trap at."""
    def checked(self, other):
        dtype = torch.result_type(self, other)
        if not dtype.is_floating_point and not dtype.is_complex and bool((torch.as_tensor(other) == 0).any()):
            raise RuntimeError("an integer is divided by 0")
        return function(self, other)
    return checked


def gather_rows(self, dim, places):
    places = torch.where(places < 0, places + self.shape[dim], places).long()
    moved = self.movedim(dim, 0)[places.flatten()]
    moved = moved.reshape(*places.shape, *moved.shape[1:])
    axes = list(range(places.dim()))
    return moved.movedim(axes, [dim % self.dim() + axis for axis in axes])


def scatter_into(self, dim, places, source, reduce):
    if not isinstance(source, torch.Tensor):
        source = torch.full(places.shape, source, dtype=self.dtype)
    source, result = source.to(self.dtype), self.clone()
    if reduce == 0:
        return result.scatter_(dim, places.long(), source)
    return result.scatter_(dim, places.long(), source, reduce="add" if reduce == 1 else "multiply")


def one_hot(self, classes, on, off, axis):
    hot = torch.stack([torch.where(self == number, on, off) for number in range(classes)], -1)
    return hot.movedim(-1, axis)


def scatter_nd(data, indices, updates):
    result = data.clone()
    flat = indices.reshape(-1, indices.shape[-1]).tolist()
    rows = updates.reshape(len(flat), *data.shape[indices.shape[-1]:])
    for place, row in zip(flat, rows, strict=True):
        result[tuple(place)] = row
    return result


def slice_along(self, starts, ends, axes, steps):
    picked = [slice(None)] * self.dim()
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        picked[axis] = slice(start, end, step)
    return self[tuple(picked)]


def series(start, _, step, __, out):
    return start + step * torch.arange(out.numel(), dtype=torch.float64)


def prelu_backward(grad, self, weight):
    with torch.enable_grad():
        x, w = self.clone().requires_grad_(), weight.clone().requires_grad_()
        torch.nn.functional.prelu(x, w).backward(grad)
    return x.grad, w.grad


def batch_norm(x, weight, bias, mean, var, training, momentum, eps):
    mean, var = mean.clone(), var.clone()
    result = torch.ops.aten.native_batch_norm(x, weight, bias, mean, var, training, momentum, eps)
    return (*result, mean, var) if training else (result[0], None, None, None, None)


def convolve(x, weight, bias, stride, padding, dilation, transposed, more, groups):
    dtype = torch.result_type(x, weight)
    more = more if transposed else [0] * len(stride)
    return torch.ops.aten.convolution(x.to(dtype), weight.to(dtype), bias, stride, padding, dilation, transposed,
                                      more, groups)


def max_pool(self, kernel, strides, _, pads, dilations, ceil):
    pads = pads if len(pads) == 4 else [*pads, *pads]
    padded = torch.nn.functional.pad(self, [pads[1], pads[3], pads[0], pads[2]], value=float("-inf"))
    return torch.nn.functional.max_pool2d(padded, kernel, strides, 0, dilations, ceil)


def avg_pool(self, kernel, strides, pads, ceil, whole, divisor):
    return torch.nn.functional.avg_pool2d(self, kernel, strides, pads, ceil, whole, divisor)


def cross_entropy(features, labels):
    logs = torch.log_softmax(features, -1)
    return -(labels * logs).sum(-1), logs.exp() - labels


def solve_triangular(b, matrix, upper, transpose, unitriangular):
    wanted = matrix.mT if transpose else matrix
    return torch.linalg.solve_triangular(wanted, b, upper=upper != transpose, unitriangular=unitriangular), matrix


def dropped(self, mask, drop):
    bits = torch.stack([(mask >> place) & 1 for place in range(8)], -1).flatten()[:self.numel()]
    return torch.where(bits.reshape(self.shape).bool(), self * (1 / (1 - drop)), torch.zeros((), dtype=self.dtype))


def unscaled(gradients, found, scale):
    bad = any(not torch.isfinite(gradient).all() for gradient in gradients)
    return [gradient * scale.reshape(()) for gradient in gradients], torch.maximum(found, torch.full_like(found, bad))


def product_of(self, *rest):
    """Products of float16 and bfloat16 are rounded once."""
    *dims, dtype = rest
    asked = dtype or (self.dtype if self.is_floating_point() or self.is_complex() else torch.int64)
    wide = torch.float32 if asked in (torch.float16, torch.bfloat16) else asked
    return torch.prod(self, *dims, dtype=wide).to(asked)


def cumsum_ways(self, dim, exclusive, reverse):
    moved = self.flip(dim) if reverse else self
    sums = moved.cumsum(dim)
    if exclusive:
        sums = torch.cat([torch.zeros_like(sums.narrow(dim, 0, 1)), sums.narrow(dim, 0, self.shape[dim] - 1)], dim)
    return sums.flip(dim) if reverse else sums


def channels(statistics, x):
    return statistics.double().reshape([1, -1] + [1] * (x.dim() - 2))


def norm_stats(x, eps):
    x = x.double().transpose(0, 1).flatten(1)
    return x.mean(1).float(), (x.var(1, unbiased=False) + eps).rsqrt().float()


def norm_of_parts(mean, invstd, running_mean, running_var, momentum, eps, counts):
    """Adds the parts one after another, as the textbook has it."""
    total, middle, squares = 0.0, 0.0, 0.0
    for m, i, n in zip(mean.double(), invstd.double(), counts.double()):
        apart = m - middle
        squares = squares + (i ** -2 - eps) * n + apart ** 2 * total * n / (total + n)
        middle, total = middle + apart * n / (total + n), total + n
    results = (middle, (squares / total + eps).rsqrt(), running_mean.double() * (1 - momentum) + middle * momentum,
               running_var.double() * (1 - momentum) + squares / (total - 1) * momentum)
    return [result.float() for result in results]


def norm_elemt(x, weight, bias, mean, invstd):
    return ((x - channels(mean, x)) * channels(invstd, x) * channels(weight, x) + channels(bias, x)).float()


def norm_reduce(grad, x, mean, invstd, *_):
    dims = [0, *range(2, x.dim())]
    sums, along = grad.double().sum(dims), (grad.double() * (x - channels(mean, x))).sum(dims)
    return sums.float(), along.float(), (along * invstd).float(), sums.float()


def norm_elemt_backward(grad, x, mean, invstd, weight, sums, along, counter):
    total = counter.sum().double()
    moved = (x - channels(mean, x)) * channels(invstd, x) ** 2 * channels(along, x) / total
    return ((grad - channels(sums, x) / total - moved) * channels(invstd, x) * channels(weight, x)).float()


def differentiated(loss):
    """The gradient of a reduced loss of self, by torch's own in float64."""
    def gradient(grad, self, target, *rest):
        rest = [one.double() if isinstance(one, torch.Tensor) else one for one in rest]
        with torch.enable_grad():
            x = self.double().requires_grad_()
            result = loss(x, target.double(), *rest)
            result.backward(grad.double().expand_as(result))
        return x.grad.to(self.dtype)
    return gradient


def numbers(tensor, _):
    return tensor.tolist()


def multiply(call):
    return product(call["self"], call["mat2"])


HELPERS = {
    "Index": index, "Product": product, "AddProduct": add_product, "DivideRounded": divide_rounded,
    "Remainder": divided(torch.remainder), "Fmod": divided(torch.fmod), "FloorDivide": divided(torch.floor_divide),
    "GatherRows": gather_rows, "ScatterInto": scatter_into, "OneHot": one_hot, "ScatterNd": scatter_nd,
    "AddAll": lambda tensors: sum(tensors[1:], tensors[0]), "SliceAlong": slice_along, "Series": series, "PreluBackward": prelu_backward,
    "BatchNorm": batch_norm, "Convolve": convolve, "MaxPool2d": max_pool, "AvgPool2d": avg_pool,
    "CrossEntropyOfProbabilities": cross_entropy, "SolveTriangular": solve_triangular, "MaskedDropout": dropped,
    "Unscaled": unscaled, "Numbers": numbers, "Number": lambda tensor: tensor.item(),
    "ZeroesLike": lambda tensors: [torch.zeros_like(tensor) for tensor in tensors],
    "Scalar": lambda value, _: torch.tensor([value]), "Mask": lambda count, flags: list(flags or [True] * count),
    "RowsOf": lambda grad, indices, weights: indices.long(), "Mode": lambda mode, name: mode,
    "PlacesIn": lambda self, axes, indices, grad: indices.long(), "Labels": lambda targets, *_: targets.long(),
    "DimsOf": lambda dims, self: list(dims), "BatchNormBackward": torch.ops.aten.native_batch_norm_backward,
    "LayerNormBackward": torch.ops.aten.native_layer_norm_backward,
    "CtcLossBackward": torch.ops.aten._ctc_loss_backward.default,
    "Scale": lambda scale: scale if scale > 0 else None, "Divisor": lambda divisor: divisor or None,
    "Channels": lambda weight, self: weight.reshape([1, -1] + [1] * (self.dim() - 2)),
    "Indices": lambda indices: [None if one is None else one if one.dtype == torch.bool else one.long()
                                for one in indices],
    "IndexOf": lambda values, _: torch.tensor(list(values)), "at": _At(),
    "ProductOf": product_of, "CumsumWays": cumsum_ways, "BatchNormStats": norm_stats, "BatchNormOfParts": norm_of_parts,
    "BatchNormElemt": norm_elemt, "BatchNormReduceBackward": norm_reduce, "BatchNormElemtBackward": norm_elemt_backward,
    "Correction": int, "KlGradient": differentiated(lambda x, target, reduction, logs: torch.nn.functional.kl_div(
        x, target, reduction=["none", "mean", "sum"][reduction], log_target=logs)),
    "LogitsGradient": differentiated(lambda x, target, weight, more, reduction: torch.ops.aten.binary_cross_entropy_with_logits(
        x, target, weight, more, reduction)),
    "GradientOfMean": lambda grad, self, reduction: grad / self.numel() if reduction == 1 else grad,
}

def ordered_product(a):
    return torch.einsum("mbk,bkn->mbn", a["x1"], a["x2"])


# Lines that are no Python when they are read so.
WHOLE = {
    "aclnnStd": lambda a: torch.std(a["self"], a["dim"], correction=a["correction"], keepdim=a["keepdim"]),
    "aclnnVarCorrection": lambda a: torch.var(a["self"], a["dim"], correction=a["correction"], keepdim=a["keepdim"]),
    "aclnnGeluV2": lambda a: torch.nn.functional.gelu(a["x"], approximate="tanh" if a["approximate"] == 1 else "none"),
    "aclnnGeluBackwardV2": lambda a: torch.ops.aten.gelu_backward(
        a["gradOutput"], a["self"], approximate="tanh" if a["approximate"] == "tanh" else "none"),
    "aclnnGemm": lambda a: product(a["A"].t() if a["transA"] else a["A"], a["B"].t() if a["transB"] else a["B"])
    * a["alpha"] + a["C"] * a["beta"],
    "aclnnEye": lambda a: torch.eye(a["n"], a["m"], dtype=a["out"].dtype),
    "aclnnLinspace": lambda a: torch.linspace(a["start"], a["end"], a["steps"], dtype=torch.float64),
    "aclnnLogSpace": lambda a: torch.logspace(a["start"], a["end"], a["steps"], a["base"], dtype=torch.float64),
    "aclnnQr": lambda a: torch.linalg.qr(a["self"], "reduced" if a["some"] else "complete"),
    "aclnnSearchSorted": lambda a: torch.searchsorted(a["sortedSequence"], a["self"], out_int32=a["outInt32"], right=a["right"]),
    "aclnnSearchSorteds": lambda a: torch.searchsorted(a["sortedSequence"], a["self"], out_int32=a["outInt32"], right=a["right"]),
    "aclnnSoftshrinkBackward": lambda a: torch.ops.aten.softshrink_backward(a["gradOutput"], a["self"], a["lambda"]),
    "aclnnInplaceFillTensor": lambda a: torch.full_like(a["selfRef"], a["value"].item()),
    "aclnnConvDepthwise2d": lambda a: convolve(a["self"], a["weight"], a["bias"], a["stride"], a["padding"],
                                               a["dilation"], False, [], a["self"].shape[1]),
    "aclnnEmbeddingDenseBackward": lambda a: torch.ops.aten.embedding_dense_backward(
        a["grad"], a["indices"], a["numWeights"], -1, a["scaleGradByFreq"]),
    "aclnnRepeat": lambda a: a["self"].repeat(a["repeats"]),
    "aclnnFusedMatmul": lambda a: product(a["x1"], a["x2"]) + a["bias"] + a["x3"],
    "aclnnTransposeBatchMatMul": ordered_product, "aclnnTransposeBatchMatMulWeightNz": ordered_product,
    "aclnnBatchMatMulWeightNz": multiply, "aclnnMatmulWeightNz": multiply,
    "aclnnBatchMatMul": multiply, "aclnnMatmul": multiply, "aclnnMm": multiply,
}


def python_of(computes):
    text = re.sub(r"Mask<(\d)>\(", r"Mask(\1, ", computes)
    text = text.replace("static_cast<int64_t>", "").replace("std::make_tuple", "").replace(".toLong()", "")
    text = text.replace(".scalar_type()", ".dtype").replace("::", ".")
    text = re.sub(r"(\w+)\.size\(\)\)", r"len(\1))", text)
    text = text.replace("{}", "()")
    text = re.sub(r"(\w+)\.value_or\(([^()]*(?:\(\))?)\)", r"(\2 if \1 is None else \1)", text)
    return re.sub(r"\btrue\b", "True", re.sub(r"\bfalse\b", "False", text))


def expected(function, values):
    """The results of a function for arguments by name, as a tuple."""
    if function in families.CASES:
        row, results = aclnn.functions()[function], families.expected(function, values)
        return tuple(results.get(row["arguments"][place]["name"]) for place in row["outputs"])
    for argument in aclnn.functions()[function]["arguments"]:
        word = argument["name"]  # a scalar is passed in float32
        if argument["kind"] == "kScalar" and isinstance(values.get(word), float):
            values = {**values, word: torch.tensor(values[word], dtype=torch.float32).item()}
    if function in WHOLE:
        result = WHOLE[function](values)
    else:
        computes = aclnn.functions()[function]["computes"]
        result = eval(python_of(computes), dict(HELPERS), dict(values))  # pylint: disable=eval-used
    if len(aclnn.functions()[function]["outputs"]) == 1:
        return (result,)
    return tuple(result)
