#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The library exports every function that a public header declares, and nothing else.

Functions marked ADVSTEP_PREFIX_API are those of the prefix's libraries, and the library has none of
them: check_cann_names.py. It also has what only those libraries call, in PRIVATE.

check_exports.py libadvance_step.so
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DECLARATION = re.compile(r"ADVSTEP_API\s+[\w\s*]*?(\w+)\s*\(")


PRIVATE = ROOT / "src" / "advstep" / "client_failure.h"


def main():
    declared = set()
    for header in (*(ROOT / "include").rglob("*.h"), PRIVATE):
        text = re.sub(r"^\s*#.*$", "", header.read_text(), flags=re.M)
        declared |= set(DECLARATION.findall(text))
    listing = subprocess.run(["nm", "-D", "--defined-only", sys.argv[1]], check=True,
                             capture_output=True, text=True).stdout
    exported = set()
    for line in listing.splitlines():
        kind, name = line.split()[-2:]
        if kind != "A":  # the version node itself
            exported.add(name.split("@")[0])
    for name in sorted(declared - exported):
        print(f"declared but not exported: {name}")
    for name in sorted(exported - declared):
        print(f"exported but in no header: {name}")
    if declared != exported or len(declared) < 50:
        return 1
    print(f"{len(declared)} functions declared and exported")
    return 0


if __name__ == "__main__":
    sys.exit(main())
