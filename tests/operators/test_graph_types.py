# SPDX-License-Identifier: Apache-2.0
"""Types of graph operators: graphs of a node, and of what it reads, against torch."""

import functools
import json
import re
import subprocess
import sys

import pytest
import torch
import torch.nn.functional as F

import aclnn
import families
import graph_program

DTYPES = {number: dtype for dtype, number in aclnn.DTYPES.items()}
FLOATS = (torch.float32, torch.float16, torch.bfloat16)


@functools.lru_cache(None)
def types():
    """{type: what make_operators.py says of it}"""
    made = subprocess.run([sys.executable, aclnn.ROOT / "src/operators/make_operators.py", "types"], check=True,
                          capture_output=True, text=True).stdout
    return {row["type"]: row for row in json.loads(made)}


@pytest.fixture(scope="session")
def program(tmp_path_factory):
    """The program that runs scripts."""
    return graph_program.compiled(tmp_path_factory, "graph_types")


class Node:
    """A node: inputs in the order of the type's, null where it is left out, and attributes.

    A list stands for a dynamic input, and a node for its first output. `parts` is the number of outputs of a dynamic
    output. Const operators are the inputs that are read while the graph is planned, or with `const` "all" every one, or
    with None none of them."""

    captured = False  # by a model, after the other runs

    def __init__(self, kind, inputs, *, parts=1, const="read", **attributes):
        self.kind, self.inputs, self.parts, self.const, self.attributes = kind, inputs, parts, const, attributes

    def as_data(self):
        inputs = [value.as_data() if isinstance(value, Node) else [
            one.as_data() if isinstance(one, Node) else one for one in value] if isinstance(value, list) else value
            for value in self.inputs]
        return Node(self.kind, inputs, parts=self.parts, const=None, **self.attributes)

    def outputs(self):
        """The number of outputs."""
        row = types()[self.kind]
        return sum(self.parts if name in row["lists"] else 1 for name in row["outputs"])

    def lines(self, folder, case):
        """The lines of a script for a graph of the node, whose tensors are written."""
        yield from self.described(folder, case, "tested")
        yield f"run {case} {self.outputs()}{' captured' * self.captured}"

    def described(self, folder, case, name):
        """The lines of the nodes that it takes, and of itself under a name."""
        row = types()[self.kind]
        inputs = []
        for word, value in zip(row["inputs"], self.inputs):
            members = [(f"{word}{place}", one) for place, one in enumerate(value)] if isinstance(value, list) else [(word, value)]
            inputs += [(word, member, one) for member, one in members if one is not None]
        for _, member, value in inputs:
            if isinstance(value, Node):
                yield from value.described(folder, case, f"{name}.{member}")
        yield f"type {self.kind} {name}"
        for word, value in zip(row["inputs"], self.inputs):
            if isinstance(value, list):
                yield f"list {word} in {len(value)}"
        for word, member, value in inputs:
            if isinstance(value, Node):
                yield f"link {member} {name}.{member}"
            else:
                const = self.const == "all" or (self.const == "read" and word in row["read"])
                yield self.input(folder, f"{case}.{name}", member, value, "const" if const else "input")
        for word in row["outputs"]:
            if word in row["lists"]:
                yield f"list {word} out {self.parts}"
        for each in row["attributes"]:
            if each["name"] in self.attributes:
                value = self.attributes[each["name"]]
                words = (" ".join(map(str, value)) if isinstance(value, (list, tuple)) else value
                         if isinstance(value, str) else repr(value + 0))
                yield f"attr {each['name']} {each['kind']} {words}"

    @staticmethod
    def input(folder, case, name, tensor, form):
        """The line of an input, whose tensor is written."""
        file = f"{case}.{name}"
        plain = tensor.contiguous().flatten().view(torch.uint8) if tensor.numel() else torch.empty(0, dtype=torch.uint8)
        (folder / file).write_bytes(plain.numpy().tobytes())
        return f"{form} {name} {aclnn.DTYPES[tensor.dtype]} {file} {tensor.dim()} {' '.join(map(str, tensor.shape))}"


def run(program, folder, nodes):
    """The outputs of each node, or the message of its failure."""
    script = folder / "script"
    script.write_text("\n".join(line for case, node in enumerate(nodes) for line in node.lines(folder, case)) + "\n")
    done = subprocess.run([program, script, folder], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    lines = iter(done.stdout.splitlines())
    results = []
    for case, node in enumerate(nodes):
        said = next(lines)
        if said != f"{case} ok":
            results.append(said.removeprefix(f"{case} failed: "))
            continue
        outputs = []
        for place in range(node.outputs()):
            number, *dims = map(int, next(lines).split())
            raw = (folder / f"{case}.{place}").read_bytes()
            tensor = torch.frombuffer(bytearray(raw), dtype=DTYPES[number]) if raw else torch.empty(0, dtype=DTYPES[number])
            outputs.append(tensor.reshape(dims))
        results.append(outputs)
    return results


def floats(*shape, dtype=torch.float32):
    return (torch.rand(shape) * 0.9 + 0.05).to(dtype)


def wholes(*shape, dtype=torch.int32):
    return torch.randint(1, 50, shape).to(dtype)


def unary(function, *, low=0.05, high=0.95, dtypes=FLOATS):
    def nodes(kind):
        for dtype in dtypes:
            for shape in ((3, 5), (7,), (2, 0), ()):
                x = (torch.rand(shape) * (high - low) + low).to(dtype)
                yield Node(kind, [x]), [function(x)]
    return nodes


def binary(function, *, dtypes=FLOATS + (torch.int32, torch.int64)):
    def nodes(kind):
        for dtype in dtypes:
            made = wholes if dtype in (torch.int32, torch.int64, torch.int16) else floats
            for one, other in (((3, 5), (3, 5)), ((3, 1), (5,)), ((2, 3), ())):
                x, y = made(*one, dtype=dtype), made(*other, dtype=dtype)
                yield Node(kind, [x, y]), [function(x, y)]
    return nodes


def loss(function):
    """A loss of two tensors, by each of its reductions."""
    return lambda kind: ((Node(kind, [x, y], **({} if way == "mean" else {"reduction": way})), [function(x, y, reduction=way)])
                         for x, y in [(torch.randn(3, 4), torch.randn(3, 4))] for way in ("mean", "none", "sum"))


def logical(function):
    return lambda kind: ((Node(kind, [x, y]), [function(x, y)]) for x, y in [
        (torch.tensor([True, True, False, False]), torch.tensor([True, False, True, False]))])


def listed(*cases):
    """Cases that are written out: inputs, attributes, outputs."""
    return lambda kind: ((Node(kind, list(inputs), **attributes), list(outputs)) for inputs, attributes, outputs in cases)


def activation(function, **attributes):
    def nodes(kind):
        for dtype in FLOATS:
            x = (torch.randn(3, 40) * 4).to(dtype)
            yield Node(kind, [x], **attributes), [function(x).to(dtype)]
    return nodes


def reduced(function, dtypes=FLOATS):
    def nodes(kind):
        for dtype in dtypes:
            x = floats(3, 4, 5, dtype=dtype) if dtype.is_floating_point else torch.rand(3, 4, 5).gt(0.8).to(dtype)
            for axes, keep in (([1], False), ([-1], True), ([0, 2], False)):
                if kind != "ReduceProdD" or len(axes) == 1:
                    yield Node(kind, [x], axes=axes, keep_dims=keep), [function(x, axes, keep)]
    return nodes


def product(turned, biased):
    """Products of matrices, whose factors may be transposed by attributes of these names."""
    def nodes(kind):
        batch = (2,) if kind.startswith("Batch") else ()
        for one, other, bias in ((False, False, False), (True, False, biased), (False, True, biased), (True, True, False)):
            for dtype in (torch.float32, torch.float16):
                x, y = torch.randn(*batch, 3, 4).to(dtype), torch.randn(*batch, 4, 5).to(dtype)
                b = torch.randn(5).to(dtype) if bias else None
                wanted = x.float() @ y.float() + (b.float() if bias else 0)
                given = [x.mT.contiguous() if one else x, y.mT.contiguous() if other else y]
                optional = [b, None][:len(types()[kind]["inputs"]) - 2]
                yield Node(kind, given + optional, **{turned + "1": one, turned + "2": other}), [wanted.to(dtype)]
    return nodes


def rms(x, gamma, epsilon):
    wide = x.float()
    rstd = (wide.square().mean(-1, keepdim=True) + epsilon).rsqrt()
    return (wide * rstd * gamma.float()).to(x.dtype), rstd


def norms(kind):
    for dtype in FLOATS:
        x, other, gamma = (torch.randn(*shape).to(dtype) for shape in ((4, 8), (4, 8), (8,)))
        if kind == "RmsNorm":
            yield Node(kind, [x, gamma], epsilon=1e-3), [*rms(x, gamma, 1e-3)]
        else:
            total = (x.float() + other.float()).to(dtype)
            yield Node(kind, [x, other, gamma], epsilon=1e-3), [*rms(total, gamma, 1e-3), total]


def layer_norms(kind):
    for axis in (1, -1):
        x = torch.randn(2, 3, 4)
        gamma, beta = torch.randn(x.shape[axis:]), torch.randn(x.shape[axis:])
        wanted = torch.native_layer_norm(x, list(gamma.shape), gamma, beta, 1e-3)
        yield Node(kind, [x, gamma, beta], begin_norm_axis=axis, begin_params_axis=axis, epsilon=1e-3), [*wanted]


def ints(*numbers, dtype=torch.int64):
    """The elements of an input that is read."""
    return torch.tensor(numbers, dtype=dtype)


def reduced_by_input(function, dtypes=FLOATS):
    """The type without D at its end: its axes are an input."""
    def nodes(kind):
        for node, outputs in reduced(function, dtypes)(kind + "D"):
            axes = ints(*node.attributes["axes"], dtype=torch.int32)
            yield Node(kind, [node.inputs[0], axes], keep_dims=node.attributes["keep_dims"]), outputs
    return nodes


def joined(kind):
    """Tensors along an axis, which is an attribute or an input in front of them or behind."""
    for axis, dtype in ((0, torch.float32), (1, torch.bfloat16), (-1, torch.int32), (1, torch.bool)):
        parts = [(torch.rand(2, 3) * 9).to(dtype) for _ in range(3)]
        wanted = [torch.cat(parts, axis)]
        if kind.endswith("D"):
            yield Node(kind, [parts], concat_dim=axis, N=3), wanted
        elif kind == "Concat":
            yield Node(kind, [ints(axis, dtype=torch.int32), parts], N=3), wanted
        else:
            yield Node(kind, [parts, ints(axis)]), wanted


def parted(kind):
    """Parts of a tensor along an axis: equal ones, or of given sizes."""
    for axis, count, dtype in ((0, 2, torch.float32), (-1, 3, torch.float16), (1, 1, torch.int64)):
        x = (torch.rand(4, 2, 6) * 9).to(dtype)
        sizes = [x.shape[axis] // count] * count
        if "V" in kind and count > 1:
            sizes = [1] * (count - 1) + [x.shape[axis] - count + 1]
        wanted = list(x.split(sizes, axis))
        given = [*sizes[:-1], -1]
        at = ints(axis, dtype=torch.int32)
        inputs, attributes = {
            "Split": ([at, x], {}), "SplitD": ([x], {"split_dim": axis}),
            "SplitV": ([x, ints(*given), at], {}), "SplitVD": ([x], {"size_splits": sizes, "split_dim": axis})}[kind]
        yield Node(kind, inputs, parts=count, num_split=count, **attributes), wanted


def sliced(kind):
    x = torch.arange(120.0).reshape(4, 5, 6)
    masks = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
    for begin, end, steps, bits, wanted in (
            ([1, 0, 2], [3, 5, 6], [1, 2, 3], (0, 0, 0, 0, 0), x[1:3, 0:5:2, 2:6:3]),
            ([1, -3], [9, -1], [1, 1], (0, 0, 0, 0, 0), x[1:9, -3:-1]),
            ([1, 2], [2, 3], [1, 1], (1, 2, 0, 0, 0), x[:2, 2:]),
            ([0, 0, 1], [0, 0, 3], [1, 1, 1], (0, 0, 2, 0, 1), x[0, ..., 1:3]),
            ([0, 2, 3], [0, 3, 9], [1, 1, 1], (0, 0, 0, 1, 2), x[None, 2, 3:9]),
            ([4], [4], [1], (0, 0, 0, 0, 0), x[4:4]),
            # Backwards: torch has no such slices.
            ([3, 4], [0, 0], [-1, -2], (0, 0, 0, 0, 0), x[1:4].flip(0)[:, [4, 2]]),
            ([0, 1], [0, 4], [-1, 1], (1, 1, 0, 0, 0), x.flip(0)[:, 1:4]),
            ([-1, 99, 0], [-9, -9, 6], [-3, -1, 2], (0, 0, 0, 0, 0), x[[3, 0]].flip(1)[:, :, ::2]),
            ([0, 1, 0, 5], [0, 9, 0, 2], [1, 1, 1, -2], (0, 0, 4, 1, 2), x[1][None, ..., [5, 3]]),
            ([1, 5], [3, 0], [-1, -1], (0, 0, 0, 0, 0), x[:0, :4]),
            ([2], [1], [-2**63], (0, 0, 0, 0, 0), x[2:3])):
        attributes = dict(zip(masks, bits))
        if kind.endswith("D"):
            yield Node(kind, [x], begin=begin, end=end, strides=steps, **attributes), [wanted]
        else:
            yield Node(kind, [x, ints(*begin), ints(*end), ints(*steps)], **attributes), [wanted]


def convolved(kind):
    for dtype in (torch.float32, torch.float16):
        x, bias = torch.randn(2, 4, 7, 6).to(dtype), torch.randn(6).to(dtype)
        for groups, strides, pads, dilations in ((1, (1, 1), (0, 0), (1, 1)), (2, (2, 1), (1, 2), (1, 2))):
            filters = torch.randn(6, 4 // groups, 3, 2).to(dtype)
            wanted = F.conv2d(x.float(), filters.float(), bias.float(), strides, pads, dilations, groups).to(dtype)
            yield Node(kind, [x, filters, bias, None], strides=[1, 1, *strides], groups=groups, data_format="NCHW",
                       pads=[pads[0], pads[0], pads[1], pads[1]], dilations=[1, 1, *dilations]), [wanted]
        wanted = F.conv2d(F.pad(x.float(), (0, 3, 2, 1)), filters.float(), bias.float(), 1, 0, 1, 2).to(dtype)
        yield Node(kind, [x, filters, bias, None], strides=[1, 1, 1, 1], groups=2, data_format="NCHW",
                   pads=[2, 1, 0, 3]), [wanted]
        # NHWC has filters of HWCN.
        last, turned = x.permute(0, 2, 3, 1), filters.permute(2, 3, 1, 0)
        yield Node(kind, [last, turned, bias, None], strides=[1, 1, 1, 1], groups=2, pads=[2, 1, 0, 3]), [
            wanted.permute(0, 2, 3, 1)]
        wanted = F.conv2d(F.pad(x.float(), (1, 0, 2, 1)), filters.float(), None, (2, 1), 0, (1, 2), 2).to(dtype)
        yield Node(kind, [last, turned, None, None], strides=[1, 2, 1, 1], dilations=[1, 1, 2, 1], groups=2,
                   pads=[2, 1, 1, 0], data_format="NHWC"), [wanted.permute(0, 2, 3, 1)]


def same_pads(size, kernel, stride):
    """TensorFlow's SAME: as many windows as strides, and the larger pad behind."""
    both = max((-(-size // stride) - 1) * stride + kernel - size, 0)
    return both // 2, both - both // 2


def mean_windows(x, kernel, strides, pads, ceil, exclusive):
    """The mean of each window, whose pads are top, bottom, left and right."""
    sizes = []
    for size, one, step, front, back in zip(x.shape[2:], kernel, strides, pads[::2], pads[1::2]):
        count = -(-(size + front + back - one) // step) if ceil else (size + front + back - one) // step
        sizes.append(count + 1 - (ceil and count * step >= size + front))
    out = torch.zeros(*x.shape[:2], *sizes)
    for row in range(sizes[0]):
        for column in range(sizes[1]):
            begins = [row * strides[0] - pads[0], column * strides[1] - pads[2]]
            ends = [min(begin + one, size + back) for begin, one, size, back in zip(begins, kernel, x.shape[2:], pads[1::2])]
            inside = x[:, :, max(begins[0], 0):ends[0], max(begins[1], 0):ends[1]]
            count = inside.shape[2] * inside.shape[3] if exclusive else (ends[0] - begins[0]) * (ends[1] - begins[1])
            out[:, :, row, column] = inside.sum((2, 3)) / count
    return out


def pooled(kind):
    is_max = kind.startswith("Max")
    x = torch.randn(2, 3, 7, 8)

    def pool(kernel, strides, pads=(0, 0, 0, 0), ceil=False, exclusive=True):
        top, bottom, left, right = pads
        if is_max:
            wide = F.pad(x, (left, right, top, bottom), value=float("-inf"))
            made = F.max_pool2d(wide, kernel, strides, ceil_mode=ceil)
            return made[made.isfinite()].reshape(2, 3, *mean_windows(x, kernel, strides, pads, ceil, True).shape[2:])
        return mean_windows(x, kernel, strides, pads, ceil, exclusive)

    if kind.endswith("PoolV2") or kind.endswith("PoolV3"):
        yield Node(kind, [x], ksize=[1, 1, 3, 2], strides=[1, 1, 2, 2], pads=[1, 1, 1, 1]), [
            pool((3, 2), (2, 2), (1, 1, 1, 1))]
        yield Node(kind, [x], ksize=[1, 1, 3, 3], strides=[1, 1, 2, 2], ceil_mode=True), [pool((3, 3), (2, 2), ceil=True)]
        yield Node(kind, [x], ksize=[1, 1, 1, 1], strides=[1, 1, 1, 1], global_pooling=True), [pool((7, 8), (1, 1))]
        yield Node(kind, [x], ksize=[1, 1, 3, 3], strides=[1, 1, 2, 2], pads=[1, 0, 0, 2]), [
            pool((3, 3), (2, 2), (1, 0, 0, 2))]
        # A last window that begins behind x is left out.
        yield Node(kind, [x], ksize=[1, 1, 2, 2], strides=[1, 1, 3, 3], pads=[0, 1, 0, 2], ceil_mode=True), [
            pool((2, 2), (3, 3), (0, 1, 0, 2), ceil=True)]
    if kind == "AvgPoolV2":
        for pads in ((1, 1, 1, 1), (1, 0, 2, 1)):
            yield Node(kind, [x], ksize=[1, 1, 3, 3], strides=[1, 1, 2, 2], pads=list(pads), exclusive=False), [
                pool((3, 3), (2, 2), pads, exclusive=False)]
        yield Node(kind, [x], ksize=[1, 1, 3, 3], strides=[1, 1, 2, 2], pads=[1, 0, 2, 1], divisor_override=5), [
            mean_windows(x, (3, 3), (2, 2), (1, 0, 2, 1), False, False) * 9 / 5]
    name = "padding_mode" if kind[-1] in "23" else "padding"
    for layout in ("NCHW", "NHWC"):
        for padding, kernel, strides in (("VALID", (3, 2), (2, 3)), ("SAME", (3, 3), (2, 1)), ("SAME", (2, 3), (2, 3))):
            pads = (0, 0, 0, 0)
            if padding == "SAME":
                pads = same_pads(7, kernel[0], strides[0]) + same_pads(8, kernel[1], strides[1])
            wanted = pool(kernel, strides, pads)
            attributes = {"ksize": [1, 1, *kernel], "strides": [1, 1, *strides], name: padding, "data_format": layout}
            if layout == "NHWC":
                attributes |= {"ksize": [1, *kernel, 1], "strides": [1, *strides, 1]}
                yield Node(kind, [x.permute(0, 2, 3, 1)], **attributes), [wanted.permute(0, 2, 3, 1)]
            else:
                yield Node(kind, [x], **attributes), [wanted]


def norms_by_input(kind):
    x = torch.randn(2, 3, 4)
    for shape in ([4], [3, 4]):
        gamma, beta = torch.randn(shape), torch.randn(shape)
        wanted = torch.native_layer_norm(x, shape, gamma, beta, 1e-3)
        yield Node(kind, [x, ints(*shape), gamma, beta], epsilon=1e-3), [*wanted]
    yield Node(kind, [x, ints(4), None, None]), [*torch.native_layer_norm(x, [4], None, None, 1e-5)]


def largest(kind):
    for dim, biggest in ((-1, True), (0, False)):
        x = torch.randperm(12).reshape(3, 4).float()
        values, indices = x.topk(2, dim, biggest)
        yield Node(kind, [x, ints(2, dtype=torch.int32)], dim=dim, largest=biggest), [values, indices.int()]


def padded(kind):
    x = torch.randn(2, 3, 4)
    yield Node(kind, [x, ints(0, 1, 2, 0, 1, 1), *[None] * (kind != "Pad")]), [F.pad(x, (1, 1, 2, 0, 0, 1))]
    if kind != "Pad":
        yield Node(kind, [x, ints(0, 0, 0, 0, 1, 2), torch.tensor(0.5)]), [F.pad(x, (1, 2), value=0.5)]
        for mode, name in (("reflect", "reflect"), ("edge", "replicate")):
            yield Node(kind, [x, ints(0, 0, 0, 0, 1, 2), None], mode=mode), [F.pad(x, (1, 2), name)]
            yield Node(kind, [x[None], ints(0, 0, 0, 0, 1, 0, 1, 2), None], mode=mode), [F.pad(x[None], (1, 2, 1, 0), name)]
            wide = torch.randn(1, 2, 3, 4, 5)
            yield Node(kind, [wide, ints(0, 0, 0, 0, 1, 1, 1, 0, 1, 2), None], mode=mode), [
                F.pad(wide, (1, 2, 1, 0, 1, 1), name)]


def best(function):
    def nodes(kind):
        for dim in (0, -1):
            x = torch.randperm(12).reshape(3, 4).float()
            if "WithValue" in kind:
                values, indices = function(x, dim, True)
                yield Node(kind, [x], dimension=dim, keep_dims=True), [indices.int(), values]
            else:
                for number, dtype in ((9, torch.int64), (3, torch.int32)):
                    yield Node(kind, [x, ints(dim)], dtype=number), [function(x, dim).to(dtype)]
    return nodes


IMAGES = torch.arange(48.0).reshape(1, 3, 4, 4)
X, I = torch.arange(12.0).reshape(3, 4), torch.tensor([[2, 0], [1, 3], [0, 0]])
P = (X + 1) / 14  # probabilities
MASK = torch.tensor([[True, False, True, False]])
CASES = {
    **{name: unary(getattr(torch, name.lower())) for name in (
        "Abs Acos Asin Asinh Atan Atanh Ceil Cos Cosh Erf Erfc Exp Expm1 Floor Log Log1p Neg Reciprocal Round Rsqrt Sigmoid "
        "Sin Sinh Sqrt Square Tan Tanh Relu").split()},
    "Acosh": unary(torch.acosh, low=1.1, high=3), "Sign": unary(torch.sign, low=-1, high=1),
    "Abs": unary(torch.abs, low=-9, high=9), "Neg": unary(torch.neg, low=-9, high=9),
    "Floor": unary(torch.floor, low=-9, high=9), "Ceil": unary(torch.ceil, low=-9, high=9),
    "Round": unary(torch.round, low=-9, high=9), "Relu": unary(torch.relu, low=-9, high=9),
    "Invert": listed(([torch.tensor([0, 5, -7], dtype=torch.int32)], {}, [torch.tensor([-1, -6, 6], dtype=torch.int32)])),
    "LogicalNot": listed(([MASK], {}, [~MASK])),
    "IsFinite": listed(([torch.tensor([1.0, float("inf"), float("nan")])], {}, [torch.tensor([True, False, False])])),
    "IsInf": listed(([torch.tensor([1.0, float("inf"), float("nan")])], {}, [torch.tensor([False, True, False])])),
    "Add": binary(torch.add), "AddV2": binary(torch.add), "Sub": binary(torch.sub), "Mul": binary(torch.mul),
    "Div": binary(lambda x, y: x / y if x.is_floating_point() else torch.div(x, y, rounding_mode="trunc")),
    "RealDiv": binary(torch.div, dtypes=FLOATS), "Maximum": binary(torch.maximum), "Minimum": binary(torch.minimum),
    "Pow": binary(torch.pow, dtypes=FLOATS), "FloorDiv": binary(torch.floor_divide, dtypes=(torch.float32, torch.int32)),
    "FloorMod": binary(torch.remainder, dtypes=(torch.float32, torch.int32)),
    "Atan2": binary(torch.atan2, dtypes=FLOATS), "Xlogy": binary(torch.xlogy, dtypes=FLOATS),
    "Equal": binary(torch.eq), "NotEqual": binary(torch.ne), "Greater": binary(torch.gt), "GreaterEqual": binary(torch.ge),
    "Less": binary(torch.lt), "LessEqual": binary(torch.le),
    "LogicalAnd": logical(torch.logical_and), "LogicalOr": logical(torch.logical_or),
    "BitwiseAnd": binary(torch.bitwise_and, dtypes=(torch.int32, torch.int64)),
    "BitwiseOr": binary(torch.bitwise_or, dtypes=(torch.int32, torch.int64)),
    "BitwiseXor": binary(torch.bitwise_xor, dtypes=(torch.int32, torch.int64)),
    "Cast": listed(([X + 0.7], {"dst_type": 3}, [(X + 0.7).int()]), ([X], {"dst_type": 1}, [X.half()]),
                   ([I], {"dst_type": 0}, [I.float()])),
    "Adds": listed(([X], {"value": 1.5}, [X + 1.5]), ([X.half()], {"value": 2.0}, [X.half() + 2])),
    "Muls": listed(([X], {"value": 1.5}, [X * 1.5]), ([X.half()], {"value": 2.0}, [X.half() * 2])),
    "Axpy": listed(([X, X + 1], {"alpha": 0.5}, [X + 0.5 * (X + 1)])),
    "ClipByValue": listed(([X, torch.tensor(2.0), torch.tensor(7.0)], {}, [X.clamp(2, 7)])),
    "Lerp": listed(([X, X * 2, torch.full((3, 4), 0.25)], {}, [torch.lerp(X, X * 2, 0.25)])),
    "Elu": activation(lambda x: F.elu(x, 0.5), alpha=0.5), "Gelu": activation(F.gelu), "HardSwish": activation(F.hardswish),
    "HardSigmoid": activation(F.hardsigmoid), "LeakyRelu": activation(lambda x: F.leaky_relu(x, 0.25), negative_slope=0.25),
    "LogSigmoid": activation(F.logsigmoid), "Mish": activation(F.mish), "Relu6": activation(F.relu6),
    "Selu": activation(F.selu), "Softplus": activation(F.softplus), "Swish": activation(lambda x: x * (x * 2).sigmoid(), scale=2.0),
    "FastGelu": activation(lambda x: x * (x * 1.702).sigmoid()),
    "SoftplusV2": activation(lambda x: F.softplus(x, 2.0, 3.0), beta=2.0, threshold=3.0),
    "PRelu": listed(([X - 5, torch.tensor([0.5])], {}, [F.prelu(X - 5, torch.tensor([0.5]))])),
    "SwiGlu": activation(lambda x: F.silu(x[:, :20].float()) * x[:, 20:].float(), dim=-1),
    "MatMul": product("transpose_x", True), "MatMulV2": product("transpose_x", True),
    "BatchMatMul": product("adj_x", False), "BatchMatMulV2": product("adj_x", True),
    "SoftmaxV2": listed(([X], {}, [X.softmax(-1)]), ([X.half()], {"axes": [0]}, [X.half().softmax(0)])),
    "LogSoftmaxV2": listed(([X], {}, [X.log_softmax(-1)]), ([X], {"axes": [0]}, [X.log_softmax(0)])),
    "RmsNorm": norms, "AddRmsNorm": norms, "LayerNormV3": layer_norms,
    "ReduceSumD": reduced(lambda x, axes, keep: x.float().sum(axes, keep).to(x.dtype)),
    "ReduceMeanD": reduced(lambda x, axes, keep: x.float().mean(axes, keep).to(x.dtype)),
    "ReduceMaxD": reduced(torch.amax), "ReduceMinD": reduced(torch.amin),
    "ReduceProdD": reduced(lambda x, axes, keep: x.prod(axes[0], keep), (torch.float32, torch.int64)),
    "ReduceAnyD": reduced(torch.any, (torch.bool,)), "ReduceAllD": reduced(torch.all, (torch.bool,)),
    "CumsumD": listed(([X], {"axis": 1}, [X.cumsum(1)])),
    "GatherElements": listed(([X, I], {"dim": 1}, [X.gather(1, I)])),
    "GatherV2D": listed(([X, I[0]], {"axis": 1}, [X[:, I[0]]]), ([X, I[:, :1]], {"axis": 0}, [X[I[:, :1]]])),
    "ReverseV2D": listed(([X], {"axis": [1]}, [X.flip(1)])),
    "Select": listed(([MASK, X, -X], {}, [torch.where(MASK, X, -X)])),
    "SelectV2": listed(([MASK, X, -X], {}, [torch.where(MASK, X, -X)])),
    "TileD": listed(([X], {"multiples": [2, 3]}, [X.repeat(2, 3)])),
    "BroadcastToD": listed(([X[:1]], {"shape": [5, 4]}, [X[:1].expand(5, 4)])),
    "ExpandD": listed(([X[:1]], {"shape": [5, 4]}, [X[:1].expand(5, 4)])),
    "TransposeD": listed(([X], {"perm": [1, 0]}, [X.t()])),
    **{name: reduced_by_input(function) for name, function in (
        ("ReduceSum", lambda x, axes, keep: x.float().sum(axes, keep).to(x.dtype)),
        ("ReduceMean", lambda x, axes, keep: x.float().mean(axes, keep).to(x.dtype)),
        ("ReduceMax", torch.amax), ("ReduceMin", torch.amin), ("ReduceLogSumExp", torch.logsumexp))},
    "ReduceProd": listed(([X + 1, ints(1)], {"keep_dims": True}, [(X + 1).prod(1, True)])),
    "ReduceAny": reduced_by_input(torch.any, (torch.bool,)), "ReduceAll": reduced_by_input(torch.all, (torch.bool,)),
    **dict.fromkeys(("Concat", "ConcatD", "ConcatV2", "ConcatV2D"), joined),
    **dict.fromkeys(("Split", "SplitD", "SplitV", "SplitVD"), parted),
    **dict.fromkeys(("StridedSlice", "StridedSliceD"), sliced),
    **dict.fromkeys(("MaxPool", "MaxPoolV3", "AvgPool", "AvgPoolV2"), pooled), "Conv2D": convolved,
    "GlobalAveragePool": listed(([X.reshape(1, 3, 2, 2)], {}, [X.reshape(1, 3, 2, 2).mean((2, 3), True)])),
    "BiasAdd": listed(([X, X[0]], {}, [X + X[0]]), ([X.reshape(1, 3, 2, 2), X[0, :3]], {"data_format": "NCHW"},
                                                    [X.reshape(1, 3, 2, 2) + X[0, :3].reshape(3, 1, 1)])),
    "BNInfer": listed(([X.reshape(1, 3, 4), X[0, :3], X[1, :3], X[2, :3], X[1, :3]], {"epsilon": 0.5},
                       [F.batch_norm(X.reshape(1, 3, 4), X[2, :3], X[1, :3], X[0, :3], X[1, :3], eps=0.5)])),
    "LayerNormV4": norms_by_input, "TopK": largest, "TopKV2": largest, "Pad": padded, "PadV3": padded,
    "ArgMaxV2": best(torch.argmax), "ArgMin": best(torch.argmin), "ArgMaxWithValue": best(torch.max),
    "ArgMinWithValue": best(torch.min),
    "AddN": listed(([[X, X * 2, X.flip(0)]], {"N": 3}, [X * 3 + X.flip(0)]), ([[X]], {"N": 1}, [X])),
    "Einsum": listed(([[X, X.t()]], {"N": 2, "equation": "ij,jk->ik"}, [X @ X.t()])),
    "Pack": listed(([[X, -X]], {"N": 2}, [torch.stack([X, -X])]), ([[X, -X]], {"N": 2, "axis": -1}, [torch.stack([X, -X], -1)])),
    "Unpack": lambda kind: ((Node(kind, [x], parts=x.shape[axis], num=x.shape[axis], axis=axis), list(x.unbind(axis)))
                            for x in (X, X.half(), I) for axis in (0, 1, -1)),
    "Cumsum": listed(([X, ints(1)], {}, [X.cumsum(1)])), "Cumprod": listed(([X + 1, ints(0)], {}, [(X + 1).cumprod(0)])),
    "Gather": listed(([X, I[:, :1]], {}, [X[I[:, :1]]])),
    "GatherV2": listed(([X, I[0], ints(1)], {}, [X[:, I[0]]]), ([X, I[:, :1], ints(-2, dtype=torch.int32)], {}, [X[I[:, :1]]])),
    "OneHot": listed(([I, ints(5, dtype=torch.int32), torch.tensor(2.0), torch.tensor(-1.0)], {},
                      [F.one_hot(I, 5).float() * 3 - 1]),
                     ([I[0], ints(5), torch.tensor([1]), torch.tensor([0])], {"axis": 0}, [F.one_hot(I[0], 5).t()])),
    "OneHotD": listed(([I, torch.tensor(2.0), torch.tensor(-1.0)], {"depth": 5}, [F.one_hot(I, 5).float() * 3 - 1])),
    "ReverseV2": listed(([X, ints(1)], {}, [X.flip(1)]), ([X, ints(0, -1)], {}, [X.flip(0, 1)])),
    "Slice": listed(([X, ints(1, 0), ints(2, -1)], {}, [X[1:3]]), ([X, ints(0, 2), ints(3, 1)], {}, [X[:, 2:3]]),
                    ([X, ints(3, 0), ints(0, 4)], {}, [X[3:]])),
    "SliceD": listed(([X], {"offsets": [1, 1], "size": [2, 3]}, [X[1:, 1:]])),
    "Sort": listed(([X.flip(1)], {}, [X, torch.arange(3, -1, -1).expand(3, 4).int()]),
                   ([X], {"axis": 0, "descending": True}, [X.flip(0), torch.tensor([[2], [1], [0]]).expand(3, 4).int()])),
    "Tile": listed(([X, ints(2, 3)], {}, [X.repeat(2, 3)])),
    "BroadcastTo": listed(([X[:1], ints(5, 4)], {}, [X[:1].expand(5, 4)])),
    "ExpandDims": listed(([X, ints(1)], {}, [X[:, None]]), ([X.bool(), ints(-1, dtype=torch.int32)], {}, [X.bool()[..., None]])),
    "Unsqueeze": listed(([X], {"axes": [0, -1]}, [X[None, :, :, None]])),
    "Squeeze": listed(([X[None, :, None]], {}, [X]), ([X[None, :, None]], {"axis": [2]}, [X[None]])),
    "Flatten": listed(([X.reshape(3, 2, 2)], {}, [X]), ([X], {"axis": 0}, [X.reshape(1, 12)])),
    "FlattenV2": listed(([X.reshape(3, 2, 2)], {}, [X]), ([X.reshape(3, 2, 2)], {"axis": 0, "end_axis": 1}, [X.reshape(6, 2)])),
    "Identity": listed(([X], {}, [X]), ([MASK], {}, [MASK])),
    "Fill": listed(([ints(2, 3), torch.tensor(7)], {}, [torch.full((2, 3), 7)])),
    "FillD": listed(([torch.tensor(1.5)], {"dims": [2, 3]}, [torch.full((2, 3), 1.5)])),
    "LinSpace": listed(([torch.tensor(1.0), torch.tensor(2.0), ints(5)], {}, [torch.linspace(1, 2, 5)])),
    "Range": listed(([torch.tensor(2), torch.tensor(11), torch.tensor(3)], {}, [torch.arange(2, 11, 3)]),
                    ([torch.tensor(1.0), torch.tensor(0.0), torch.tensor(-0.25)], {}, [torch.arange(1.0, 0.0, -0.25)]),
                    ([torch.tensor(0, dtype=torch.int32)] * 2 + [torch.tensor(1, dtype=torch.int32)], {},
                     [torch.empty(0, dtype=torch.int32)])),
    "Reshape": listed(([X, ints(2, -1)], {}, [X.reshape(2, 6)]), ([X, ints(12, dtype=torch.int32)], {}, [X.flatten()]),
                      ([X[:1, :1], torch.empty(0, dtype=torch.int64)], {}, [X[0, 0]])),
    "Transpose": listed(([X, ints(1, 0)], {}, [X.t()])),
    "Mod": binary(torch.fmod, dtypes=(torch.float32, torch.int32)), "Trunc": unary(torch.trunc, low=-9, high=9),
    "ZerosLike": unary(torch.zeros_like), "OnesLike": unary(torch.ones_like),
    **{name: binary(getattr(torch, function), dtypes=dtypes) for name, function, dtypes in (
        ("Gcd", "gcd", (torch.int32, torch.int64)), ("LeftShift", "bitwise_left_shift", (torch.int32, torch.int64)),
        ("RightShift", "bitwise_right_shift", (torch.int32, torch.int64)))},
    "Erfinv": unary(torch.erfinv, dtypes=(torch.float32,)),
    "IsPosInf": listed(([X / 0], {}, [(X / 0).isposinf()])), "IsNegInf": listed(([-X / 0], {}, [(-X / 0).isneginf()])),
    "NanToNum": listed(([X / 0], {"nan": 1.5, "posinf": 2.5, "neginf": -2.5}, [(X / 0).nan_to_num(1.5, 2.5, -2.5)])),
    "Addcdiv": listed(([X, X, X + 1, torch.tensor(0.5)], {}, [torch.addcdiv(X, X, X + 1, value=0.5)])),
    "Addcmul": listed(([X, X, X + 1, torch.tensor(0.5)], {}, [torch.addcmul(X, X, X + 1, value=0.5)]),
                      ([I, I, I, torch.tensor(3)], {}, [I + 3 * I * I])),
    "CeluV2": activation(lambda x: F.celu(x.float(), 0.5), alpha=0.5), "GLU": activation(lambda x: F.glu(x.float())),
    "GeluV2": lambda kind: (case for words, attributes in (("none", {}), ("tanh", {"approximate": "tanh"})) for case in
                            activation(lambda x, words=words: F.gelu(x.float(), approximate=words), **attributes)(kind)),
    "Dot": listed(([X[0], X[1]], {}, [X[0] @ X[1]])),
    "AdaptiveAvgPool2d": listed(([IMAGES], {"output_size": [2, 3]}, [F.adaptive_avg_pool2d(IMAGES, (2, 3))])),
    **{name: loss(function) for name, function in (
        ("MseLoss", F.mse_loss), ("SoftMarginLoss", F.soft_margin_loss), ("SmoothL1LossV2", F.smooth_l1_loss))},
    "BinaryCrossEntropy": listed(*[([P, 1 - P, weight], {} if way == "mean" else {"reduction": way},
                                    [F.binary_cross_entropy(P, 1 - P, weight, reduction=way)])
                                   for way in ("none", "mean", "sum") for weight in (None, P)]),
    "ArgMaxD": listed(([X], {"dimension": 1, "dtype": 3}, [X.argmax(1).int()])),
    "ArgMinD": listed(([X], {"dimension": 0}, [X.argmin(0)])),
    "Cummax": listed(([X.flip(1)], {"dim": 1}, [X.flip(1).cummax(1)[0], X.flip(1).cummax(1)[1].int()])),
    "Cummin": listed(([X], {"axis": 0}, [X.cummin(0)[0], X.cummin(0)[1].int()])),
    "CumprodD": listed(([X + 1], {"axis": 1}, [(X + 1).cumprod(1)])),
    "GatherD": listed(([X, ints(1), I], {}, [X.gather(1, I)])),
    "GatherNd": listed(([X, I[1:]], {}, [X[I[1:, 0], I[1:, 1]]]), ([X, I[:, :1].int()], {}, [X[I[:, 0]]]),
                       ([X, torch.empty(0, 2, dtype=torch.int64)], {}, [X[:0, 0]])),
    "MaskedFill": listed(([X, MASK, torch.tensor(9.0)], {}, [X.masked_fill(MASK, 9)]),
                         ([X.half(), MASK, torch.tensor([-1.0]).half()], {}, [X.half().masked_fill(MASK, -1)])),
    "Roll": listed(([X], {"shifts": [1, -1], "dims": [0, 1]}, [X.roll((1, -1), (0, 1))]), ([X], {"shifts": [5]}, [X.roll(5)])),
    "ScatterElements": listed(
        ([X, I[:2], X[:2, :2] + 1], {"axis": 1}, [X.scatter(1, I[:2], X[:2, :2] + 1)]),
        ([X, I, X[:, :2]], {"axis": -1, "reduction": "add"}, [X.scatter_add(1, I, X[:, :2])]),
        ([X, I, X[:, :2]], {"axis": 1, "reduction": "mul"}, [X.scatter_reduce(1, I, X[:, :2], "prod")])),
    "Shape": listed(([X], {}, [torch.tensor([3, 4], dtype=torch.int32)]), ([X[:, :0]], {"dtype": 9}, [ints(3, 0)]),
                    ([X[0, 0]], {}, [torch.empty(0, dtype=torch.int32)])),
    "Size": listed(([X], {}, [torch.tensor(12, dtype=torch.int32)]), ([X[0, 0]], {"dtype": 9}, [torch.tensor(1)])),
    "Rank": listed(([X], {}, [torch.tensor(2, dtype=torch.int32)]), ([X[0, 0]], {}, [torch.tensor(0, dtype=torch.int32)])),
    "Expand": listed(([X[:1], ints(5, 4)], {}, [X[:1].expand(5, 4)])),
    "Permute": listed(([X], {"order": [1, 0]}, [X.t()])),
    "Tril": listed(([X], {"diagonal": 1}, [X.tril(1)])), "Triu": listed(([X], {}, [X.triu()])),
}


def of_families():
    """The types of which test_graph_families.py draws cases."""
    return [kind for kind, row in types().items() if all(call["function"] in families.CASES for call in row["calls"])]


def test_every_type_has_a_case():
    assert sorted({*CASES, *of_families()}) == sorted(types())
    assert set(CASES) <= set(types()) and len(CASES) >= 200


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_type_computes(program, tmp_path, seed):
    torch.manual_seed(seed)
    cases = [case for kind in sorted(CASES) for case in CASES[kind](kind)]
    cases += [(node.as_data(), wanted) for node, wanted in cases if types()[node.kind]["read"]]
    results = run(program, tmp_path, [node for node, _ in cases])
    wrong = []
    for (node, wanted), outputs in zip(cases, results):
        try:
            assert not isinstance(outputs, str), outputs
            for output, value in zip(outputs, wanted, strict=True):
                torch.testing.assert_close(output, value)
        except AssertionError as error:
            wrong.append(f"{node.kind} {[list(map(str, x)) if isinstance(x, list) else tuple(x.shape) for x in node.inputs if x is not None]} {node.attributes}: {error}")
    assert not wrong, "\n".join(wrong)


Q = torch.ones(1, 2, 8)
REFUSED = [
    (Node("Add", [X, X[:2]]), "the shapes of .*Add.* cannot be inferred.*self ACL_FLOAT .3, 4., other ACL_FLOAT .2, 4.."),
    (Node("Exp", [X], base=2.0), "base is 2.0+; expected -1.0+, since others are not computed here"),
    (Node("SoftmaxV2", [X], axes=[0, 1]), "axes has 2 numbers; expected one"),
    (Node("SoftmaxV2", [X], half_to_float=True), "half_to_float is 1.0+; expected 0.0+"),
    (Node("ReduceSumD", [X], axes=[]), "axes has no numbers; expected at least one"),
    (Node("ReduceSumD", [X]), "required attribute axes of .* is not set"),
    (Node("MatMulV2", [X, X.t(), None, X]), "offset_w is linked; expected no link"),
    (Node("MatMul", [X[0], X], transpose_x1=True), "a factor has 1 dims; expected at least 2"),
    (Node("LayerNormV3", [X, X[0], X[0]], begin_norm_axis=1), "begins at axis 1 and its parameters at 0; expected the same"),
    (Node("Cast", [X], dst_type=99), "data type undefined for output y"),
    (Node("GatherV2D", [X, torch.tensor([7])], axis=0), "index out of range"),
    # Inputs whose elements are read.
    (Node("ReduceSum", [X, torch.tensor([1.0])]), "input axes of operator tested of type ReduceSum has data type FLOAT; expected INT32 or INT64"),
    (Node("ReduceSum", [X, ints()]), "axes has no numbers; expected at least one"),
    (Node("ReduceSum", [X, ints(2)]), "tested.*Dimension out of range"),
    (Node("Reshape", [X, ints(5, -1)]), "shape is .5, -1.; expected a shape of the 12 elements of .3, 4.*one dim may be -1"),
    (Node("Reshape", [X, ints(-3, -4)]), "shape is .-3, -4.; expected a shape of the 12 elements"),
    (Node("ExpandDims", [X, ints(4)]), "axis is 4; expected -3 to 2"),
    (Node("ExpandDims", [X, ints(0, 1)]), "axis has 2 numbers; expected one"),
    (Node("Squeeze", [X], axis=[1]), "axis has 1; expected an axis of size 1, and x is .3, 4."),
    (Node("Unsqueeze", [X], axes=[0, -3, -3]), "axes is .*expected different axes"),
    (Node("Unsqueeze", [X], axes=list(range(7))), "would have 9 dims; expected at most 8"),
    (Node("FlattenV2", [X], axis=1, end_axis=0), "end_axis is 0; expected no axis before axis, which is 1"),
    (Node("Slice", [X, ints(1, 0), ints(3, 4)]), "offsets is .1, 0. and size is .3, 4.; expected a part of x, which is .3, 4."),
    (Node("Slice", [X, ints(-2**63, 0), ints(-1, 4)]), "offsets is .-9223372036854775808, 0.*expected a part of x"),
    (Node("Slice", [X, ints(1), ints(3)]), "offsets has 1 numbers; expected 2, one for each dim of x"),
    (Node("StridedSlice", [X, ints(2), ints(0), ints(0)]), "strides is .0.; expected numbers that are not 0"),
    (Node("StridedSlice", [X, ints(2), ints(0), ints(-1)], shrink_axis_mask=1), "strides is .-1.; .* more than 0"),
    (Node("StridedSlice", [X, ints(0, 0, 0), ints(1, 1, 1), ints(1, 1, 1)]), "expected at most one number for each dim of x"),
    (Node("StridedSlice", [X, ints(5), ints(6), ints(1)], shrink_axis_mask=1), "begin is 5; expected -3 to 2"),
    (Node("Fill", [ints(-1), X[0, 0]]), "tested"),
    (Node("Range", [torch.tensor(1), torch.tensor(5), torch.tensor(0)]), "expected steps that lead from start to limit"),
    (Node("Range", [ints(1, 2), torch.tensor(5), torch.tensor(1)]), "start has 2 elements; expected one"),
    (Node("Range", [torch.tensor(1j), torch.tensor(5), torch.tensor(1)]), "start of .* has data type COMPLEX64; expected numbers"),
    (Node("TopKV2", [X, ints(5)]), "tested.*out of range"),
    (Node("Pad", [X, ints(1, 1)]), "paddings has 2 numbers; expected 4, two for each dim of x"),
    (Node("PadV3", [X, ints(0, 0, 1, 1), None], mode="wrap"), "mode is wrap; expected constant, reflect or edge"),
    (Node("PadV3", [X, ints(0, 0, 1, 1), None], paddings_contiguous=False), "paddings_contiguous is 0.*; expected 1"),
    (Node("GatherV2", [X, I[0], ints(2)]), "tested.*Dimension out of range"),
    # Lists.
    (Node("AddN", [[X, X]], N=3), "N is 3; expected 2, the number of tensors of x"),
    (Node("ConcatV2", [[], ints(0)]), "E11019.*dynamic input x of .*ConcatV2 has no tensors; expected a call of create_dynamic_input_x"),
    (Node("ConcatV2", [[X, X], ints(2)]), "tested.*Dimension out of range"),
    (Node("Split", [ints(0), X], parts=2, num_split=2), "num_split is 2; expected a divisor of 3, the size of axis 0"),
    (Node("Split", [ints(7), X], parts=2, num_split=2), "split_dim is 7; expected -2 to 1"),
    (Node("Split", [ints(1), X], parts=2, num_split=4), "num_split is 4; expected 2, the number of tensors of y"),
    (Node("SplitV", [X, ints(3, 3), ints(1)], parts=2, num_split=2), "size_splits is .3, 3.; expected sizes of 4 in all"),
    (Node("SplitV", [X, ints(4), ints(1)], parts=2, num_split=2), "size_splits has 1 numbers; expected 2, one for each output"),
    (Node("Unpack", [X], parts=2, num=2), "num is 2; expected 3, the size of axis 0"),
    # Texts and layers.
    (Node("Einsum", [[X]], N=1, equation="i->j"), "tested.*einsum"),
    (Node("Conv2D", [X, X, None, None], strides=[1, 1, 1, 1], pads=[0, 0, 0, 0], data_format="NCHW"), "x has 2 dims; expected 4"),
    (Node("Conv2D", [IMAGES, X, None, None], strides=[1, 1, 1, 1], pads=[0, 0, 0, 0]), "filter has 2 dims; expected 4"),
    (Node("Conv2D", [IMAGES, IMAGES, None, None], strides=[1, 1, 1, 1], pads=[0, 0, 0, 0], dilations=[1, 1, 2, 1]),
     "filter has 3 numbers along an axis, dilated by 2; expected one or more, within 4 of x with pads of 0 and 0"),
    (Node("Conv2D", [IMAGES, IMAGES, None, None], strides=[1, 1, 1, 1], pads=[0, -1, 0, 0], data_format="NCHW"),
     "pads is .0, -1, 0, 0.; expected four numbers of at least 0"),
    (Node("Conv2D", [IMAGES, IMAGES, None, None], strides=[1, 2, 1, 1], pads=[0, 0, 0, 0], data_format="NCHW"),
     "strides is .1, 2, 1, 1.; expected four numbers of at least 1, of which those of N and C are 1"),
    (Node("Conv2D", [IMAGES.int(), IMAGES.int(), None, None], strides=[1, 1, 1, 1], pads=[0, 0, 0, 0], data_format="NCHW"),
     "x has elements of whole numbers; expected FLOAT, FLOAT16 or BF16"),
    (Node("MaxPool", [IMAGES], ksize=[1, 1, 2, 2], strides=[1, 1, 1, 1], padding="SOME", data_format="NCHW"),
     "padding is SOME; expected SAME or VALID"),
    (Node("MaxPool", [IMAGES], ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding="SAME", data_format="NC1HWC0"),
     "data_format is NC1HWC0; expected NCHW or NHWC"),
    (Node("MaxPool", [IMAGES], ksize=[1, 9, 2, 1], strides=[1, 1, 1, 1], padding="VALID"), "ksize has 9; expected at most 3"),
    (Node("AvgPoolV2", [IMAGES], ksize=[1, 1, 2, 2], strides=[1, 1, 1, 1], pads=[0, 0]), "pads is .0, 0.; expected four numbers"),
    (Node("BiasAdd", [X, X]), "bias has 2 dims; expected one, of the size of x along axis 1"),
    (Node("MseLoss", [X, X], reduction="all"), "reduction is all; expected none, mean or sum"),
    (Node("GeluV2", [X], approximate="erf"), "approximate is erf; expected none or tanh"),
    (Node("GatherNd", [X, ints(0, 0, 0)]), "indices"),
    (Node("GatherNd", [X, ints(0, 7)]), "indices has .0, 7. in row 0; expected places of self, .3, 4."),
    (Node("PromptFlashAttention", [Q, Q, Q, *[None] * 7, Q[0, 0, :1], None], num_heads=1), "quant_scale2 is linked; expected no link"),
    (Node("PromptFlashAttention", [Q, Q, Q, *[None] * 9], num_heads=1, input_layout="SBH"), "inputLayout is SBH; expected BSH"),
    (Node("PromptFlashAttention", [Q.char(), Q, Q, *[None] * 9], num_heads=1), "query has elements of whole numbers; expected FLOAT"),
    (Node("PromptFlashAttention", [Q, Q, Q, *[None] * 9], num_heads=3), "expected a multiple of the 3 heads"),
    (Node("FlashAttentionScore", [Q[0, :, None], Q[0, :, None], Q[0, :, None], *[None] * 6, ints(2), None, None], head_num=1,
          input_layout="TND"), "actualSeqQLenOptional"),
    (Node("AvgPoolV2", [IMAGES], ksize=[1, 1, 2, 2], strides=[1, 1, 2, 2], pads=[0, 0, 0, 3]),
     "paddings has 0 in front and 3 behind; expected an element of self in each window of 2"),
    (Node("DynamicQuantV2", [X, None, None], quant_mode="perrow"), "quantMode is perrow"),
    (Node("Shape", [X], dtype=0), "dtype is 0; expected 3 .INT32. or 9 .INT64."),
    (Node("Shape", [torch.empty(0, 2**40)]), "dtype is 3 .INT32.; expected 9 .INT64., as a result is 1099511627776"),
    # Constant inputs that operators compute.
    (Node("Reshape", [X, Node("FloorDiv", [ints(12), ints(0)], const="all")]), "tested.shape of type FloorDiv failed"),
    (Node("Reshape", [X, Node("Pack", [[ints(12)[0], ints(2)[0]]], N=2, const="all")]), "shape is .12, 2.; expected a shape of the 12"),
    (Node("ArgMaxV2", [X, ints(0)], dtype=99), "data type undefined for output y"),
]


def constant(kind, *inputs, **attributes):
    """A node whose inputs are Const operators, apart from nodes."""
    return Node(kind, list(inputs), const="all", **attributes)


def size_of(x, axis):
    """The nodes of exported graphs for a size of x: a number without dims."""
    return constant("GatherV2", Node("Shape", [x], dtype=9), ints(axis)[0], ints(0))


COMPUTED = {  # inputs that are read while the graph is planned, and that other nodes compute
    "concat": (Node("Reshape", [X, constant("ConcatV2", [ints(2), ints(-1)], ints(0), N=2)]), X.reshape(2, 6)),
    "sizes": (Node("Reshape", [X, Node("Pack", [[size_of(X, 1), size_of(X, 0)]], N=2)]), X.reshape(4, 3)),
    "product": (Node("Reshape", [X, Node("ExpandDims", [constant("Mul", size_of(X, 1), ints(3)[0]), ints(0)])]), X.flatten()),
    "rank": (Node("ReduceSum", [X, Node("Range", [ints(1, dtype=torch.int32)[0], Node("Rank", [X]), ints(1, dtype=torch.int32)[0]])]),
             X.sum(1)),
    "size": (Node("Range", [ints(0)[0], Node("Size", [X], dtype=9), ints(1)[0]]), torch.arange(12)),
    "shape": (Node("Fill", [Node("Shape", [X]), torch.tensor(1.5)]), torch.full((3, 4), 1.5)),
    "slice": (Node("Slice", [X, constant("Sub", ints(2, 1), ints(1, 1)), constant("Cast", torch.tensor([2.7, 3.2]), dst_type=3)]),
              X[1:3, :3]),
    "shape of a node": (Node("BroadcastTo", [X[:1], Node("Shape", [Node("MatMul", [X.t().repeat(2, 1), X])], dtype=9)]),
                        X[:1].expand(8, 4)),
    "strided": (Node("BroadcastTo", [X[0, 0], Node("StridedSlice", [Node("Shape", [IMAGES]), ints(-1), ints(-4), ints(-1)])]),
                torch.zeros(4, 4, 3)),
    "twice": (Node("Tile", [Node("Reshape", [X, constant("Mul", ints(2, 3), ints(2, 1))]), constant("Add", ints(0, 1), ints(1, 1))]),
              X.reshape(4, 3).repeat(1, 2)),
    "none": (Node("Reshape", [X[0, :1], Node("Shape", [X[0, 0]])]), X[0, 0]),
}


@pytest.mark.parametrize("name", COMPUTED)
def test_elements_that_operators_compute_are_read(program, tmp_path, name):
    node, wanted = COMPUTED[name]
    node.captured = True  # no Data is read
    for outputs in run(program, tmp_path, [node, node.as_data()]):
        assert not isinstance(outputs, str), outputs
        torch.testing.assert_close(outputs[0], wanted)


@pytest.fixture(scope="session")
def refused(program, tmp_path_factory):
    """What each node of REFUSED says, by its id."""
    nodes = [node for node, _ in REFUSED]
    return dict(zip(map(id, nodes), run(program, tmp_path_factory.mktemp("refused"), nodes)))


@pytest.mark.parametrize("node, text", REFUSED, ids=[str(place) for place in range(len(REFUSED))])
def test_what_is_not_computed_is_refused(refused, node, text):
    said = refused[id(node)]
    assert isinstance(said, str)
    assert re.search(text, said), said


def test_the_header_has_the_types():
    """The chains of REG_OP in opp are those of the table."""
    text = (graph_program.OPP / "computed_ops.h").read_text(encoding="utf-8")
    made = [chain[:chain.index(")")] for chain in text.split("REG_OP(")[1:]]
    assert made == list(types())
