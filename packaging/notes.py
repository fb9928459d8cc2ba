#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what CHANGELOG.md says of a version, as the notes of its release.

    notes.py [VERSION]     by default the newest one; "Unreleased" is one, too
"""
import pathlib
import re
import sys

CHANGELOG = pathlib.Path(__file__).resolve().parents[1] / "CHANGELOG.md"


def main():
    parts = re.split(r"^## (.+)\n", CHANGELOG.read_text(encoding="utf-8"), flags=re.M)[1:]
    notes = {title.split(",")[0]: text.strip() for title, text in zip(parts[::2], parts[1::2], strict=True)}
    version = sys.argv[1] if len(sys.argv) > 1 else next(v for v in notes if v != "Unreleased")
    if not notes.get(version):
        sys.exit(f"notes.py: {CHANGELOG.name} says nothing of {version}; expected one of {', '.join(notes)}")
    print(notes[version])


if __name__ == "__main__":
    main()
