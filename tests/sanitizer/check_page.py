#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The texts of findings in docs/sanitizer.md are those that the programs of the corpus print.

    check_page.py sanitizer_corpus [--update]

A comment in front of a text block names the program, whose first finding is the text:

    <!-- finding: FreesBehindAFill -->

Addresses, numbers of threads and times differ from run to run, so both texts have others in their
place. Frames depend on the compiler: the page has them, and the comparison leaves them out. Of
waits that never end only the first line is compared, since any thread may run the work.
"""

import os
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/sanitizer.md"
BLOCK = re.compile(r"<!-- finding: (\w+) -->\n```text\n(.*?)```\n", re.S)
FRAME = re.compile(r"^ {6}\S+\+0x[0-9a-f.]+( \((.*)\))?$")
ENDLESS = re.compile(r"sync: (deadlock|lock_of_waiting_thread|hang): ")
HARNESS = re.compile(r"corpus::RunProgram|corpus::ShowProgram|^main$|^_start$|^__libc")


def numbered(text, pattern, name):
    """The text with the matches of a pattern replaced by names in the order of their coming."""
    seen = {}
    return re.sub(pattern, lambda m: seen.setdefault(m.group(), name(len(seen) + 1)), text)


def first_finding(errors):
    lines = errors.splitlines()
    begin = next((i for i, x in enumerate(lines) if re.match(r"advance_step sanitizer: \w+: ", x)), None)
    if begin is None:
        return None
    end = begin + 1
    while end < len(lines) and lines[end].startswith("  "):
        end += 1
    return lines[begin:end]


def readable(lines):
    """The lines with stable numbers, and without the frames of the test's own main()."""
    shown = []
    for line in lines:
        frame = FRAME.match(line)
        if frame is None:
            shown.append(line)
        elif frame.group(2) is not None and not HARNESS.search(frame.group(2)):
            shown.append(f"      ./program+0x.. ({frame.group(2).replace('corpus::', '')})")
    text = "\n".join(shown) + "\n"
    text = re.sub(r"\d+\.\d s", "1.0 s", text)
    text = numbered(text, r"(?<=thread )\d{2,}", lambda n: str(4710 + n))
    text = numbered(text, r"(?<=process )\d{2,}", lambda n: str(4710 + n))
    return numbered(text, r"0x[0-9a-f]{5,}", lambda n: f"0x{n}0000")


def compared(text):
    lines = [x for x in text.splitlines() if not x.startswith("      ")]
    return lines[:1] if lines and ENDLESS.search(lines[0]) else lines


def main():
    program, update = sys.argv[1], "--update" in sys.argv[2:]
    page = PAGE.read_text(encoding="utf-8")
    bad = []

    def renew(match):
        name, shown = match.groups()
        run = subprocess.run([program, "--show", name], capture_output=True, text=True, timeout=120, check=False,
                             env={**os.environ, "ADVANCE_STEP_SOURCE_LINES": "off"})
        lines = first_finding(run.stderr)
        if lines is None:
            bad.append(f"{name} prints no finding: {run.stderr}")
            return match.group()
        text = readable(lines)
        if not update and compared(text) != compared(shown):
            bad.append(f"{name} prints another text; run check_page.py --update:\n{text}")
        return f"<!-- finding: {name} -->\n```text\n{text}```\n"

    renewed = BLOCK.sub(renew, page)
    count = len(BLOCK.findall(page))
    if update and not bad:
        PAGE.write_text(renewed, encoding="utf-8")
    print("\n".join(bad) or f"{count} findings are as printed")
    return 1 if bad or count < 15 else 0


if __name__ == "__main__":
    sys.exit(main())
