# SPDX-License-Identifier: Apache-2.0
"""Arguments that no C type can hold, or of another type: refused before anything is done."""

import copy
import gc
import pickle

import advance_step
import numpy as np
import pytest
import torch
from advance_step import AdvanceStepError, Device, Event, Stream, _library
from batches import as_numpy, batch, expect_state

WIDE = (1 << 32, 1 << 31, -1, (1 << 64) + 1, -(1 << 32))
NUMBERS = {  # call: (argument, the code, values that are refused)
    Device: ("index", 107001, WIDE),
    Stream: ("device", 107001, WIDE),
    Event: ("device", 107001, WIDE),
    advance_step.current_stream: ("device", 107001, WIDE),
    lambda value: Stream(0, value): ("priority", 107000, (*WIDE, 8)),
    Device(0).allocate: ("size", 100000, ((1 << 64) + 8, 1 << 64, 1 << 63, 0, -1)),
}
NO_NUMBERS = ("1", 1.0, b"1", [1], np.zeros(2, np.int64), torch.zeros(2))


@pytest.fixture
def nothing_done(monkeypatch):
    """Fails the test if a call of the library that makes something is reached. The thread's own
    stream exists."""
    advance_step.current_stream()
    for name in ("malloc", "create_stream", "create_event", "set_device", "record_event",
                 "wait_event", "host_register"):
        monkeypatch.setattr(_library, name, lambda *_, name=name: pytest.fail(f"{name} was called"))


@pytest.mark.parametrize("call", NUMBERS)
def test_numbers_are_not_cut(call, nothing_done):
    name, code, values = NUMBERS[call]
    for value in values:
        with pytest.raises(AdvanceStepError, match=f": {name} is {value}; expected ") as caught:
            call(value)
        assert caught.value.code == code


@pytest.mark.parametrize("call", NUMBERS)
def test_other_types_are_no_numbers(call, nothing_done):
    for value in NO_NUMBERS:
        kind = type(value).__name__
        with pytest.raises(TypeError, match=f": {NUMBERS[call][0]} is of type {kind}; expected "):
            call(value)


def test_numbers_of_other_libraries_are_numbers():
    for one in (np.int64(1), torch.tensor(1), True):
        assert Device(one) == Device(1) and type(Device(one).index) is int
        assert Stream(one, one).device == Device(1)
        assert Device(0).allocate(one).nbytes == 1


def test_an_index_that_was_assigned_later(nothing_done):
    for value, error in ((1 << 32, AdvanceStepError), ("1", TypeError)):
        device = Device(0)
        device.index = value
        for call in (device.synchronize, device.make_current, device.__enter__,
                     lambda: device.allocate(8), lambda: Stream(device), lambda: Event(device)):
            with pytest.raises(error, match="Device: index is "):
                call()
    assert advance_step.current_device() == Device(0)


OPERATORS = {
    "AdvanceStep": advance_step.advance_step, "AdvanceStepV2": advance_step.advance_step_v2,
    "prepare": advance_step.prepare_advance_step,
}


@pytest.mark.parametrize("call", OPERATORS)
def test_attributes(call, nothing_done):
    state, *sizes = batch(3)
    arrays = as_numpy(state)
    for at, name in enumerate(("num_seqs", "num_queries", "block_size")):
        for value in (1 << 63, (1 << 64) + sizes[at], -(1 << 63) - 1):
            given = [*sizes[:at], value, *sizes[at + 1:]]
            with pytest.raises(advance_step.ArgumentError, match=f"{name} is {value}; exp") as caught:
                OPERATORS[call](*arrays, *given)
            assert caught.value.code == 561002
        for value in NO_NUMBERS:
            given = [*sizes[:at], value, *sizes[at + 1:]]
            with pytest.raises(TypeError, match=f"{name} is of type {type(value).__name__}; exp"):
                OPERATORS[call](*arrays, *given)
    expect_state(arrays, state)


@pytest.mark.parametrize("value", (0, "stream", Device(0), Stream))
def test_other_objects_are_no_streams_and_no_events(value, nothing_done):
    state, *sizes = batch(3)
    arrays = as_numpy(state)
    for call in OPERATORS.values():
        with pytest.raises(TypeError, match="AdvanceStep.*: stream is of type .*; expected advance_step.S"):
            call(*arrays, *sizes, stream=value)
    expect_state(arrays, state)
    for kind in ("record", "wait"):
        with pytest.raises(TypeError, match=f"Event.{kind}: stream is of type"):
            getattr(Event.__new__(Event), kind)(value)
    stream = Stream.__new__(Stream)
    for name, argument in (("record_event", "event"), ("wait_event", "event"), ("wait_stream", "other")):
        with pytest.raises(TypeError, match=f"Stream.{name}: {argument} is of type"):
            getattr(stream, name)(value)
    with pytest.raises(TypeError, match="Event.elapsed_time: end is of type"):
        Event.__new__(Event).elapsed_time(value)


def test_a_path_is_not_cut(machine, tmp_path):
    machine()
    settings = tmp_path / "settings.json"
    settings.write_text('{"advance_step": {"ADVANCE_STEP_DEVICES": 7}}')
    for path in (f"{settings}\0.old", f"{settings}\0".encode()):
        with pytest.raises(AdvanceStepError, match="initialize: config is .*without zero") as caught:
            advance_step.initialize(path)
        assert caught.value.code == 100003
    with pytest.raises(AdvanceStepError, match=r"config is '/\\ud800'; expected a path") as caught:
        advance_step.initialize("/\ud800")  # no bytes stand for it
    assert caught.value.code == 100003
    for path in (3, object(), [str(settings)]):
        with pytest.raises(TypeError, match="initialize: config is of type"):
            advance_step.initialize(path)
    advance_step.initialize(bytes(settings))  # it has not been started
    assert advance_step.device_count() == 7


@pytest.mark.parametrize("call", (advance_step.step, advance_step.prepare_step))
def test_a_state_without_an_array(call, nothing_done):
    for state, error in (({"stop_flags": 1}, KeyError), (object(), AttributeError)):
        with pytest.raises(error, match="state has no .*; expected the arrays of STATE_NAMES"):
            call(state, 4)


@pytest.mark.parametrize("kind", (Stream, Event))
@pytest.mark.parametrize("make", (copy.copy, copy.deepcopy, pickle.dumps))
def test_handles_have_one_owner(kind, make):
    original = kind()
    with pytest.raises(TypeError, match=f"{kind.__name__} owns a handle .*; expected no copy"):
        make(original)
    gc.collect()
    assert original.query()
