#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The catalogue of functions fits the public headers, and the pages and calls that are made of it.

Every function of a public header has a row in src/catalogue/functions that names the header. Every one is called
by the test of failing allocations, tests/faults. The pages are those that src/catalogue/make_pages.py makes.
"""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "src/catalogue"))

import make_lists  # noqa: E402
import make_pages  # noqa: E402
from catalogue import Catalogue  # noqa: E402


def main():
    catalogue = Catalogue(ROOT)
    problems = list(catalogue.problems()) + make_lists.plain_calls(catalogue)[1]
    for page, _ in make_pages.stale(catalogue):
        problems.append(f"{page.relative_to(ROOT)} {make_pages.STALE}")
    print("\n".join(problems) or f"{len(catalogue.functions)} rows fit {len(catalogue.declarations)} functions of "
          f"{len(catalogue.headers)} headers, and the pages")
    return 1 if problems or len(catalogue.declarations) < 300 else 0


if __name__ == "__main__":
    sys.exit(main())
