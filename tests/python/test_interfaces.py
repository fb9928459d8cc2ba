# SPDX-License-Identifier: Apache-2.0
"""Objects with memory that the package cannot use: messages, and nothing has been done."""

import array
import mmap

import advance_step
import numpy as np
import pytest
import torch
from advance_step._arrays import describe
from batches import as_numpy, batch, expect_state
from torch._subclasses.fake_tensor import FakeTensorMode


class Interface:
    """An array of somebody else, known by its interface."""

    def __init__(self, **change):
        self.owner = np.zeros(4, dtype=np.int64)
        self.__array_interface__ = {**self.owner.__array_interface__, **change}


CHANGES = {
    "typestr": [None, "", 8, ">i8", "<i16", "|O"],
    "shape": [None, 4, (4.0,), ("4",), (-1,), (1 << 63,), (1 << 70,), (None,), (np.zeros(2),)],
    "strides": [(), (8, 8), (8.0,), ("8",), 8, (1 << 63,), (-(1 << 70),), (None,)],
    "data": [None, (1,), (1.5, False), ("1", False), (-8, False), (1 << 64, False),
             ((1 << 70) + 8, False), bytearray(32)],
    "mask": [np.zeros(4, dtype=bool)],
}


@pytest.mark.parametrize("key, value", [(key, value) for key in CHANGES for value in CHANGES[key]],
                         ids=repr)
def test_an_interface_that_is_wrong_is_refused_with_the_entry(key, value):
    with pytest.raises(advance_step.ArgumentError, match=f"^x has .*{key} .*; expected ") as caught:
        describe(Interface(**{key: value}), "x")
    assert caught.value.code == 161002


@pytest.mark.parametrize("change", (
    {"shape": (1 << 62,)}, {"data": ((1 << 64) - 8, False)},
    {"data": (8, False), "strides": (-8,)}), ids=repr)
def test_an_interface_beyond_the_addresses_is_refused(change):
    with pytest.raises(advance_step.ArgumentError, match="^x reaches from address .*64 bits"):
        describe(Interface(**change), "x")


def test_numbers_of_an_interface_may_be_those_of_numpy():
    good = Interface()
    address = good.owner.ctypes.data
    part = Interface(shape=[np.int32(2)], strides=(np.int64(16),), data=(np.uint64(address), False))
    view = describe(part, "x")
    assert (view.address, view.shape, view.strides) == (address, (2,), (2,))
    assert (view.begin, view.end) == (address, address + 24)


def functional():
    return torch._to_functional_tensor(torch.zeros(3, dtype=torch.int64))


def fake():
    with FakeTensorMode():
        return torch.zeros(3, dtype=torch.int64)


def nested():
    return torch.nested.nested_tensor([torch.zeros(2), torch.zeros(3)])


def released():
    memory = memoryview(array.array("q", [1]))
    memory.release()
    return memory


def closed():
    memory = mmap.mmap(-1, 16)
    memory.close()
    return memory


@pytest.mark.filterwarnings("ignore")  # torch warns of some of them
@pytest.mark.parametrize("make, text", (
    (functional, "has no memory"), (fake, "has no memory"), (nested, "is a nested tensor"),
    (released, "is memoryview, of which no memory"), (closed, "is mmap, of which no memory"),
    (lambda: np.ma.masked_array(np.zeros(3, np.int64)), "is a masked array"),
    (lambda: np.ma.masked_array(np.zeros(3, np.int64), mask=[0, 1, 0]), "is a masked array")))
def test_arrays_without_memory_of_their_own_are_refused(make, text):
    with pytest.raises(advance_step.ArgumentError, match=f"^x {text}.*; expected "):
        describe(make(), "x")


@pytest.mark.parametrize("warm", (False, True))
def test_a_masked_array_is_not_read(warm):
    state, *sizes = batch(8, num_seqs=12, num_queries=9, block_size=4, columns=6)
    arrays = as_numpy(state)
    if warm:
        state["seq_lens"][:] = [3] * 12
        arrays[3][:] = 3
        advance_step.prepare_advance_step(*arrays, *sizes)
    arrays[5] = np.ma.masked_array(arrays[5])
    with pytest.raises(advance_step.ArgumentError, match="^AdvanceStep: block_tables is a masked"):
        advance_step.advance_step(*arrays, *sizes)
    expect_state(arrays, state)
