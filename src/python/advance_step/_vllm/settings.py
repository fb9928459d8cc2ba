# SPDX-License-Identifier: Apache-2.0
"""The settings of an engine, as far as the user has not set them."""

from __future__ import annotations

import os
import pathlib

from . import block_checks

_MIB = 1 << 20
_SHARE = 8  # an engine writes the whole KV cache of each of its devices, which may be all
_LEAST = 256  # MiB
# torch.compile's caches on disk expect code that Inductor has made, which npu graphs have not.
_CACHES = {"TORCHINDUCTOR_AUTOGRAD_CACHE": "0", "VLLM_DISABLE_COMPILE_CACHE": "1"}
# As a server of NPUs has. How many an engine uses is not known before its program runs, and a device that is
# not used costs nothing.
_DEVICES = {"ADVANCE_STEP_DEVICES": str(_SHARE)}
# Collectives on libhccl can be captured, as vLLM's graphs on several devices want.
_RANKS = {"ADVANCE_STEP_HCCL": "c"}


def _number(file: pathlib.Path) -> int | None:
    try:
        return int(file.read_text(encoding="ascii"))
    except (OSError, ValueError):  # no such file, or "max"
        return None


def _of_group(root: pathlib.Path) -> int | None:
    """Returns the bytes that the control group of the process leaves, if it has a limit."""
    try:
        lines = (root / "proc/self/cgroup").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    for line in lines:
        if line.startswith("0::"):
            folder = root / "sys/fs/cgroup" / line[3:].lstrip("/")
            limit, used = _number(folder / "memory.max"), _number(folder / "memory.current")
            if limit is not None and used is not None:
                return max(limit - used, 0)
    return None


def free_memory(root: pathlib.Path = pathlib.Path("/")) -> int:
    """Returns the bytes that the host, or the control group, has available."""
    available = 0
    for line in (root / "proc/meminfo").read_text(encoding="ascii").splitlines():
        if line.startswith("MemAvailable:"):
            available = int(line.split()[1]) * 1024
    group = _of_group(root)
    return available if group is None else min(available, group)


def memory(free: int) -> str:
    """Returns the memory of each device, such as "2560M"."""
    return f"{max(free // _SHARE // _MIB, _LEAST)}M"


def variables(environment: dict[str, str]) -> tuple[dict[str, str], str]:
    """Returns the variables that are to be set, and a line about the memory, or an empty one."""
    made = {name: value for name, value in {**_CACHES, **_DEVICES, **_RANKS}.items() if name not in environment}
    if environment.get("ADVANCE_STEP_MEMORY"):
        return made, ""
    made["ADVANCE_STEP_MEMORY"] = memory(free_memory())
    return made, (f"advance_step.vllm: each device has {made['ADVANCE_STEP_MEMORY']} of memory, an eighth of what "
                  "the host has free; ADVANCE_STEP_MEMORY sets another size")


def enable() -> None:
    """Sets the variables of this process and its children, which inherit them and say nothing. ImportError: a
    variable of the user names no check."""
    block_checks.chosen()
    made, line = variables(dict(os.environ))
    os.environ.update(made)
    if line:
        os.write(2, f"{line}\n".encode())
