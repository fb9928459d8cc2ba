#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A page and its Chinese twin have the same headings and tables.

check_pairs.py [FOLDER]

X.zh.md has the headings of X.md, of the same levels in the same order, and under each of them as many tables, with as
many rows and columns, and as many code blocks. Pages that name each other's languages link each other.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^(```|~~~)")
HEADING = re.compile(r"^(#+) (.*)")


def columns(line):
    return len(re.split(r"(?<!\\)\|", line.strip().strip("|")))


def outline(text):
    """[(level, heading, [what stands under it])]: "code", or a table as (rows, columns)."""
    sections = [(0, "the beginning", [])]
    inside = False
    table = False
    for line in text.splitlines():
        if FENCE.match(line):
            inside = not inside
            if inside:
                sections[-1][2].append("code")
            table = False
            continue
        heading = HEADING.match(line)
        if inside:
            continue
        if heading:
            sections.append((len(heading[1]), heading[2], []))
        elif line.startswith("|"):
            under = sections[-1][2]
            if table:
                under[-1] = (under[-1][0] + 1, under[-1][1])
            else:
                under.append((1, columns(line)))
        table = line.startswith("|")
    return sections


def words_of(thing):
    return "a code block" if thing == "code" else f"a table of {thing[0]} lines and {thing[1]} columns"


def differences(page, twin):
    """What differs first, or None."""
    one, other = outline(page.read_text(encoding="utf-8")), outline(twin.read_text(encoding="utf-8"))
    for (level, heading, under), (level_twin, heading_twin, under_twin) in zip(one, other):
        where = f"{twin.name}, \"{heading_twin}\", the twin of \"{heading}\" of {page.name}"
        if level != level_twin:
            return f"{where}: the level is {level_twin}; expected {level}"
        for index, thing in enumerate(under):
            if index >= len(under_twin) or thing != under_twin[index]:
                has = words_of(under_twin[index]) if index < len(under_twin) else "nothing"
                return f"{where}: it has {has}; expected {words_of(thing)}"
        if len(under_twin) > len(under):
            return f"{where}: it has {words_of(under_twin[len(under)])}; expected nothing"
    if len(one) != len(other):
        return f"{twin.name} has {len(other) - 1} headings; expected {len(one) - 1}, as {page.name} has"
    return None


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    bad = []
    twins = sorted([*root.glob("*.zh.md"), *root.glob("docs/*.zh.md")])
    for twin in twins:
        page = twin.with_name(twin.name.replace(".zh.md", ".md"))
        if not page.is_file():
            bad.append(f"{twin.name} has no page {page.name}")
            continue
        found = differences(page, twin)
        bad += [found] if found else []
        for file, target in ((page, twin), (twin, page)):
            if f"]({target.name})" not in file.read_text(encoding="utf-8"):
                bad.append(f"{file.name} does not link {target.name}")
    print("\n".join(bad) or f"{len(twins)} pages have the headings and tables of their twins")
    return 1 if bad or not twins else 0


if __name__ == "__main__":
    sys.exit(main())
