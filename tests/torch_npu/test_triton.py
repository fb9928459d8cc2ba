# SPDX-License-Identifier: Apache-2.0
"""Kernels of the published triton-ascend by its interpreter, in processes of their own."""

import os
import pathlib
import sys

import pytest
from conftest import FOLDER

TRITON = pathlib.Path(sys.prefix, "triton")  # where environment.sh puts it


@pytest.mark.skipif(not (TRITON / "triton").is_dir(), reason="no triton-ascend in the environment")
def test_kernels(program):
    done = program.run("-m", "pytest", "-q", "-W", "ignore", "-p", "no:cacheprovider",
                       FOLDER / "triton_kernels.py", PYTHONPATH=str(TRITON), TRITON_INTERPRET=None)
    assert " passed" in done.stdout and " skipped" not in done.stdout


@pytest.mark.skipif(not (TRITON / "triton").is_dir(), reason="no triton-ascend in the environment")
def test_without_the_interpreter_there_is_no_compiler(program):
    """A program that turns the interpreter off is told what is missing."""
    code = ("import torch, torch_npu, triton\n"
            "@triton.jit\ndef kernel(x):\n    pass\n"
            "try:\n    kernel[(1,)](torch.ones(4).npu())\n"
            "except RuntimeError as error:\n    print(error)\n")
    done = program.code(code, PYTHONPATH=str(TRITON), TRITON_INTERPRET="0",
                        TRITON_CACHE_DIR=os.fspath(program.folder))
    assert "no compiler for npu here; expected TRITON_INTERPRET=1" in done.stdout, done.stdout


FILL = """
import torch, torch_npu, triton, triton.language as tl

@triton.jit
def fill(x, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), tl.full((BLOCK,), 2.0, tl.float32))

x = torch.empty(256, device="npu")
fill[(1,)](x, BLOCK=256)
print((x + 1).sum().item())
"""


@pytest.mark.skipif(not (TRITON / "triton").is_dir(), reason="no triton-ascend in the environment")
def test_the_trace_and_the_sanitizer_know_of_launches(program):
    """What only a kernel has written is not unwritten, and the trace has the kernel by name."""
    trace = program.folder / "trace.json"
    done = program.code(FILL, PYTHONPATH=str(TRITON), ADVANCE_STEP_TRACE=str(trace),
                        ADVANCE_STEP_SANITIZE="all", ADVANCE_STEP_SANITIZE_ACTION="fail")
    assert done.stdout == "768.0\n"
    assert "triton::fill" in trace.read_text(encoding="utf-8")
