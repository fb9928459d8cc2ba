#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pages, public headers and comments of the sources avoid forms that readers stumble over.

The subject of a sentence comes first, and a verb follows it. Decisions are records of their time
and are left as they are.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
START = r"(?:^|[.:!]\s+|^[-|*]\s+)"
FORMS = (
    ("a sentence begins with its relative clause",
     re.compile(START + r"(?:Who|Whoever|What|Whatever)\b(?![^.?\n]*\?)", re.M)),
    ("something stands before the subject", re.compile(r"(?:^|[.]\s+)(?:Of|In effect)\b", re.M)),
    ("`except` is meant", re.compile(r"\bbut for\b")),
    ("`reports` or `says` is meant", re.compile(r"\btells\b")),
    ("元数据 or 块表与槽位管理 is meant", re.compile("簿记")),
)


COMMENT = re.compile(r"^\s*///?<? ?(.*)$")


def comments_of(text):
    """The comments of C and C++ code. The lines of a sentence are joined on its first line."""
    lines = []
    first = None  # where the sentence begins that the next line may continue
    for line in text.splitlines():
        comment = COMMENT.match(line)
        words = comment[1].strip() if comment else ""
        lines.append("")
        if not words:
            first = None
            continue
        if first is None:
            first = len(lines) - 1
        lines[first] += (" " if lines[first] else "") + words
        if words.endswith((".", ":", "?")):
            first = None
    return "\n".join(lines)


def main():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md", "include/*", "src/*",
                             "op_host/*", "op_kernel/*"],
                            cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    found = 0
    for name in listed:
        if name.startswith("docs/internals/decisions/") or not (ROOT / name).is_file():
            continue
        text = (ROOT / name).read_text(encoding="utf-8")
        if name.endswith((".h", ".hpp", ".c", ".cpp")):
            text = comments_of(text)
        elif not name.endswith(".md"):
            continue
        # Code says what it says; its lines stay, so that the numbers of the others are right.
        text = re.sub(r"```.*?```", lambda block: "\n" * block[0].count("\n"), text, flags=re.S)
        for problem, form in FORMS:
            for match in form.finditer(text):
                word = match.group().split()[-1]
                line = text.count("\n", 0, match.end() - len(match.group().lstrip())) + 1
                print(f"{name}:{line}: {problem}: {word}")
                found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
