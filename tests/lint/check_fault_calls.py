#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every function of the public headers is in the tables of tests/faults, whose allocations all fail
once."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DECLARATION = re.compile(r"ADVSTEP_API\s+[\w\s*]*?(\w+)\s*\(")
ENTRY = re.compile(r'(?:\{\s*"|ADVSTEP_(?:PLAIN|MAKES|TAKES)\(\s*|,\s*")(\w+)')
# The test itself asks for the faults with these.
OF_THE_TEST = {"advstepFailAllocations", "advstepReadFaultCounts", "advstepClearFaults"}


def main():
    declared = set()
    for header in (ROOT / "include").rglob("*.h"):
        text = re.sub(r"^\s*#.*$", "", header.read_text(), flags=re.M)
        declared |= set(DECLARATION.findall(text))
    called = set()
    for table in (ROOT / "tests/faults").glob("*_calls.cpp"):
        called |= set(ENTRY.findall(table.read_text()))
    missing = declared - called - OF_THE_TEST
    for name in sorted(missing):
        print(f"in no table of tests/faults: {name}")
    if missing or len(declared) < 50:
        return 1
    print(f"{len(declared)} functions, {len(declared & called)} of them in the tables")
    return 0


if __name__ == "__main__":
    sys.exit(main())
