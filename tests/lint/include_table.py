#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of includes in docs/internals/architecture.md is made of include_rules.json.

    include_table.py --update    writes the table anew
    include_table.py             fails if the page has another one

The table stands between the lines `<!-- include rules -->` and `<!-- end -->`.
"""
import json
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import check_includes

ROOT = check_includes.ROOT
PAGE = ROOT / "docs/internals/architecture.md"
PLACE = re.compile(r"(<!-- include rules -->\n).*?(<!-- end -->)", re.S)


def plain(pattern):
    """A pattern as a person writes it: (?P<op>[a-z_]+) and {op} are OP, (?P<x>a|b) is {a,b}."""
    def group(match):
        name, body = match[1], match[2]
        return "{" + body.replace("|", ",") + "}" if "|" in body or re.fullmatch(r"[\w.]+", body) else name.upper()
    pattern = re.sub(r"\(\?P<(\w+)>([^)]*)\)", group, pattern)
    return re.sub(r"\{(op|same)\}", lambda match: match[1].upper(), pattern)


def table(rules):
    rows = ["| files | may include, besides the standard library |", "| --- | --- |"]
    for rule in rules:
        files = plain(rule["files"])
        own = [p for p in rule["may"] if plain(p) == files]
        may = ["itself"] * bool(own)
        may += ["itself, lower floors" if p == "below" else f"`{plain(p)}`" for p in rule["may"] if p not in own]
        rows.append(f"| `{files}` | {', '.join(may) or 'nothing'} |")
    return "\n".join(rows) + "\n"


def main():
    text = PAGE.read_text(encoding="utf-8")
    rules = json.loads(check_includes.RULES.read_text())["rules"]
    made, count = PLACE.subn(lambda match: match[1] + table(rules) + match[2], text)
    if sys.argv[1:] == ["--update"]:
        PAGE.write_text(made, encoding="utf-8")
    elif made != text or count != 1:
        print(f"{PAGE.relative_to(ROOT)} does not show include_rules.json; run tests/lint/include_table.py --update")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
