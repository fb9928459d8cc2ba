# SPDX-License-Identifier: Apache-2.0
"""The examples for torch_npu, as their users run them."""

import re

from conftest import FOLDER

EXAMPLES = FOLDER.parents[1] / "examples"


def test_decode_gives_the_tokens_of_cpu_and_finds_a_wrong_slot(program):
    out = program.run(EXAMPLES / "torch_npu_decode.py", ADVANCE_STEP_HOST_OPERATORS=None).stdout
    assert len(re.findall(r"(eager|graph): 600 tokens, 0 differ from cpu", out)) == 8, out
    found = re.search(r"row (\d+) got slot (\d+) at step (\d+); [1-9]\d* tokens differ.*\n"
                      r"  step (\d+): row (\d+) has slot (\d+), expected (\d+) \(position", out)
    assert found, out
    row, slot, step = found.group(1, 2, 3)
    assert (step, row, slot) == found.group(4, 5, 6) and slot != found.group(7)
    assert out.endswith("all tokens are those of cpu, and the wrong slot was found\n")
