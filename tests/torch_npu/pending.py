# SPDX-License-Identifier: Apache-2.0
"""What tests of torch's operators on "npu" share: a stream with work pending, and comparisons."""

import contextlib
import ctypes
import threading

import pytest
import torch
import torch_npu  # noqa: F401

from advance_step import _host_operators

RUNTIME = ctypes.CDLL("libascendcl.so")
NATIVE = _host_operators.form() == "native"
native = pytest.mark.skipif(not NATIVE, reason="the Python form runs at once")


def hold(milliseconds):
    """Keeps the current stream busy, like a slow kernel."""
    stream = torch.npu.current_stream().npu_stream
    delay = RUNTIME.advstepDelayStream
    delay.argtypes = (ctypes.c_void_p, ctypes.c_uint64)
    assert delay(stream, milliseconds * 1000) == 0


@contextlib.contextmanager
def kept_pending():
    """Keeps what the block queues pending until its end. A block that waits for it goes on after a minute."""
    number = ctypes.c_uint64()
    stream = ctypes.c_void_p(torch.npu.current_stream().npu_stream)
    assert RUNTIME.advstepHoldStream(stream, ctypes.byref(number)) == 0
    late = threading.Timer(60, RUNTIME.advstepReleaseHold, [number])
    late.start()
    try:
        yield
    finally:
        late.cancel()
        RUNTIME.advstepReleaseHold(number)


def same(npu, cpu):
    assert npu.device.type == "npu" and npu.dtype == cpu.dtype and npu.stride() == cpu.stride()
    assert torch.equal(npu.cpu(), cpu)


@pytest.fixture(params=(0, 5), ids=("idle", "pending"))
def begin(request):
    """Begins with an idle stream, or with work pending there."""
    torch.npu.synchronize()
    if request.param:
        hold(request.param)
