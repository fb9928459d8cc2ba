#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The texts of docs/troubleshooting.md are those of the sources.

The first column of a table has a text in backticks, with ... for names and numbers. What lies between these stands in
some source file, in which a message may be split over lines and have {} or other marks for its values. A text in italics is
that of another program.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/troubleshooting.md"
SOURCES = ("src/**/*.cpp", "src/**/*.h", "src/**/*.py", "src/**/CMakeLists.txt", "op_host/**/*.cpp", "op_kernel/**/*.h",
           "cmake/*.cmake")
# What is in backticks and is no message of this project.
COMMANDS = ("import torch",)


def joined(text):
    """The text without the seams of strings that are split over lines, and with " for \\"."""
    text = re.sub(r'"\s*\n\s*f?"', "", text)
    return text.replace('\\"', '"')


def main():
    sources = [joined(path.read_text(encoding="utf-8")) for pattern in SOURCES for path in sorted(ROOT.glob(pattern))]
    bad = []
    count = 0
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        first = line.split(" | ")[0] if line.startswith("| ") else ""
        for text in re.findall(r"`([^`]+)`", first):
            if text in COMMANDS:
                continue
            count += 1
            pieces = [piece for piece in text.split("...") if len(piece.strip()) > 3]
            if not pieces or not any(all(piece.strip() in source for piece in pieces) for source in sources):
                bad.append(f"docs/troubleshooting.md: no source has the text: {text}")
    print("\n".join(bad) or f"{count} texts are in the sources")
    return 1 if bad or count < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
