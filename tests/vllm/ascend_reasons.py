# SPDX-License-Identifier: Apache-2.0
"""Why a test of vllm-ascend fails, by its text, and the list of expected failures."""

from __future__ import annotations

import pathlib
import re

TIME_LIMIT = "the time limit"
DIED = "the process died:"

# The first whose pattern is in the text.
_REASONS = (
    ("time limit", TIME_LIMIT),
    ("process died", DIED),
    ("operator missing", r"NotImplementedError: .*(?:npu::|_C_ascend|atb)|Could not run '(?:npu|_C_ascend|atb)"),
    ("hub", r"huggingface|HFValidation|LocalEntryNotFound|couldn't connect|Repo id must|modelscope"),
    ("Triton", r"[Tt]riton"),
    ("package", r"ModuleNotFoundError|fixture '\w+' not found"),
    ("source tree", r"FileNotFoundError"),
    ("mock's answer", r"Mock|Expected .* call"),
)


def reason(text: str) -> str:
    for name, pattern in _REASONS:
        if re.search(pattern, text):
            return name
    return "other"


def read(file: pathlib.Path) -> dict[str, str]:
    """Returns the reason of each test in the list, which has tests below the line of their reason."""
    expected: dict[str, str] = {}
    current = ""
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else []:
        if line.startswith("[") and line.endswith("]"):
            current = line[1:-1]
        elif line and not line.startswith("#"):
            expected[line] = current
    return expected


def write(file: pathlib.Path, failures: dict[str, str]) -> None:
    lines = ["# Tests of vllm-ascend that fail on the emulated device, below the reason. Written by",
             "# ascend_tests.sh --update."]
    for name in sorted(set(failures.values())):
        lines += ["", f"[{name}]", *sorted(test for test in failures if failures[test] == name)]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
