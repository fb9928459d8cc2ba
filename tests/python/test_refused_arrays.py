# SPDX-License-Identifier: Apache-2.0
"""Objects whose memory is not known, or whose numbers no C type can hold: refused with a reason."""

import mmap
import contextlib
import warnings

import advance_step
import numpy as np
import pytest
import torch
from advance_step._arrays import describe
from batches import as_numpy, as_torch, batch, expect_state
from torch._subclasses.fake_tensor import FakeTensorMode


class Interface:
    """An object with an interface of its own, over an int64 array."""

    def __init__(self, owner, **changes):
        self.owner = owner
        self.__array_interface__ = {**owner.__array_interface__, "strides": None, **changes}


def refused(given, message):
    """Expects the refusal of input_tokens, which names it, and that nothing was written."""
    state, *sizes = batch(4, num_seqs=3, num_queries=2)
    arrays = as_numpy(state)
    with pytest.raises(advance_step.ArgumentError,
                       match=f"^AdvanceStep: input_tokens {message}.*; expected ") as caught:
        advance_step.advance_step(given, *arrays[1:], *sizes)
    assert caught.value.code == 161002
    expect_state(arrays, state)


HUGE = 1 << 70


@pytest.mark.parametrize("key, values", {
    "typestr": (None, "", 8, b"<i8"),
    "shape": (None, 3, "3", (1.5,), (-1,), (HUGE,), (1 << 63,), ("3",), (3, None)),
    "data": (None, (1,), (8, False, 0), ("8", False), (8.0, False), (HUGE, False), (-8, False),
             b"x", [8, False]),
    "strides": ((), (8, 8), (8, 8, 8, 8), 8, (8.0,), ("8",), (HUGE,), (-HUGE,), (1 << 63,)),
    "mask": (np.zeros(3, bool),),
}.items())
def test_an_interface_that_is_not_right(key, values):
    owner = np.zeros(3, np.int64)
    for value in values:
        refused(Interface(owner, **{key: value}), f"has __array_interface__ with {key} ")


def test_addresses_that_no_element_has():
    bytes_ = np.zeros(40, np.uint8)
    start = bytes_.ctypes.data
    for given in (bytes_[3:27].view(np.int64), memoryview(bytes_[4:28]).cast("q"),
                  Interface(bytes_, typestr="<i8", shape=(3,), data=(start + 5, False)),
                  Interface(bytes_, typestr="<i8", shape=(3,), data=(0, False))):
        refused(given, "has its elements of 8 bytes at address 0x")


def test_an_interface_that_lacks_a_key():
    for key in ("typestr", "shape", "data"):
        part = Interface(np.zeros(3, np.int64))
        del part.__array_interface__[key]
        refused(part, f"has __array_interface__ with {key} None")


def test_an_interface_that_is_none():
    part = Interface(np.zeros(3, np.int64))
    for value in (3, "x", [("data", 3)]):
        part.__array_interface__ = value
        refused(part, f"has an __array_interface__ of type {type(value).__name__}")


@pytest.mark.parametrize("changes", ({"shape": (1 << 62,)}, {"shape": (5,), "strides": (1 << 62,)},
                                     {"shape": (3,), "strides": (-(1 << 62),)},
                                     {"shape": (0, 1 << 62, 1 << 62)},
                                     {"data": ((1 << 64) - 8, False)}))
def test_an_interface_beyond_the_addresses(changes):
    refused(Interface(np.zeros(3, np.int64), **changes), "reaches from address")


def test_numbers_of_numpy_in_an_interface():
    owner = np.arange(6, dtype=np.int64).reshape(2, 3)
    part = Interface(owner, shape=tuple(np.array([2, 3])), strides=tuple(np.array([24, 8])),
                     data=(np.uint64(owner.ctypes.data), np.False_))
    view = describe(part, "x")
    assert (view.address, view.shape, view.strides) == (owner.ctypes.data, (2, 3), (3, 1))
    assert view.writable and all(type(number) is int for number in (view.address, *view.shape))


def test_masked_arrays():
    plain = np.zeros(3, np.int64)
    for mask in (False, [True, False, False]):
        refused(np.ma.masked_array(plain, mask=mask), "is a masked array")
    assert describe(np.ma.masked_array(plain).data, "x").address == plain.ctypes.data


def test_tensors_without_memory_of_their_own():
    plain = torch.zeros(3, dtype=torch.int64)
    with warnings.catch_warnings(), FakeTensorMode():
        warnings.simplefilter("ignore")
        fake = torch.zeros(3, dtype=torch.int64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        refused(fake, "has no memory")
        refused(torch.nested.nested_tensor([plain, plain[:2]]), "is a nested tensor")
    refused(torch._to_functional_tensor(plain), "has no memory")
    refused(torch.zeros(3, dtype=torch.int64, device="meta"), "is on device meta")


@pytest.mark.parametrize("size", (0, 8, 23))
def test_tensors_whose_storage_was_made_smaller(size):
    state, *sizes = batch(4, num_seqs=3, num_queries=2)
    arrays = as_torch(state)
    arrays[0] = torch.zeros(3, dtype=torch.int64)
    with contextlib.suppress(advance_step.DataError):
        advance_step.advance_step(*arrays, *sizes)  # makes a plan
    arrays[0].untyped_storage().resize_(size)
    with pytest.raises(advance_step.ArgumentError, match="input_tokens (has no memory|reaches beyond)"):
        advance_step.advance_step(*arrays, *sizes)
    refused(arrays[0], "reaches beyond its storage" if size else "has no memory")
    arrays[0].untyped_storage().resize_(24)
    assert describe(arrays[0], "x").shape == (3,)


def test_memory_that_has_been_given_up():
    part = memoryview(bytearray(24)).cast("q")
    part.release()
    refused(part, "is memoryview, of which no memory is known")
    mapping = mmap.mmap(-1, 24)
    mapping.close()
    refused(mapping, "is mmap, of which no memory is known")
