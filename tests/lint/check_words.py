#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pages and public headers avoid forms that readers stumble over.

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


def main():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md", "include/*"],
                            cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    found = 0
    for name in listed:
        if name.startswith("docs/internals/decisions/") or not (ROOT / name).is_file():
            continue
        text = (ROOT / name).read_text(encoding="utf-8")
        # Code says what it says; its lines stay, so that the numbers of the others are right.
        text = re.sub(r"```.*?```", lambda block: "\n" * block[0].count("\n"), text, flags=re.S)
        for problem, form in FORMS:
            for match in form.finditer(text):
                word = match.group().strip()
                line = text.count("\n", 0, match.end() - len(match.group().lstrip())) + 1
                print(f"{name}:{line}: {problem}: {word}")
                found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
