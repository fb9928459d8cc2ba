#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files of the library have at most 300 lines: one file, one duty."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("src", "op_host", "op_kernel")
MOST = 300


def main():
    lengths = {}
    for folder in FOLDERS:
        for file in (ROOT / folder).rglob("*"):
            if file.suffix in (".h", ".cpp", ".py") or file.name == "CMakeLists.txt":
                lengths[file.relative_to(ROOT).as_posix()] = file.read_bytes().count(b"\n")
    bad = [f"{name}: {count} lines, of {MOST}" for name, count in sorted(lengths.items())
           if count > MOST]
    longest = max(lengths, key=lengths.get)
    print("\n".join(bad) or f"{len(lengths)} files, the longest of {lengths[longest]}: {longest}")
    return 1 if bad or len(lengths) < 200 else 0


if __name__ == "__main__":
    sys.exit(main())
