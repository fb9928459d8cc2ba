#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The version is that of project() in CMakeLists.txt wherever else it must be written down."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLACES = {"src/python/advance_step/__init__.py": r'^__version__ = "([\d.]+)"$',
          "CHANGELOG.md": r"^## ([\d.]+)",
          ".github/ISSUE_TEMPLATE/bug.yml": r"placeholder: ([\d.]+),",
          "README.md": r"^Version ([\d.]+)",
          "README.zh.md": r"^版本 ([\d.]+)"}


def find(name, pattern):
    found = re.search(pattern, (ROOT / name).read_text(encoding="utf-8"), re.M)
    return found[1] if found else "nothing"


def main():
    version = find("CMakeLists.txt", r"^project\(advance_step VERSION ([\d.]+)")
    bad = [f"{name} has {find(name, pattern)}, CMakeLists.txt {version}"
           for name, pattern in PLACES.items() if find(name, pattern) != version]
    print("\n".join(bad) or f"version {version} everywhere")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
