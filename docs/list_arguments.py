#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of arguments in the operators' pages are made of the headers' @param lines.

    list_arguments.py --update    writes the tables anew
    list_arguments.py             fails if a table is another one

A table follows a line `<!-- arguments: aclnn_step.h -->` of a page in docs/operators.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
HEADERS = ROOT / "include/aclnnop"
PLACE = re.compile(r"(<!-- arguments: (\w+\.h) -->\n)((?:\|[^\n]*\n)*)")
OUTPUTS = ("workspaceSize", "executor")
DIRECTIONS = {"in": "in", "in,out": "in/out", "out": "out"}
PARAM = re.compile(r"@param\[([\w,]+)\]\s+(\w+)\s+(.*)")
TENSOR = re.compile(r"((?:bool|int32|int64)(?: or (?:bool|int32|int64))?)\s+(\[[^\]]*\])\s+(.*)")


def parameters(header):
    """(direction, name, text) of phase one, whose comment is the first with parameters."""
    found = []
    going_on = False
    for line in (HEADERS / header).read_text(encoding="utf-8").splitlines():
        if not line.startswith("///"):
            if found:
                break
            continue
        text = line[3:].strip()
        begin = PARAM.match(text)
        if begin:
            found.append([DIRECTIONS[begin[1]], begin[2], begin[3]])
        elif going_on and text and not text.startswith("@"):
            found[-1][2] += " " + text
        going_on = bool(begin) or (going_on and bool(text) and not text.startswith("@"))
    return [parameter for parameter in found if parameter[1] not in OUTPUTS]


def table(header):
    rows = ["| argument | shape | dtype | direction | meaning |", "| --- | --- | --- | --- | --- |"]
    for direction, name, text in parameters(header):
        tensor = TENSOR.match(text)
        dtype, shape, meaning = tensor.groups() if tensor else ("int64", "attribute", text)
        rows.append(f"| {name} | {shape} | {dtype.upper().replace(' OR ', ' or ')} | {direction} | {meaning} |")
    return "\n".join(rows) + "\n"


def main():
    bad = []
    count = 0
    for page in sorted((ROOT / "docs/operators").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        made = PLACE.sub(lambda match: match[1] + table(match[2]), text)
        count += len(PLACE.findall(text))
        if made != text and sys.argv[1:] == ["--update"]:
            page.write_text(made, encoding="utf-8")
        elif made != text:
            bad.append(f"{page.name}: a table is not what the header says: docs/list_arguments.py --update writes it")
    print("\n".join(bad) or f"{count} tables are those of the headers")
    return 1 if bad or count < 5 else 0


if __name__ == "__main__":
    sys.exit(main())
