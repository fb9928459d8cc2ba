#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/error_causes.md lists the codes of each call, as the public headers describe them.

    list_error_causes.py --update    writes the page anew
    list_error_causes.py             fails if the page is another one
"""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/error_causes.md"
FOLDERS = ("acl", "aclnn", "aclnnop", "advance_step")
DOCUMENTED = re.compile(r"((?:^///[^\n]*\n)+)ADVSTEP_(?:PREFIX_)?API[^;{(]*?\b(\w+)\s*\(", re.M)
DEFINITION = re.compile(r"\b(ACL_ERROR_\w+|ACLNN_ERR_\w+)\s*(?:=|\s)\s*(\d{6})\b")
HEAD = """# The codes of each call

The public headers describe the codes of each call; this table is made of them, by `list_error_causes.py` in this
folder. [Errors](errors.md) says what each code means, which calls have it beside those listed, and what to do.
"""


def headers():
    for folder in FOLDERS:
        yield from sorted((ROOT / "include" / folder).rglob("*.h"))


def causes_of(comment):
    """(name of the code, cause) of each @retval line with the lines that continue it."""
    found = []
    going_on = False
    for line in comment.splitlines():
        text = line[3:].strip()
        begin = re.match(r"@retval\s+((?:ACL|ACLNN)_ERR\w+)\s+(.*)", text)
        if begin:
            found.append([begin[1], begin[2]])
        elif going_on and text and not text.startswith("@"):
            found[-1][1] += " " + text
        going_on = bool(begin) or (going_on and bool(text) and not text.startswith("@"))
    return found


def make_page():
    numbers = {}
    rows = collections.defaultdict(list)
    for header in headers():
        text = header.read_text(encoding="utf-8")
        numbers.update(DEFINITION.findall(text))
        for comment, call in DOCUMENTED.findall(text):
            for name, cause in causes_of(comment):
                rows[name].append((call, cause.replace("|", "\\|")))
    page = HEAD
    for name in sorted(rows, key=lambda name: numbers[name]):
        page += f"\n## {numbers[name]} {name}\n\n| call | cause |\n| --- | --- |\n"
        page += "".join(f"| {call} | {cause} |\n" for call, cause in rows[name])
    return page, sum(map(len, rows.values()))


def main():
    page, count = make_page()
    if sys.argv[1:] == ["--update"]:
        PAGE.write_text(page, encoding="utf-8")
        return 0
    if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page:
        print("docs/error_causes.md is not what the headers say: docs/list_error_causes.py --update writes it")
        return 1
    print(f"{count} causes are those of the headers")
    return 0 if count > 300 else 1


if __name__ == "__main__":
    sys.exit(main())
