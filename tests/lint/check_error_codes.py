#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/errors.md has every code that the library returns, with a cause and a remedy, and no other.

The codes are those whose names the sources use; their numbers are in the public headers.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAME = re.compile(r"\b(ACL_ERROR_\w+|ACLNN_ERR_\w+)\b")
DEFINITION = re.compile(r"\b(ACL_ERROR_\w+|ACLNN_ERR_\w+)\s*(?:=|\s)\s*(\d{6})\b")


def numbers():
    found = {}
    for header in (ROOT / "include").rglob("*.h"):
        found.update(DEFINITION.findall(header.read_text()))
    return found


def used():
    names = set()
    for folder in ("src", "op_host", "op_kernel", "include/advance_step/operator"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".h", ".hpp", ".cpp"):
                names |= set(NAME.findall(path.read_text()))
    return names


def documented():
    """Rows (code, name, complete)."""
    rows = []
    for line in (ROOT / "docs/errors.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and re.fullmatch(r"\d{6}", cells[0]):
            rows.append((cells[0], cells[1], len(cells) == 4 and all(cells)))
    return rows


def whole_name(code, cell):
    """The name as the headers have it, by the rules that the page states."""
    name, _, note = cell.partition(" ")
    if name.startswith("ACLNN_"):
        return name
    short = int(code) < 107000 or code[:5] in ("20000", "50000") or "without RT_" in note
    return ("ACL_ERROR_" if short else "ACL_ERROR_RT_") + name


def main():
    number_of = numbers()
    wanted = {}
    wrong = []
    for name in sorted(used()):
        if name in number_of:
            wanted[number_of[name]] = name
        else:
            wrong.append(f"{name} is used in the sources, and no header of include defines it; correct the name")
    rows = documented()
    for code, name, complete in rows:
        if not complete:
            wrong.append(f"docs/errors.md: {code} {name} lacks a cause or a remedy; add it to the row")
        if code not in wanted:
            wrong.append(f"docs/errors.md: {code} {name} is returned nowhere; remove the row")
        elif number_of.get(whole_name(code, name)) != code:
            wrong.append(f"docs/errors.md: {code} is {wanted[code]}, not {whole_name(code, name)}; correct the row")
        if sum(row[0] == code for row in rows) > 1:
            wrong.append(f"docs/errors.md: {code} has several rows; join them")
    for code in sorted(set(wanted) - {row[0] for row in rows}):
        wrong.append(f"docs/errors.md has no row for {code} {wanted[code]}, which the sources return; add one")
    print("\n".join(wrong) or f"{len(wanted)} codes, {len(rows)} rows")
    return 1 if wrong or len(wanted) < 40 else 0


if __name__ == "__main__":
    sys.exit(main())
