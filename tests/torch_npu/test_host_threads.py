# SPDX-License-Identifier: Apache-2.0
"""Operators that several threads ask for, and a thread that runs ahead of its stream."""

import os
import signal
import threading
import time

import pytest
import torch
import torch_npu  # noqa: F401
from pending import hold, native


def together(work, count=4):
    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    torch.npu.synchronize()


# Small and large operators run on different ways.
@pytest.mark.parametrize("size", [1000, 30000, 100000])
def test_no_update_is_lost(size):
    total, one = torch.zeros(size, device="npu"), torch.ones(size, device="npu")
    torch.npu.synchronize()

    def add():
        for _ in range(300):
            total.add_(one)

    together(add)
    assert total.min().item() == total.max().item() == 1200


def test_operators_copies_and_draws_of_threads_end():
    """Each waits for others, for the interpreter's lock, or for memory of the device."""
    torch.npu.manual_seed(5)
    ended = []

    def work():
        stream = torch.npu.Stream()
        total = torch.zeros(1000, device="npu")
        for turn in range(100):
            total.add_(torch.rand(1000, device="npu"))
            total.copy_(total.double().float())
            if turn % 10 == 0:
                with torch.npu.stream(stream):
                    torch.empty(1 << 20, device="npu").fill_(turn)
                torch.npu.synchronize()
                total.cpu()
        ended.append(float(total.sum()) > 0)

    together(work)
    assert ended == [True] * 4


@native
def test_a_thread_waits_for_room_in_its_stream():
    total = torch.zeros(8, device="npu")
    early = torch.npu.Event()
    torch.npu.synchronize()
    hold(300)
    for turn in range(6000):
        total.add_(1)
        if turn == 1000:
            early.record()
    assert early.query(), "the stream is not thousands of operators behind"
    assert torch.equal(total.cpu(), torch.full((8,), 6000.0))


@native
def test_an_interrupt_ends_the_wait_for_room():
    total = torch.zeros(8, device="npu")
    torch.npu.synchronize()
    hold(8000)
    start, count = time.monotonic(), 0
    ended = threading.Event()

    def interrupt():  # again if Python drops one, as it does in a finaliser
        for _ in range(4):
            if ended.wait(1):
                return
            os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        while time.monotonic() - start < 30:
            total.add_(1)
            count += 1
    ended.set()
    assert time.monotonic() - start < 6
    assert count < 10000
    assert total.max().item() in (count, count + 1)
