# SPDX-License-Identifier: Apache-2.0
"""torch's own table of operators (OpInfo) on "npu" against "cpu", forward and backward.

    python -m advance_step.torch_npu operators.py [--every N] [--samples N] [--layouts] [--markdown] [NAME ...]

Each operator gets its sample inputs on both devices, in float32, bfloat16 and int64. The results and
the gradients must be equal bit for bit, with the same strides. --layouts: the tensors of the samples
are channels_last or transposed, and only float32 is tried. An operator is refused if "npu" raises where "cpu" does not.
With ADVANCE_STEP_HOST_OPERATORS=aclnn, torch_npu chooses the strides of results, so these are not compared, and a
column counts the operators that called an aclnn function.
Exit status 1: one is wrong, or more are refused than listed in REFUSED.
"""

import argparse
import itertools
import os
import sys
import warnings

import advance_step.torch_npu
import torch
from torch.testing._internal.common_methods_invocations import op_db

DTYPES = (torch.float32, torch.bfloat16, torch.int64)
# Sparse tensors: the device has dense ones only.
REFUSED = {"sparse.sampled_addmm", "sparse.mm.reduce", "to_sparse"}
BY_ACLNN = os.environ.get("ADVANCE_STEP_HOST_OPERATORS") == "aclnn"
# torch chooses the chunks, and so the roundings, by the type of the device.
BY_DEVICE = {"nn.functional.linear_cross_entropy.chunked",
             "nn.functional.linear_cross_entropy.chunked_none"}
# torch_npu's strides of results let BLAS round otherwise.
BY_STRIDES = {"linalg.pinv.hermitian"} if BY_ACLNN else set()


def channels_last(tensor):
    if tensor.dim() not in (4, 5):
        return None
    return tensor.contiguous(memory_format=torch.channels_last if tensor.dim() == 4
                             else torch.channels_last_3d)


def transposed(tensor):
    return tensor.mT.contiguous().mT if tensor.dim() >= 2 else None


class Layout:
    """Gives the tensors of a sample another layout; `changed` says whether there was one to change."""

    def __init__(self, change):
        self.change, self.changed = change, False

    def __call__(self, value):
        if isinstance(value, torch.Tensor):
            made = self.change(value.detach()) if value.layout == torch.strided else None
            self.changed = self.changed or made is not None
            return value if made is None else made.requires_grad_(value.requires_grad)
        return mapped(value, self)


def mapped(value, change):
    """Returns the value with its elements changed, if it is a list, a tuple or a dictionary."""
    if isinstance(value, (list, tuple)):
        made = [change(element) for element in value]
        return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)
    if isinstance(value, dict):
        return {name: change(element) for name, element in value.items()}
    return value


def to_npu(value):
    """Returns the sample with its tensors on the device: the same storages, strides and offsets."""
    if isinstance(value, torch.Tensor):
        if value.layout != torch.strided:
            return value.detach().npu().requires_grad_(value.requires_grad)
        plain = value.detach().resolve_conj().resolve_neg()
        whole = torch.empty(0, dtype=plain.dtype).set_(plain.untyped_storage()).npu()
        moved = whole.as_strided(plain.shape, plain.stride(), plain.storage_offset())
        return moved.requires_grad_(value.requires_grad)
    if isinstance(value, torch.device) or isinstance(value, str) and value == "cpu":
        return torch.device("npu") if not isinstance(value, str) else "npu"
    return mapped(value, to_npu)


def tensors(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for element in value.values():
            yield from tensors(element)
    elif isinstance(value, (list, tuple)):
        for element in value:
            yield from tensors(element)


def strides(tensor):
    """Returns those that matter."""
    return [stride for size, stride in zip(tensor.shape, tensor.stride()) if size > 1]


def same(first, second):
    if isinstance(first, torch.Tensor):
        if first.layout == torch.strided and strides(first) != strides(second) and not BY_ACLNN:
            return False
        second = second.cpu()
        if (first.dtype, first.shape, first.layout) != (second.dtype, second.shape, second.layout):
            return False
        if first.layout != torch.strided:
            first, second = first.to_dense(), second.to_dense()
        first, second = first.detach().resolve_conj(), second.detach().resolve_conj()
        if first.dtype == torch.complex32:
            first, second = torch.view_as_real(first), torch.view_as_real(second)
        return bool(((first == second) | ((first != first) & (second != second))).all())
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(same(first[key], second[key]) for key in first)
    if isinstance(first, (list, tuple)):
        return len(first) == len(second) and all(map(same, first, second))
    if isinstance(first, torch.device):
        return True
    return first == second or (first != first and second != second)


def run(operator, sample, backward):
    """Returns the results, and the gradients of the leaves among the arguments."""
    torch.manual_seed(7)
    torch.npu.manual_seed(7)
    arguments = (sample.input, *sample.args) if not isinstance(sample.input, list) \
        else (list(sample.input), *sample.args)
    result = operator(*arguments, **sample.kwargs)
    if not backward:
        return result, []
    leaves = [leaf for leaf in tensors([sample.input, list(sample.args), sample.kwargs])
              if leaf.requires_grad]
    outputs = [out for out in tensors(result) if out.requires_grad]
    if not leaves or not outputs:
        return result, []
    gradients = torch.autograd.grad(outputs, leaves, [torch.ones_like(out) for out in outputs],
                                    allow_unused=True)
    return result, [gradient for gradient in gradients if gradient is not None]


class Sample:
    def __init__(self, source, change, name=""):
        if name == "tensor_split":  # its indices are on "cpu" for every device
            self.input, self.args, self.kwargs = change(source.input), source.args, source.kwargs
            return
        self.input, self.args = change(source.input), tuple(change(source.args))
        self.kwargs = change(source.kwargs)


def samples(operator, dtype, count, backward, layouts):
    """Yields the samples, or else those of them that have other layouts, in these."""
    given = operator.sample_inputs("cpu", dtype, requires_grad=backward)
    for source in itertools.islice(given, count):
        if not layouts:
            yield source
        for change in (channels_last, transposed) if layouts else ():
            layout = Layout(change)
            sample = Sample(source, layout)
            if layout.changed:
                yield sample


def check(operator, dtype, count, layouts):
    """Returns "right", "refused: why", "wrong: where", or "" if there is nothing to compare."""
    backward = dtype in operator.supported_backward_dtypes("cpu") and operator.supports_autograd
    checked = 0
    torch.manual_seed(3)
    for index, source in enumerate(samples(operator, dtype, count, backward, layouts)):
        try:
            expected = run(operator, Sample(source, lambda value: value), backward)
        except Exception:  # noqa: BLE001: then there is nothing to compare with
            continue
        try:
            found = run(operator, Sample(source, to_npu, operator.name), backward)
            torch.npu.synchronize()
        except Exception as error:  # noqa: BLE001
            return "refused: " + f"{type(error).__name__}: {error}".splitlines()[0][:150]
        checked += 1
        if operator.name.startswith("empty") or operator.name in ("new_empty", "new_empty_strided"):
            continue  # uninitialised memory
        if not same(expected[0], found[0]):
            return f"wrong: sample {index}"
        if not same(list(expected[1]), list(found[1])):
            return f"wrong: gradients of sample {index}"
    return "right" if checked else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--samples", type=int, default=3)
    parser.add_argument("--layouts", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows, failed = {}, 0
    calls = advance_step.torch_npu.aclnn_calls if BY_ACLNN else lambda: 0
    chosen = [operator for operator in op_db if operator.name in options.names or not options.names]
    for operator in chosen[::options.every]:
        for dtype in DTYPES[:1] if options.layouts else DTYPES:
            if not operator.supports_dtype(dtype, "cpu"):
                continue
            name = operator.name + ("." + operator.variant_test_name
                                    if operator.variant_test_name else "")
            if name in BY_DEVICE and dtype != torch.float32 or name in BY_STRIDES:
                continue
            before = calls()
            verdict = check(operator, dtype, options.samples, options.layouts)
            word = verdict.split(":")[0] or "nothing to compare"
            row = rows.setdefault(str(dtype)[6:], {})
            row.setdefault(word, []).append(name)
            if calls() != before:
                row.setdefault("by aclnn", []).append(name)
            if word not in ("right", "nothing to compare"):
                print(f"{name} {str(dtype)[6:]} {verdict}", flush=True)
                failed += word == "wrong" or name not in REFUSED
    words = ("right", "refused", "wrong", "nothing to compare") + ("by aclnn",) * BY_ACLNN
    print("| dtype | " + " | ".join(words) + " |")
    print("| --- |" + " ---: |" * len(words))
    for dtype, row in rows.items():
        print(f"| {dtype} | " + " | ".join(str(len(row.get(word, ()))) for word in words) + " |")
    return int(failed != 0)


if __name__ == "__main__":
    sys.exit(main())
