#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The library exports every function that the catalogue says it has, and nothing else.

lint_catalogue compares the catalogue with the public headers, check_cann_names.py with the prefix's libraries.

check_exports.py libadvance_step.so
"""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLES = "src/catalogue/functions"
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "src/catalogue"))

from catalogue import LIBRARY, Catalogue  # noqa: E402


def read_exports(library):
    listing = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True,
                             text=True).stdout
    lines = [line.split() for line in listing.splitlines()]
    return {words[-1].split("@")[0] for words in lines if words[-2] != "A"}  # A: the version node itself


def main():
    catalogue = Catalogue(ROOT)
    wanted = catalogue.exported(LIBRARY)
    exported = read_exports(sys.argv[1])
    problems = [f"{name} has a row in {TABLES}, and the library has no such function; define it in src or op_host, "
                "or correct the row" for name in sorted(wanted - exported)]
    problems += [f"{name} is exported and has no row in {TABLES}; add one" for name in sorted(exported - wanted)]
    for function in catalogue.functions:
        if not function.there and any(name == function.name or function.name.endswith("*") and
                                      name.startswith(function.name[:-1]) for name in exported):
            problems.append(f"{function.table}: {function.name} is said to be absent, and the library exports it; "
                            "correct the row")
    print("\n".join(problems) or f"{len(exported)} functions are exported as the catalogue says")
    return 1 if problems or len(wanted) < 300 else 0


if __name__ == "__main__":
    sys.exit(main())
