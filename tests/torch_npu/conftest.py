# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of torch_npu: programs in processes of their own, and a clean device."""

import os
import pathlib
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent / "python")]
OURS = "advance_step "  # how a line of our log begins


class Program:
    """Runs Python programs on the emulated device, with a time limit."""

    def __init__(self, folder):
        self.folder = folder

    def run(self, *arguments, launcher=("-m", "advance_step.torch_npu"), status=0, **environment):
        """Returns the finished process. Names with a value of None are taken off the environment."""
        variables = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        for name in ("LD_LIBRARY_PATH", "ASCEND_HOME_PATH", "ASCEND_OPP_PATH", "ASCEND_TOOLKIT_HOME"):
            variables.pop(name, None)
        variables.update(environment)
        variables = {name: value for name, value in variables.items() if value is not None}
        done = subprocess.run([sys.executable, *launcher, *map(str, arguments)], cwd=self.folder,
                              env=variables, capture_output=True, text=True, timeout=120)
        assert done.returncode == status, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
        assert not any(line.startswith(OURS) for line in done.stderr.splitlines()), done.stderr
        return done

    def code(self, text, *arguments, **options):
        """Runs the text as a program of its own file, which child processes can import."""
        file = self.folder / "program.py"
        file.write_text(text, encoding="utf-8")
        return self.run(file, *arguments, **options)


@pytest.fixture
def program(tmp_path):
    return Program(tmp_path)


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
