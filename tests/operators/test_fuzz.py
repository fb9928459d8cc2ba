# SPDX-License-Identifier: Apache-2.0
"""Wild arguments of every function: no crash, a code, a message, and nothing written on failure.

The message begins with the function's name. Each function has mutations of its usual call, the same in every run.

A crash ends the process; FUZZ_LOG names a file whose last line is then the call that did it."""

import os
import random
import zlib

import pytest
import torch

import aclnn
import recipes
import test_misuse

NAMES = test_misuse.COMPUTED
ROUNDS = int(os.environ.get("FUZZ_ROUNDS", 2))
LOG = os.environ.get("FUZZ_LOG")
PARTS = 16

WILD = [0, 1, -1, 2, 3, 7, 100, -100, 2 ** 31, 2 ** 40, 2 ** 62, 2 ** 63 - 1, -2 ** 63]
SHAPES = [(), (0,), (1,), (2,), (3, 4), (0, 3), (2, 0, 3), (1, 1, 1, 1), (2, 3, 4), (4, 3), (1, 2, 3, 4), (2, 1, 3, 2, 2)]
DTYPES = [torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int32, torch.int64, torch.uint8, torch.bool,
          torch.int8, torch.complex64]


def wild_tensor(tensor, dice):
    """Another shape or dtype, wild contents, or a strange view."""
    choice = dice.randrange(7)
    if choice == 0:
        return recipes.rand(*dice.choice(SHAPES), dtype=tensor.dtype)
    if choice == 1:
        return torch.zeros(tensor.shape, dtype=dice.choice(DTYPES))
    if choice == 2 and tensor.numel() > 0:
        changed = tensor.clone(memory_format=torch.contiguous_format)
        if changed.dtype.is_floating_point:
            wild = dice.choice([float("nan"), float("inf"), -1e30, 1e30, 0.0])
        elif changed.dtype in (torch.int32, torch.int64):
            wild = dice.choice([number for number in WILD if abs(number) < 2 ** 31 or changed.dtype == torch.int64
                                and number < 2 ** 63])
        else:
            wild = 1
        if changed.dim() == 0:
            return changed.fill_(wild)
        changed.view(-1)[dice.randrange(changed.numel())] = wild
        return changed
    if choice == 3 and tensor.dim() > 0:
        return tensor.unsqueeze(0).expand(2, *tensor.shape)
    if choice == 4 and tensor.dim() > 0:
        return tensor[..., :max(tensor.shape[-1] - 1, 0)].clone()
    if choice == 5 and tensor.dim() > 0:
        return tensor.flatten().clone()
    return torch.cat([tensor, tensor]) if tensor.dim() > 0 else tensor.reshape(1)


def wild(kind, value, dice):
    if kind == "kTensor" and isinstance(value, aclnn.Int4):
        return dice.choice([recipes.rand(*dice.choice(SHAPES)), aclnn.Int4(value.numbers.flatten()), value.numbers])
    if kind == "kTensor":
        return wild_tensor(value, dice) if value is not None else recipes.rand(*dice.choice(SHAPES))
    if kind in ("kTensorList", "kScalarList"):
        members = list(value or [])
        choice = dice.randrange(4)
        if choice == 0 or not members:
            return []
        place = dice.randrange(len(members))
        if choice == 1:
            members[place] = None
        elif choice == 2:
            del members[place]
        elif kind == "kTensorList" and isinstance(members[place], torch.Tensor):
            members[place] = wild_tensor(members[place], dice)
        return members
    if kind == "kScalar":
        return dice.choice([float("nan"), float("inf"), -1e30, 0.0, -1.0, True, (2 ** 63 - 1, torch.int64), (-3, torch.int8),
                            (1 + 2j, torch.complex64), (0.5, torch.float16)])
    if kind == "kIntArray":
        numbers = list(value or [1])
        choice = dice.randrange(4)
        if choice == 0:
            return []
        if choice == 1:
            return numbers + [dice.choice(WILD)]
        if choice == 2 and len(numbers) > 1:
            return numbers[:-1]
        numbers[dice.randrange(len(numbers))] = dice.choice(WILD)
        return numbers
    if kind == "kFloatArray":
        return dice.choice([[], [float("nan")], list(value or []) + [1e30]])
    if kind == "kBoolArray":
        return dice.choice([[], [True], [False] * 5, [True] * 5])
    if kind == "kInt":
        return dice.choice(WILD)
    if kind == "kReal":
        return dice.choice([0.0, -1.0, 1e-300, 1e30, float("nan"), float("inf"), -float("inf")])
    if kind == "kFlag":
        return not value
    if kind == "kDataType":
        return dice.choice(DTYPES)
    return dice.choice(["", "none", "\u00e4" * 300])


def tensors(values):
    for value in values:
        for member in value if isinstance(value, list) else [value]:
            if isinstance(member, aclnn.Int4):
                yield member.bytes
            elif isinstance(member, torch.Tensor):
                yield member


def bytes_of(tensor):
    return torch.empty(0, dtype=torch.uint8).set_(tensor.untyped_storage()).clone()


@pytest.mark.parametrize("part", range(PARTS))
def test_wild_arguments(device, part):
    for name in NAMES[part::PARTS]:
        spec = aclnn.functions()[name]["arguments"]
        dice = random.Random(zlib.crc32(name.encode()))
        for number in range(ROUNDS):
            values = test_misuse.usual(name)
            for place in dice.sample(range(len(spec)), min(len(spec), dice.choice([1, 1, 1, 2, 3]))):
                values[place] = wild(spec[place]["kind"], values[place], dice)
            check(device, name, number, values)


def check(device, name, number, values):
    before = [bytes_of(tensor) for tensor in tensors(values)]
    if LOG:
        with open(LOG, "a", encoding="utf-8") as log:
            print(name, number, repr(values).replace("\n", " ")[:2000], file=log)
    with aclnn.Call(device, name, values) as call:
        try:
            call.run()
            return
        except aclnn.Failed as failed:
            where = (name, number, values, failed)
            assert failed.code in (161001, 161002, 361001, 507035), where
            task = failed.message.removeprefix("aclrtSynchronizeStream: ")
            assert task.startswith((f"{name}GetWorkspaceSize: ", f"{name}: ")), where
        call.read()
    for tensor, bytes_before in zip(tensors(values), before, strict=True):
        assert torch.equal(bytes_of(tensor), bytes_before), where
