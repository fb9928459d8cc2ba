# SPDX-License-Identifier: Apache-2.0
"""Compiles the extension for one torch.

setup.py loads this file by itself, before the package can be imported; a program's first run with another
torch comes from `_extension`.
"""

from __future__ import annotations

import hashlib
import os
import pathlib
import platform
import shlex
import shutil
import subprocess
from typing import IO

FLAGS = ("-std=c++20", "-O2", "-fPIC", "-shared", "-fvisibility=hidden",
         "-fvisibility-inlines-hidden", "-w")


class Failed(Exception):
    """The compiler cannot be run, or has refused the sources."""


def command() -> list[str]:
    """Returns the C++ compiler with its first arguments: the variable CXX, or else c++."""
    return shlex.split(os.environ.get("CXX", "")) or ["c++"]


def program() -> str | None:
    """Returns the path of the compiler, or None if there is none."""
    return shutil.which(command()[0])


def key(version: str, torch: pathlib.Path, kernels: pathlib.Path, include: pathlib.Path) -> str:
    """Returns what differs where the extension must be compiled anew: for the torch in the folder `torch`,
    from the sources in `kernels` and the library's headers in `include`."""
    digest = hashlib.sha256(f"{version} {platform.machine()} {FLAGS}".encode())
    for text in (torch / "version.py", include / "advance_step" / "host_operator.h",
                 *sorted(kernels.rglob("*.h")), *sorted(kernels.rglob("*.cpp"))):
        if text.is_file():
            digest.update(text.read_bytes())
    return digest.hexdigest()[:16]


def build(torch: pathlib.Path, kernels: pathlib.Path, include: pathlib.Path, output: pathlib.Path,
          words: IO[str] | None = None) -> None:
    """Compiles the extension into the file `output`. What the compiler says goes to `words`, or else to the
    standard error. Raises Failed."""
    # As one source, because torch's headers take most of the time.
    whole = "".join(f'#include "{source}"\n' for source in sorted(kernels.rglob("*.cpp")))
    try:
        subprocess.run([*command(), *FLAGS, f"-I{kernels.parent}", f"-I{torch}/include",
                        f"-I{torch}/include/torch/csrc/api/include", f"-I{include}", "-x", "c++", "-",
                        "-o", str(output), f"-L{torch}/lib", "-ltorch_cpu", "-lc10"],
                       input=whole, text=True, check=True, stdout=words, stderr=words)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Failed(str(error)) from None
