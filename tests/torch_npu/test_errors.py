# SPDX-License-Identifier: Apache-2.0
"""Failures as Python exceptions with the library's message, and what runs after them."""

import os
import threading

import pytest
import torch
import torch_npu
from decode import Decode


def refused(tensors, sizes, text):
    with pytest.raises(RuntimeError, match=text):
        torch_npu.npu_advance_step_flashattn(*tensors, *sizes)
        torch.npu.synchronize()


@pytest.mark.parametrize("spoil, text", (
    (lambda t: t[0].cpu()[:-1].npu(), r"inputTokens has shape \[11\]"),
    (lambda t: t[0].cpu().to(torch.int32).npu(), "inputTokens has dtype"),
    (lambda t: t[2], "overlap"),
))
def test_bad_arguments(spoil, text):
    decode = Decode.steady(1)
    refused([spoil(decode.tensors), *decode.tensors[1:]], decode.sizes, text)
    decode.launch()
    decode.check()


def test_a_bad_query_names_its_row():
    decode = Decode.steady(2)
    decode.tensors[3].copy_(torch.tensor([3, 3, 3, 3, -7] + [3] * 7))
    refused(decode.tensors, decode.sizes, "query 4: seqLens is -7; expected at least 0")
    decode.tensors[3].copy_(torch.tensor(decode.state["seq_lens"]))
    decode.launch()
    decode.check()  # nothing had been written


def test_a_hundred_failing_launches(capfd):
    threads = len(os.listdir("/proc/self/task"))
    decode = Decode.steady(3)
    decode.tensors[3].copy_(torch.tensor([3, -1] + [3] * 10))
    for _ in range(100):
        refused(decode.tensors, decode.sizes, "query 1")
    assert len(os.listdir("/proc/self/task")) <= threads + 1
    printed = capfd.readouterr().err
    assert "advance_step " not in printed and len(printed) < 20000
    decode.tensors[3].copy_(torch.tensor(decode.state["seq_lens"]))
    decode.launch()
    decode.check()


def test_an_operator_that_the_device_does_not_have(program):
    """The refusal ends torch_npu's queue, so the program has a process of its own."""
    text = """
import torch, torch_npu
tensor = torch.arange(4, dtype=torch.float32).npu()
for _ in range(2):
    try:
        print((tensor * 2).cpu())
    except RuntimeError as error:
        print(str(error).splitlines()[-1])
"""
    lines = program.code(text, ADVANCE_STEP_HOST_OPERATORS="0").stdout.splitlines()
    assert "operator Mul cannot run by its name" in lines[0]
    assert len(lines) == 2


def test_failures_of_other_threads_stay_there():
    seen, decode = [], Decode.steady(4)

    def fail():
        stream = torch.npu.Stream()
        with torch.npu.stream(stream):
            bad = Decode.steady(5)
            bad.tensors[3].copy_(torch.tensor([-1] * 12))
            torch_npu.npu_advance_step_flashattn(*bad.tensors, *bad.sizes)
            try:
                stream.synchronize()
            except RuntimeError as error:
                seen.append(str(error))

    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    assert "query 0: seqLens is -1" in seen[0]
    decode.launch()
    decode.check()


# torch_npu itself takes no graphs with TASK_QUEUE_ENABLE=2.
MODES = """
import os
import torch, torch_npu
from decode import Decode, SpeculativeDecode
decode = Decode.steady(1)
for _ in range(5):
    decode.launch()
decode.check()
speculative = SpeculativeDecode(block_size=16)
speculative.launch()
speculative.check()
if os.environ.get("TASK_QUEUE_ENABLE") != "2":
    decode.check_replays()
decode.tensors[3].copy_(torch.tensor([3, 3, -1] + [3] * 9))
try:
    torch_npu.npu_advance_step_flashattn(*decode.tensors, *decode.sizes)
    torch.npu.synchronize()
except RuntimeError as error:
    print("query 2: seqLens is -1" in str(error))
decode.tensors[3].copy_(torch.tensor(decode.state["seq_lens"]))
decode.launch()
decode.check()
print("right")
"""


@pytest.mark.parametrize("mode", (
    {"TASK_QUEUE_ENABLE": "0"}, {"TASK_QUEUE_ENABLE": "1"}, {"TASK_QUEUE_ENABLE": "2"},
    {"ASCEND_LAUNCH_BLOCKING": "1"}))
def test_launch_modes(program, mode):
    done = program.forked(MODES, **mode)
    assert done.stdout.split() == ["True", "right"]
