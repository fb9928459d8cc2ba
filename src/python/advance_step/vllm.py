# SPDX-License-Identifier: Apache-2.0
"""The published vLLM with vllm-ascend on the emulated device.

    python -m advance_step.vllm serve MODEL arguments
    python -m advance_step.vllm program.py arguments
    python -m advance_step.vllm -m module arguments
    python -m advance_step.vllm -c code

The first form takes any command of vLLM. As a program's first import, before torch and vllm:

    import advance_step.vllm

It is advance_step.torch_npu with the settings of an engine, for this process and its children.
docs/vllm.md has more.
"""

from __future__ import annotations

import os
import sys

from . import _cann, torch_npu  # noqa: F401 ; whose import lets the process find the prefix
from ._vllm import settings

__all__: list[str] = []

_NAME = "advance_step.vllm"  # of this module, also where it is __main__
_COMMANDS = "vllm.entrypoints.cli.main"  # the module behind the program vllm


def _arguments(given: list[str]) -> list[str]:
    """Returns the arguments of the interpreter: a word that names no program is a command of vLLM."""
    if not given or given[0].startswith("-") or given[0].endswith(".py") or os.path.exists(given[0]):
        return given
    return ["-m", _COMMANDS, *given]


if __name__ == "__main__":
    try:
        settings.enable()
        _cann.become(_NAME, _arguments(sys.argv[1:]))
    except ImportError as error:
        sys.exit(f"python -m {_NAME}: {error}")
else:
    settings.enable()
