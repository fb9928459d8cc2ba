# SPDX-License-Identifier: Apache-2.0
"""Arguments of a wrong type or size: the exception names the call and the argument, and nothing has
been done. ctypes would cut a number to the bits of its C type."""

import advance_step
import numpy as np
import pytest
from advance_step import Device, Event, Stream
from advance_step import _library
from batches import as_numpy, batch, expect_state

WIDE = (1 << 32, (1 << 32) + 1, -1, -(1 << 32), 1 << 64, 1 << 70)


def refused(kind, text, call, *arguments, code=None, **options):
    with pytest.raises(kind, match=text) as caught:
        call(*arguments, **options)
    assert type(caught.value) is kind or code is not None
    assert code is None or caught.value.code == code


@pytest.mark.parametrize("index", WIDE)
@pytest.mark.parametrize("call, text", (
    (Device, "Device: index"), (Stream, "Stream: device"), (Event, "Event: device"),
    (advance_step.current_stream, "current_stream: device")))
def test_an_index_of_a_device_is_not_cut(call, text, index):
    refused(advance_step.AdvanceStepError, f"^{text} is {index}; expected 0 <= ", call, index,
            code=107001)


def test_the_index_of_a_device_that_is_changed_is_not_cut():
    device = Device(0)
    device.index = 1 << 32
    for call in (device.make_current, device.synchronize, device.__enter__,
                 lambda: device.allocate(8), lambda: Stream(device)):
        refused(advance_step.AdvanceStepError, "index is 4294967296", call, code=107001)
    assert advance_step.current_device() == Device(0)


@pytest.mark.parametrize("priority", (8, *WIDE))
def test_a_priority_is_not_cut(priority):
    refused(advance_step.AdvanceStepError,
            f"^Stream: priority is {priority}; expected 0 <= priority <= 7", Stream, 0, priority,
            code=107000)
    assert Stream(0, np.int8(7)).valid



@pytest.mark.parametrize("size", (0, -1, -(1 << 63), (1 << 64) + 8, 1 << 63, 1 << 70))
def test_a_size_is_not_cut(size, monkeypatch):
    asked = []
    monkeypatch.setattr(_library, "malloc", lambda *arguments: asked.append(arguments))
    refused(advance_step.AdvanceStepError, rf"^Device.allocate: size is {size}; expected 1 <= size",
            Device(0).allocate, size, code=100000)
    assert not asked


def test_a_size_may_be_a_number_of_numpy():
    assert Device(0).allocate(np.uint8(16)).nbytes == 16


@pytest.mark.parametrize("call, text", (
    (lambda: Device(0.5), "Device: index is of type float; expected an int"),
    (lambda: Device("0"), "Device: index is of type str"),
    (lambda: Stream("npu"), "Stream: device is of type str; expected advance_step.Device, an int"),
    (lambda: Stream(0, 1.0), "Stream: priority is of type float"),
    (lambda: Event([]), "Event: device is of type list"),
    (lambda: advance_step.current_stream("0"), "current_stream: device is of type str"),
    (lambda: Device(0).allocate(8.0), "Device.allocate: size is of type float"),
    (lambda: Event().elapsed_time(3), "Event.elapsed_time: end is of type int; expected advance_st"),
    (lambda: Event().record(3), "Event.record: stream is of type int; expected advance_step.Stream"),
    (lambda: Event().wait(Event()), "Event.wait: stream is of type Event"),
    (lambda: Stream().wait_event(Stream()), "Stream.wait_event: event is of type Stream"),
    (lambda: Stream().wait_stream(None), "Stream.wait_stream: other is of type NoneType"),
    (lambda: Stream().record_event(0), "Stream.record_event: event is of type int"),
    (lambda: advance_step.initialize(3), "initialize: config is of type int; expected a str"),
))
def test_a_wrong_type_is_named(call, text):
    refused(TypeError, f"^{text}", call)


def test_a_path_does_not_end_at_a_zero_byte(machine, tmp_path):
    machine()
    (tmp_path / "a.json").write_text("{}")
    for path in (f"{tmp_path}/a.json\0b", f"{tmp_path}/a.json\0b".encode()):
        refused(advance_step.AdvanceStepError, "^initialize: config is .*zero", advance_step.initialize,
                path, code=100003)
    advance_step.initialize(f"{tmp_path}/a.json".encode())  # the runtime has not been started


@pytest.mark.parametrize("warm", (False, True))
@pytest.mark.parametrize("prepare", (False, True))
def test_attributes_and_streams_of_operators(warm, prepare):
    state, *sizes = batch(8, num_seqs=12, num_queries=9, block_size=4, columns=6)
    arrays = as_numpy(state)
    if warm:
        advance_step.prepare_advance_step(*arrays, *sizes)
    call = advance_step.prepare_advance_step if prepare else advance_step.advance_step
    for at, name in enumerate(("num_seqs", "num_queries", "block_size")):
        for value in (None, "4", 4.0):
            bad = [*sizes[:at], value, *sizes[at + 1:]]
            refused(TypeError, f"^AdvanceStep: {name} is of type .*; expected an int", call, *arrays,
                    *bad)
        for value in (sizes[at] + (1 << 64), 1 << 63, -(1 << 63) - 1):
            bad = [*sizes[:at], value, *sizes[at + 1:]]
            refused(advance_step.ArgumentError, f"^AdvanceStep: {name} is {value}; expected", call,
                    *arrays, *bad, code=561002)
    for stream in (0, Device(0), Event(), object()):
        refused(TypeError, "^AdvanceStep: stream is of type .*; expected advance_step.Stream", call,
                *arrays, *sizes, stream=stream)
    expect_state(arrays, state)
