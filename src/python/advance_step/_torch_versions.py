# SPDX-License-Identifier: Apache-2.0
"""The versions of torch: those that the extension can be built for, and those that the tests run.

setup.py loads this file, and CMake runs it, before the package can be imported:

    python _torch_versions.py

prints the version of the torch that the interpreter has, and fails with the reason if the extension
cannot be built for it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys

TRIED = ("2.13.0",)  # of torch and torch_npu, that the tests run
FIRST, LAST = (2, 9), (2, 14)  # whose C++ interface the extension is written for
RANGE = f"{FIRST[0]}.{FIRST[1]} to {LAST[0]}.{LAST[1]}"
LOST = ('operators of torch run in their Python form, each at once, without graphs, "hccl" and '
        "ADVANCE_STEP_HOST_OPERATORS=queue or aclnn")

_ASK = "import torch; print(torch.__version__); print(torch.__path__[0])"


def plain(version: str) -> str:
    """2.14.1+cpu -> 2.14.1"""
    return version.split("+")[0]


def can_build(version: str) -> bool:
    """Returns whether the extension can be built for this torch."""
    numbers = re.match(r"(\d+)\.(\d+)", version)
    return numbers is not None and FIRST <= (int(numbers[1]), int(numbers[2])) <= LAST


def file_name(version: str) -> str:
    """Returns the name of the extension for this torch."""
    return f"_torch_kernels-{plain(version)}.so"


def found() -> tuple[str, str]:
    """Returns the version and the folder of the interpreter's torch: "" and "" if there is none."""
    done = subprocess.run([sys.executable, "-c", _ASK], capture_output=True, text=True, check=False,
                          env={**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"})
    lines = done.stdout.splitlines()
    return (plain(lines[0]), lines[1]) if done.returncode == 0 and len(lines) == 2 else ("", "")


def unfit(version: str) -> str:
    """Returns why the extension cannot be built for the version that `found` has returned, or ""."""
    if can_build(version):
        return ""
    return f"the extension is for torch {RANGE}, and that of {sys.executable} is: {version or 'none'}"


if __name__ == "__main__":
    _version, _ = found()
    if unfit(_version):
        sys.exit(unfit(_version))
    print(_version)
