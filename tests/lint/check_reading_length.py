#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pages for users together have a text that a person can read.

    check_reading_length.py [-v]        -v: the words of each page

The text of a page is what stands outside of code and comments, tables included. Pages and tables that are made
by a program do not count, because nobody reads them from the first row to the last. Pages in Chinese are
translations of these.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMIT = 25000
GENERATED = {"error_causes.md", "supported_calls.md"}


def words(text):
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    # The tables of arguments are made of the headers, by docs/list_arguments.py.
    text = re.sub(r"<!-- arguments: [\w.]+ -->\n(?:\|[^\n]*\n)*", "", text)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    kept = []
    after_blank = True
    code = False
    for line in text.splitlines():
        # An indented line after a blank one begins code; in a list it would be a paragraph of it.
        if not line.strip():
            after_blank = True
            continue
        if line.startswith("    ") and not re.match(r"\s*[-*] ", line) and (after_blank or code):
            code = True
        else:
            code = False
            kept.append(line)
        after_blank = False
    # The target of a link is no word.
    text = re.sub(r"\]\([^)]*\)", "]", "\n".join(kept))
    return len(re.findall(r"\S*\w\S*", text))


def main():
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")),
             *sorted((ROOT / "docs/operators").glob("*.md"))]
    counts = {page.relative_to(ROOT).as_posix(): words(page.read_text(encoding="utf-8"))
              for page in pages
              if not page.name.endswith(".zh.md") and page.name not in GENERATED}
    total = sum(counts.values())
    if "-v" in sys.argv[1:] or total > LIMIT:
        for name, count in sorted(counts.items(), key=lambda item: -item[1]):
            print(f"{count:6} {name}")
    print(f"{total} words in {len(counts)} pages for users; at most {LIMIT}")
    if total > LIMIT:
        print("Say things once, and move internals to docs/internals.")
    return 1 if total > LIMIT or len(counts) < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
