# SPDX-License-Identifier: Apache-2.0
"""Why a test of vllm-ascend fails, by its exceptions, and the list of expected failures."""

from __future__ import annotations

import pathlib
import re

TIME_LIMIT = "the time limit"
DIED = "the process died:"

# The first whose pattern is in a line of the exceptions.
_REASONS = (
    ("time limit", rf"^{TIME_LIMIT}$"),
    ("process died", rf"^{DIED}"),
    ("operator missing", r"NotImplementedError: (?:npu_|_npu_|npu::|_C_ascend::|atb::).* is not there"),
    ("argument not supported", r"NotImplementedError: \w+: .* this argument is not supported"),
    ("hub", r"LocalEntryNotFoundError|HFValidationError|OfflineModeIsEnabled|couldn't connect to"),
    ("Triton", r"NotImplementedError: .*Triton|Error: .*\btriton\b|is not a triton|has no attribute 'tl'"),
    ("package", r"ModuleNotFoundError|fixture '\w+' not found"),
    ("file of the source tree", r"FileNotFoundError"),
    ("answer of a mock", r"AssertionError: (?:Expected|expected call|Calls not found)|\bMock\b|MagicMock"),
)


def exceptions(text: str) -> list[str]:
    """Returns the lines that pytest begins with an E, without it, or all where there are none."""
    lines = [line[1:].strip() for line in text.splitlines() if re.match(r"E\s", line)]
    return lines or text.splitlines()


def reason(text: str) -> str:
    lines = exceptions(text)
    for name, pattern in _REASONS:
        if any(re.search(pattern, line) for line in lines):
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
