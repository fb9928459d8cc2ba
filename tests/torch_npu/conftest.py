# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of torch_npu: programs in processes of their own, and a clean device."""

import gc
import json
import os
import pathlib
import select
import signal
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent / "python")]
OURS = "advance_step "  # how a line of our log begins


def pytest_collection_finish():
    """Spares the collector the million objects of torch, which the tests have imported by now."""
    gc.freeze()


def variables_of_programs():
    """Returns this process's environment without what an installed prefix sets."""
    variables = dict(os.environ)
    for name in ("LD_LIBRARY_PATH", "ASCEND_HOME_PATH", "ASCEND_OPP_PATH", "ASCEND_TOOLKIT_HOME"):
        variables.pop(name, None)
    return variables


def checked(done, status):
    assert done.returncode == status, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
    assert not any(line.startswith(OURS) for line in done.stderr.splitlines()), done.stderr
    return done


class Forks:
    """The process of forks.py, which saves the seconds that the imports take."""

    LIMIT = 120  # seconds for a program

    def __init__(self):
        self.process = None

    def run(self, folder, text, environment, ranks=1):
        """Returns the standard output and error of all ranks, and the exit status of each."""
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "advance_step.torch_npu", str(FOLDER / "forks.py")],
                # numpy's BLAS starts no thread then, which a fork would lose.
                env={**variables_of_programs(), "OPENBLAS_NUM_THREADS": "1"}, stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, text=True, start_new_session=True)
        order = {"folder": str(folder), "text": text, "environment": environment, "ranks": ranks}
        for name in ("stdout", "stderr"):
            (folder / name).write_text("", encoding="utf-8")
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        if not select.select([self.process.stdout], [], [], self.LIMIT)[0]:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.end()
            raise AssertionError(f"the program did not end within {self.LIMIT} s\n"
                                 + (folder / "stderr").read_text(encoding="utf-8"))
        line = self.process.stdout.readline()
        assert line, "forks.py has ended"
        out, err = ((folder / name).read_text(encoding="utf-8") for name in ("stdout", "stderr"))
        return out, err, json.loads(line)

    def end(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait(self.LIMIT)
            self.process.stdout.close()
            self.process = None


class Program:
    """Runs Python programs on the emulated device, with a time limit."""

    def __init__(self, folder, forks):
        self.folder, self.forks = folder, forks

    def run(self, *arguments, launcher=("-m", "advance_step.torch_npu"), status=0, **environment):
        """Returns the finished process. Names with a value of None are taken off the environment."""
        variables = {**variables_of_programs(), **environment}
        variables = {name: value for name, value in variables.items() if value is not None}
        done = subprocess.run([sys.executable, *launcher, *map(str, arguments)], cwd=self.folder,
                              env=variables, capture_output=True, text=True, timeout=300)
        return checked(done, status)

    def forked(self, text, status=0, **environment):
        """Runs the text, for which variables are enough that are read when a device is first used."""
        out, err, statuses = self.forks.run(self.folder, text, environment)
        return checked(subprocess.CompletedProcess(text, statuses[0], out, err), status)

    def ranks(self, count, text, statuses=None, **environment):
        """Runs the text as so many ranks, as torchrun would start them; returns their output."""
        from torch.distributed import TCPStore

        # The store outlives the process groups of the ranks, as torchrun's does. A store of rank 0's own would
        # end with a group, and a rank that is ahead could join the old one for the next group.
        store = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
        environment |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(store.port),
                        "TORCHELASTIC_USE_AGENT_STORE": "True", "TORCHELASTIC_RESTART_COUNT": "0"}
        out, err, got = self.forks.run(self.folder, text, environment, count)
        assert got == (statuses or [0] * count), f"{got}\n{out}\n{err}"
        return out

    def code(self, text, *arguments, **options):
        """Runs the text as a program of its own file, which child processes can import."""
        file = self.folder / "program.py"
        file.write_text(text, encoding="utf-8")
        return self.run(file, *arguments, **options)


@pytest.fixture(scope="session")
def forks():
    made = Forks()
    yield made
    made.end()


@pytest.fixture
def program(tmp_path, forks):
    return Program(tmp_path, forks)


@pytest.fixture(autouse=True)
def first_device():
    """Each test begins on device 0 with nothing queued there."""
    import torch
    import torch_npu  # noqa: F401

    # torch's engine asks for the streams of each device that has a context. torch_npu makes them
    # with the first tensor there, and ends the process if they are missing.
    for device in (1, 0):
        torch.npu.set_device(device)
        torch.empty(1, device="npu")
    yield
    for device in range(2):
        torch.npu.synchronize(device)
    torch.npu.set_device(0)


@pytest.fixture(autouse=True)
def definitions():
    """What a test defines with advance_step.torch_npu.operator ends with it: the next test of this process
    may be any other's."""
    import torch

    from advance_step._npu import table

    before = dict(table._functions)
    yield
    for full, function in list(table._functions.items()):
        if before.get(full) is not function:
            table._register(torch, full, before.get(full) or table._missing(full))
    table._functions.clear()
    table._functions.update(before)


@pytest.fixture(autouse=True)
def handlers():
    """torch_npu sets handlers of signals when its compiler is imported, and a Ctrl-C raises nothing then."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
