# SPDX-License-Identifier: Apache-2.0
"""Types of graph operators: graphs of one node each against torch on plain tensors."""

import functools
import json
import re
import subprocess
import sys

import pytest
import torch
import torch.nn.functional as F

import aclnn

FOLDER = aclnn.ROOT / "tests/operators"
OPP = aclnn.ROOT / "opp/built-in/op_proto/inc"
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
    made = tmp_path_factory.mktemp("graph_types") / "graph_types"
    include = aclnn.ROOT / "include"
    subprocess.run(["g++", "-std=c++17", f"-I{include / 'graph'}", f"-I{include / 'ge'}", f"-I{include}", f"-I{OPP}",
                    FOLDER / "graph_types.cpp", "-o", made, f"-L{aclnn.LIBRARIES}", "-ladvance_step_graph",
                    "-ladvance_step", f"-Wl,-rpath,{aclnn.LIBRARIES}"], check=True)
    return made


class Node:
    """A node: inputs in the order of the type's, null where it is left out, and attributes."""

    def __init__(self, kind, inputs, **attributes):
        self.kind, self.inputs, self.attributes = kind, inputs, attributes

    def lines(self, folder, case):
        """The lines of a script for the node, whose tensors are written."""
        row = types()[self.kind]
        yield f"type {self.kind}"
        for name, tensor in zip(row["inputs"], self.inputs):
            if tensor is None:
                continue
            file = f"{case}.{name}"
            plain = tensor.contiguous().flatten().view(torch.uint8) if tensor.numel() else torch.empty(0, dtype=torch.uint8)
            (folder / file).write_bytes(plain.numpy().tobytes())
            dims = " ".join(map(str, tensor.shape))
            yield f"input {name} {aclnn.DTYPES[tensor.dtype]} {file} {tensor.dim()} {dims}"
        for each in row["attributes"]:
            if each["name"] in self.attributes:
                value = self.attributes[each["name"]]
                words = " ".join(map(str, value)) if isinstance(value, (list, tuple)) else repr(value + 0)
                yield f"attr {each['name']} {each['kind']} {words}"
        yield f"run {case} {len(row['outputs'])}"


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
        for place in range(len(types()[node.kind]["outputs"])):
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


X, I = torch.arange(12.0).reshape(3, 4), torch.tensor([[2, 0], [1, 3], [0, 0]])
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
    "ReduceProdD": reduced(lambda x, axes, keep: x.float().prod(axes[0], keep).to(x.dtype)),
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
    "Tril": listed(([X], {"diagonal": 1}, [X.tril(1)])), "Triu": listed(([X], {}, [X.triu()])),
}


def test_every_type_has_a_case():
    assert sorted(CASES) == sorted(types())
    assert len(CASES) >= 60


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_type_computes(program, tmp_path, seed):
    torch.manual_seed(seed)
    cases = [case for kind in sorted(CASES) for case in CASES[kind](kind)]
    results = run(program, tmp_path, [node for node, _ in cases])
    wrong = []
    for (node, wanted), outputs in zip(cases, results):
        try:
            assert not isinstance(outputs, str), outputs
            for output, value in zip(outputs, wanted, strict=True):
                torch.testing.assert_close(output, value)
        except AssertionError as error:
            wrong.append(f"{node.kind} {[tuple(x.shape) for x in node.inputs if x is not None]} {node.attributes}: {error}")
    assert not wrong, "\n".join(wrong)


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
]


@pytest.mark.parametrize("node, text", REFUSED, ids=[str(place) for place in range(len(REFUSED))])
def test_what_is_not_computed_is_refused(program, tmp_path, node, text):
    [said] = run(program, tmp_path, [node])
    assert isinstance(said, str)
    assert re.search(text, said), said


def test_the_header_has_the_types():
    """The chains of REG_OP in opp are those of the table."""
    text = (OPP / "computed_ops.h").read_text(encoding="utf-8")
    made = [chain[:chain.index(")")] for chain in text.split("REG_OP(")[1:]]
    assert made == list(types())
