# SPDX-License-Identifier: Apache-2.0
"""Wrong arguments of every function: a code, a message that names them, and nothing written."""

import ctypes

import pytest
import torch

import aclnn
import families
import recipes
import references

FUNCTIONS = aclnn.functions()
COMPUTED = sorted(name for name, row in FUNCTIONS.items() if row["computes"])
REFUSED = sorted(name for name, row in FUNCTIONS.items() if not row["computes"])
OBJECTS = {"kTensor", "kTensorList", "kScalar", "kScalarList", "kIntArray", "kFloatArray", "kBoolArray"}


def usual(name):
    """Arguments of a call that works."""
    torch.manual_seed(1)
    row = FUNCTIONS[name]
    values = recipes.arguments(name)
    words = [row["arguments"][place]["name"] for place in row["outputs"]]
    if name in recipes.RANDOM:
        values.update({word: recipes.RANDOM[name] for word in words if word not in values})
    elif name not in ("aclnnArange", "aclnnRange", "aclnnEye"):
        made = recipes.outputs_for(references.expected(name, values))
        values.update({word: output for word, output in zip(words, made, strict=True) if word not in values})
    else:
        shape = {"aclnnArange": (4,), "aclnnRange": (5,), "aclnnEye": (4, 3)}[name]
        values.update({word: torch.zeros(shape) for word in words})
    return [values.get(argument["name"], None if argument["kind"] in {*OBJECTS, "kText"} and name in families.CASES else 0)
            for argument in row["arguments"]]


@pytest.mark.parametrize("name", COMPUTED)
def test_a_null_argument_is_named(device, name):
    values = usual(name)
    for place, argument in enumerate(FUNCTIONS[name]["arguments"]):
        if argument["kind"] not in OBJECTS or argument["optional"]:
            continue
        wrong = values[:place] + [None] + values[place + 1:]
        with pytest.raises(aclnn.Failed, match=f"{name}GetWorkspaceSize: {argument['name']} is null; expected") as info:
            aclnn.call(device, name, *wrong)
        assert info.value.code == 161001
    with aclnn.Call(device, name, values) as call:
        for size, executor, word in ((None, ctypes.byref(ctypes.c_void_p()), "workspaceSize"),
                                     (ctypes.byref(ctypes.c_uint64()), None, "executor")):
            with pytest.raises(aclnn.Failed, match=f"{word} is null") as info:
                device.check(getattr(device.operators, name + "GetWorkspaceSize")(*call.values, size, executor))
            assert info.value.code == 161001


@pytest.mark.parametrize("name", COMPUTED)
def test_a_destroyed_tensor_is_named(device, name):
    values = usual(name)
    for place, argument in enumerate(FUNCTIONS[name]["arguments"]):
        if argument["kind"] != "kTensor" or values[place] is None:
            continue
        with aclnn.Call(device, name, values) as call:
            made = next(entry for entry in call.destroy if entry[1] == call.values[place].value)
            call.destroy.remove(made)
            device.check(device.acl.aclDestroyTensor(call.values[place]))
            with pytest.raises(aclnn.Failed, match=f"{name}GetWorkspaceSize: {argument['name']} is none, or has been "
                                                   "destroyed") as info:
                call.phase_one()
            assert info.value.code == 161002
        return


@pytest.mark.parametrize("name", [name for name in COMPUTED if name not in recipes.RANDOM])
def test_an_output_of_another_size_is_refused(device, name):
    """In phase one, with the shapes; or by the task, for results whose shapes depend on data."""
    values = usual(name)
    outputs = [place for place in FUNCTIONS[name]["outputs"]
               if FUNCTIONS[name]["arguments"][place]["access"] == "ADVSTEP_WRITES"]
    for place in outputs:
        if not isinstance(values[place], torch.Tensor):
            continue
        wrong = torch.full((7, 11, 3), 5, dtype=values[place].dtype)
        if name in ("aclnnEye", "aclnnInplaceCopy"):
            continue
        with pytest.raises(aclnn.Failed) as info:
            aclnn.call(device, name, *values[:place], wrong, *values[place + 1:])
        assert info.value.code in (161002, 507035), info.value
        assert FUNCTIONS[name]["arguments"][place]["name"] in info.value.message, info.value
        assert torch.equal(wrong, torch.full_like(wrong, 5))


@pytest.mark.parametrize("name", REFUSED)
def test_a_function_that_does_not_compute_says_so(device, name):
    """Whatever its arguments are."""
    values = [ctypes.c_double(0) if argument["type"].removeprefix("const ") == "double"
              else ctypes.c_float(0) if argument["type"].removeprefix("const ") == "float"
              else ctypes.c_void_p() for argument in FUNCTIONS[name]["arguments"]]
    size, executor = ctypes.c_uint64(), ctypes.c_void_p()
    code = getattr(device.operators, name + "GetWorkspaceSize")(*values, ctypes.byref(size), ctypes.byref(executor))
    with pytest.raises(aclnn.Failed, match=f"{name}GetWorkspaceSize: it is not computed on this device") as info:
        device.check(code)
    assert info.value.code == 361001
