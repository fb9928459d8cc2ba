# SPDX-License-Identifier: Apache-2.0
"""The published Mooncake, unchanged, on adxl::AdxlEngine: a tensor that another process has."""

import subprocess
import sys
import time

import pytest
import torch
import torch_npu  # noqa: F401
from conftest import FOLDER, variables_of_programs

try:
    from mooncake.engine import TransferEngine
except ImportError as error:  # the wheel, or a library of the host that it needs
    pytest.skip(f"no mooncake-transfer-engine-npu: {error}", allow_module_level=True)


@pytest.fixture(scope="module")
def engine():
    torch.npu.set_device(0)
    made = TransferEngine()
    assert made.initialize("127.0.0.1", "P2PHANDSHAKE", "ascend", "") == 0
    return made


@pytest.fixture(scope="module")
def server():
    """One for all tests, because most of its time goes into imports; the last test kills it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "advance_step.torch_npu", str(FOLDER / "transfer_server.py")],
        env=variables_of_programs(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True)
    process.name, process.address = process.stdout.readline().split()
    process.address = int(process.address)
    yield process
    process.kill()
    process.communicate()


def sum_of(server):
    server.stdin.write("\n")
    server.stdin.flush()
    return float(server.stdout.readline())


def test_a_tensor_goes_there_and_back(engine, server):
    mine = torch.arange(1024 * 1024, dtype=torch.float32).npu()
    back = torch.zeros_like(mine)
    torch.npu.synchronize()
    for tensor in (mine, back):
        assert engine.register_memory(tensor.data_ptr(), tensor.nbytes) == 0
    assert engine.transfer_sync_write(server.name, mine.data_ptr(), server.address, mine.nbytes) == 0
    assert sum_of(server) == mine.sum().item()
    assert engine.transfer_sync_read(server.name, back.data_ptr(), server.address, back.nbytes) == 0
    assert torch.equal(back, mine)
    # A batch: the halves change places.
    half = mine.nbytes // 2
    places = [server.address + half, server.address]
    assert engine.batch_transfer_sync_write(
        server.name, [mine.data_ptr(), mine.data_ptr() + half], places, [half, half]) == 0
    assert engine.transfer_sync_read(server.name, back.data_ptr(), server.address, back.nbytes) == 0
    assert torch.equal(back, mine.roll(mine.numel() // 2))
    for tensor in (mine, back):
        assert engine.unregister_memory(tensor.data_ptr()) == 0


def test_what_is_not_registered_is_refused(engine, server):
    mine = torch.ones(256).npu()
    torch.npu.synchronize()
    assert engine.register_memory(mine.data_ptr(), mine.nbytes) == 0
    behind = server.address + 1024 * 1024 * 4
    before = sum_of(server)
    assert engine.transfer_sync_write(server.name, mine.data_ptr(), behind, mine.nbytes) != 0
    assert sum_of(server) == before
    assert engine.unregister_memory(mine.data_ptr()) == 0


def test_a_server_that_is_killed_is_an_error_in_time(engine, server):
    mine = torch.ones(256).npu()
    torch.npu.synchronize()
    assert engine.register_memory(mine.data_ptr(), mine.nbytes) == 0
    assert engine.transfer_sync_write(server.name, mine.data_ptr(), server.address, mine.nbytes) == 0
    server.kill()
    server.wait()
    begin = time.monotonic()
    assert engine.transfer_sync_write(server.name, mine.data_ptr(), server.address, mine.nbytes) != 0
    assert time.monotonic() - begin < 60
